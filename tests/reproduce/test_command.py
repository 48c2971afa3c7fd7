"""`algotransfer reproduce`: what it refuses, counts, and keeps when it is interrupted."""

import os
import signal
import tarfile
import time
from dataclasses import dataclass

import pytest

from algotransfer.cli import main
from algotransfer.reproduce.call_log import read_calls
from algotransfer.reproduce.steps import UNWATCHED, DataStep, Paused


@dataclass(frozen=True)
class Interrupting(DataStep):
    """Asks its own process to end, and pauses when that has arrived."""

    number: int = 0

    def run(self, folder, device=None, watch=UNWATCHED):
        time.sleep(0.3)  # by now the runner waits for it
        os.kill(os.getpid(), self.number)
        while not watch.pause():
            time.sleep(0.001)
        raise Paused({"training": 7.0})


@pytest.mark.usefixtures("default_signals")
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interruption_is_logged_and_packed(number, status, tmp_path, capsys, monkeypatch):
    step, later = Interrupting("small", number=number), DataStep("paper")
    monkeypatch.setattr("algotransfer.reproduce.plan.plan", lambda *choice: [step, later])
    folder, archive = tmp_path / "runs", tmp_path / "runs.tar.gz"
    words = ["reproduce", "--device", "cpu", "--folder", str(folder), "--pack", str(archive)]
    assert main(words) == status
    (call,) = read_calls(folder)
    assert call["states"] == {"paused": 1, "waiting": 1}
    assert call["seconds"] == {"training": 7.0}
    with tarfile.open(archive) as packed:
        assert [name.split("/")[0] for name in packed.getnames()] == ["calls"]
    text = capsys.readouterr().out
    assert "What was done" in text
    assert "the same command again: 2 steps are left" in text


def test_planned_experiments_are_counted(tmp_path, capsys):
    words = ["reproduce", "--dry-run", "--device", "cpu", "--folder", str(tmp_path)]
    assert main([*words, "--preset", "smoke"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "20 experiments, 3 seeds each" in text
    assert "guessed from times of three seeds on one H200, 100 times as long on a CPU" in text


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
        (["--dry-run", "--pack", "runs.tar.gz"], "say --for 0s instead"),
    ],
)
def test_what_would_do_nothing_is_refused(words, sentence, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["reproduce", *words]) == 2
    assert sentence in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
