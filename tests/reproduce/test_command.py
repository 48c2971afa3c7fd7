"""The command `reproduce`: invalid options, dry runs and interruptions."""

import os
import signal
import tarfile
import time
from dataclasses import dataclass

import pytest

from algotransfer.cli import main
from algotransfer.reproduce.call_log import read_calls
from algotransfer.reproduce.steps import NO_MONITOR, Step, StepPaused


@dataclass(frozen=True)
class Interrupting(Step):
    """Sends a signal to its own process, and pauses once the runner asks for it."""

    number: int
    name = "interrupting"
    inputs = ()

    def is_finished(self, folder):
        return False

    def estimate(self, folder, estimates):
        return None

    def run(self, folder, device=None, monitor=NO_MONITOR):
        time.sleep(0.3)  # by now the runner waits for it
        os.kill(os.getpid(), self.number)
        while not monitor.should_pause():
            time.sleep(0.001)
        raise StepPaused({"training": 7.0})


@pytest.mark.usefixtures("default_signals")
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interruption_is_logged_and_packed(number, status, tmp_path, capsys, monkeypatch):
    steps = [Interrupting(number), Interrupting(0)]
    monkeypatch.setattr("algotransfer.reproduce.plan.plan", lambda *choice: steps)
    folder, archive = tmp_path / "runs", tmp_path / "runs.tar.gz"
    words = ["reproduce", "--device", "cpu", "--folder", str(folder), "--pack", str(archive)]
    assert main(words) == status
    (call,) = read_calls(folder)
    assert call["states"] == {"paused": 1, "waiting": 1}
    assert call["seconds"] == {"training": 7.0}
    with tarfile.open(archive) as packed:
        assert [name.split("/")[0] for name in packed.getnames()] == ["calls"]
    text = capsys.readouterr().out
    assert "wall-clock time" in text
    assert "the same command again: 2 steps remain" in text


def test_planned_experiments_are_counted(tmp_path, capsys):
    words = ["reproduce", "--dry-run", "--device", "cpu", "--folder", str(tmp_path)]
    assert main([*words, "--preset", "smoke"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "20 experiments, 3 seeds each" in text
    assert "unknown for 44 steps" in text


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["--table", "seq-na", "--target", "prim"],
            "no experiment of seq-na learns prim with any network; "
            "there the targets are dijkstra, reliable_seq and the networks ne, ne++",
        ),
        (
            ["--table", "experiment-1", "--model", "ne", "--target", "bfs", "dfs", "--dry-run"],
            "no experiment of experiment-1 learns bfs or dfs with ne;",
        ),
        (["--dry-run", "--pack", "runs.tar.gz"], "--for 0s instead"),
    ],
)
def test_what_would_do_nothing_is_refused(words, sentence, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["reproduce", *words]) == 2
    assert sentence in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
