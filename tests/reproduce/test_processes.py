"""Steps in processes of their own: the same results, news and endings as in threads."""

import os
import stat
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from processes import QUICK_TO_COMPILE
from reproduce.cases import PLAIN, TINY, assert_same_as_in_threads

from algotransfer.cli import main
from algotransfer.locks import InUse
from algotransfer.reproduce import on_processes
from algotransfer.reproduce.executors.processes import (
    CONTROL,
    SERVICE,
    ProcessExecutor,
    kernels_at_once,
)
from algotransfer.reproduce.runner import run_steps
from algotransfer.reproduce.steps import UNWATCHED, DataStep, Paused


@dataclass(frozen=True)
class Told(DataStep):
    """Does what its word says, in whichever process it is."""

    uses_device = True
    word: str = ""

    @property
    def name(self):
        return self.word

    def run(self, folder, device=None, watch=UNWATCHED):
        watch.tell(1, f"in {os.getpid()}")
        if self.word == "wait":
            while not watch.pause():
                time.sleep(0.01)
            raise Paused({"waiting": 0.5})
        if self.word == "die":
            os._exit(7)
        if self.word == "taken":
            raise InUse("another command is on it")
        if self.word == "broken":
            raise ValueError("the pen is broken")
        return {"writing": 1.0}


class Notes:
    """Keeps what it is told."""

    def __init__(self):
        self.words = []

    def start(self, step):
        """Nothing."""

    def tell(self, step, done, words):
        self.words.append(words)

    def finish(self, result):
        """Nothing."""


def test_every_ending_of_a_step_comes_back(tmp_path):
    words = ("write", "broken", "taken", "die", "again")
    notes = Notes()
    with ProcessExecutor() as crew:
        call = {"jobs": 1, "view": notes, "executor": crew.run}
        results = run_steps([Told(TINY, word) for word in words], tmp_path, **call)
        results += run_steps([Told(TINY, "wait")], tmp_path, seconds=0.5, **call)
    found = {result.step.name: result for result in results}
    assert {name: result.state for name, result in found.items()} == {
        "write": "done",
        "broken": "failed",
        "taken": "waiting",
        "die": "failed",
        "again": "done",
        "wait": "paused",
    }
    assert found["write"].seconds == {"writing": 1.0}
    assert found["wait"].seconds == {"waiting": 0.5}
    assert found["broken"].reason == "ValueError: the pen is broken"
    assert "the process that ran it died (exit status 7)" in found["die"].reason
    places = [words for words in notes.words if words.startswith("in ")]
    assert f"in {os.getpid()}" not in places
    # One process for the steps before the death of it, another one for those after.
    assert len(set(places[:4])) == len(set(places[4:])) == 1
    assert len(set(places)) == 2


def test_weights_are_those_of_a_run_in_threads(tmp_path, monkeypatch):
    monkeypatch.setenv("XLA_FLAGS", QUICK_TO_COMPILE)
    with ProcessExecutor() as crew:
        results = run_steps(PLAIN, tmp_path / "away", jobs=2, executor=crew.run)
    assert {result.state for result in results} == {"done"}
    assert_same_as_in_threads(tmp_path / "away", tmp_path)


def test_the_command_runs_steps_in_processes(tmp_path, capsys, monkeypatch):
    steps = [Told(TINY, "write"), Told(TINY, "again")]
    monkeypatch.setattr("algotransfer.reproduce.plan.plan", lambda *choice: steps)
    words = ["reproduce", "--device", "cpu", "--folder", str(tmp_path), "--executor", "processes"]
    assert main([*words, "--jobs", "2"]) == 0
    assert "algotransfer report --folder" in capsys.readouterr().out


@pytest.mark.parametrize("works", [True, False])
def test_the_service_is_started_for_us_alone_and_ended(works, tmp_path, monkeypatch):
    log, control = tmp_path / "log", tmp_path / CONTROL
    control.write_text(
        f'#!/bin/sh\necho "$1" "${SERVICE[0]}" >> {log}\n[ -n "$1" ] || cat >> {log}\n'
    )
    if not works:
        control.write_text("#!/bin/sh\nexit 1\n")
    control.chmod(control.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.delenv(SERVICE[0], raising=False)
    with kernels_at_once():
        place = os.environ.get(SERVICE[0])
        assert (place is not None) == works
    assert SERVICE[0] not in os.environ
    if works:
        assert log.read_text() == f"-d {place}\n {place}\nquit\n"
    else:
        assert not log.exists()


def test_a_service_of_the_users_own_is_left_alone(monkeypatch):
    monkeypatch.setenv(SERVICE[0], "theirs")
    with kernels_at_once():
        assert os.environ[SERVICE[0]] == "theirs"
    assert os.environ[SERVICE[0]] == "theirs"


class TakenByAnother(list):
    """Looks as if a process were idle, which another thread takes at that moment."""

    def __bool__(self):
        return True


def test_two_threads_do_not_take_one_idle_process(monkeypatch):
    def start():
        raise OSError("a process of its own")

    monkeypatch.setattr(on_processes, "_start", start)
    crew = ProcessExecutor()
    crew.idle = TakenByAnother()
    with pytest.raises(OSError, match="a process of its own"):
        crew.run(Told(TINY, "write"), Path(), None, UNWATCHED)
