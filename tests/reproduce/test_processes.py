"""Steps in processes: the same results, progress and outcomes as in threads."""

import os
import stat
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from processes import QUICK_TO_COMPILE
from reproduce.cases import PLAIN, assert_same_as_in_threads

from algotransfer.cli import main
from algotransfer.locks import InUse
from algotransfer.reproduce.executors import processes
from algotransfer.reproduce.executors.processes import (
    CONTROL_PROGRAM,
    MPS_VARIABLES,
    ProcessExecutor,
    cuda_mps,
)
from algotransfer.reproduce.runner import View, run_steps
from algotransfer.reproduce.steps import NO_MONITOR, Step, StepPaused


@dataclass(frozen=True)
class Outcome(Step):
    """Ends as its word says."""

    word: str
    inputs = ()

    @property
    def name(self):
        return self.word

    def is_finished(self, folder):
        return False

    def estimate(self, folder, estimates):
        return None

    def run(self, folder, device=None, monitor=NO_MONITOR):
        monitor.report(1, f"in {os.getpid()}")
        if self.word == "wait":
            while not monitor.should_pause():
                time.sleep(0.01)
            raise StepPaused({"waiting": 0.5})
        if self.word == "die":
            os._exit(7)
        if self.word == "taken":
            raise InUse("another command is on it")
        if self.word == "broken":
            raise ValueError("the pen is broken")
        return {"writing": 1.0}


class Messages(View):
    """Collects the progress messages."""

    def __init__(self):
        self.messages = []

    def report(self, step, done, message):
        self.messages.append(message)


def test_every_ending_of_a_step_comes_back(tmp_path):
    words = ("write", "broken", "taken", "die", "again")
    view = Messages()
    with ProcessExecutor() as executor:
        call = {"view": view, "executor": executor}
        results = run_steps([Outcome(word) for word in words], tmp_path, **call)
        results += run_steps([Outcome("wait")], tmp_path, seconds=0.5, **call)
        results += run_steps([Outcome("last")], tmp_path, **call)  # a pause ends with its step
    by_name = {result.step.name: result for result in results}
    assert {name: result.state for name, result in by_name.items()} == {
        "write": "done",
        "broken": "failed",
        "taken": "waiting",
        "die": "failed",
        "again": "done",
        "wait": "paused",
        "last": "done",
    }
    assert by_name["write"].seconds == {"writing": 1.0}
    assert by_name["wait"].seconds == {"waiting": 0.5}
    assert by_name["broken"].reason == "ValueError: the pen is broken"
    assert "the process of the step died (exit status 7)" in by_name["die"].reason
    places = [message for message in view.messages if message.startswith("in ")]
    assert f"in {os.getpid()}" not in places
    # One process for the steps up to its death, another one for those after.
    assert len(set(places[:4])) == len(set(places[4:])) == 1
    assert len(set(places)) == 2


def test_weights_are_those_of_a_run_in_threads(tmp_path, monkeypatch):
    monkeypatch.setenv("XLA_FLAGS", QUICK_TO_COMPILE)
    with ProcessExecutor(jobs=2) as executor:
        results = run_steps(PLAIN, tmp_path / "away", executor=executor)
    assert {result.state for result in results} == {"done"}
    assert_same_as_in_threads(tmp_path / "away", tmp_path)


def test_the_command_runs_steps_in_processes(tmp_path, capsys, monkeypatch):
    steps = [Outcome("write"), Outcome("again")]
    monkeypatch.setattr("algotransfer.reproduce.plan.plan", lambda *choice: steps)
    words = ["reproduce", "--device", "cpu", "--folder", str(tmp_path), "--executor", "processes"]
    assert main([*words, "--jobs", "2"]) == 0
    assert "algotransfer report --folder" in capsys.readouterr().out


@pytest.mark.parametrize("works", [True, False])
def test_the_cuda_service_is_started_and_ended(works, tmp_path, monkeypatch):
    log, control = tmp_path / "log", tmp_path / CONTROL_PROGRAM
    control.write_text(
        f'#!/bin/sh\necho "$1" "${MPS_VARIABLES[0]}" >> {log}\n[ -n "$1" ] || cat >> {log}\n'
    )
    if not works:
        control.write_text("#!/bin/sh\nexit 1\n")
    control.chmod(control.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.delenv(MPS_VARIABLES[0], raising=False)
    with cuda_mps():
        place = os.environ.get(MPS_VARIABLES[0])
        assert (place is not None) == works
    assert MPS_VARIABLES[0] not in os.environ
    if works:
        assert log.read_text() == f"-d {place}\n {place}\nquit\n"
    else:
        assert not log.exists()


def test_a_cuda_service_of_the_user_is_left_alone(monkeypatch):
    monkeypatch.setenv(MPS_VARIABLES[0], "theirs")
    with cuda_mps():
        assert os.environ[MPS_VARIABLES[0]] == "theirs"
    assert os.environ[MPS_VARIABLES[0]] == "theirs"


class TakenByAnother(list):
    """Looks as if it held an idle process, which another thread takes first."""

    def __bool__(self):
        return True


def test_two_threads_do_not_take_one_idle_process(monkeypatch):
    def start():
        raise OSError("a new process")

    monkeypatch.setattr(processes, "_start_process", start)
    executor = ProcessExecutor()
    executor._idle = TakenByAnother()
    with pytest.raises(OSError, match="a new process"):
        executor.run_step(Outcome("write"), Path(), NO_MONITOR)
