"""Signals to processes of their own: a real command line, killed at a random moment, resumed."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from algotransfer.archive import load_arrays
from faults.campaign import Case
from faults.work import check_whole

WORDS = ["train", "--target", "bfs", "--supervision", "tf", "--hidden", "2", "--batch-size", "8"]
WORDS += ["--data", "tiny", "--seeds", "2", "--max-epochs", "400", "--patience", "400"]
WORDS += ["--checkpoint-seconds", "0"]
# What is sent; the status and the words with which the command may end.
SIGNALS = {
    "SIGKILL to a process": (signal.SIGKILL, -signal.SIGKILL, ""),
    "SIGTERM to a process": (signal.SIGTERM, 143, "asked to end; what was finished is kept"),
    "SIGINT to a process": (signal.SIGINT, 130, "interrupted"),
    "out of memory, process ends": (signal.SIGUSR1, 137, ""),
    "files limited in size": (None, 2, "(File too large); nothing was changed there"),
}
CHILD = """
import os, resource, signal, sys
if int(os.environ["FILE_SIZE"]) > 0:
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(os.environ["FILE_SIZE"]),) * 2)
signal.signal(signal.SIGUSR1, lambda number, frame: os._exit(137))
from algotransfer.datasets import PRESETS
from faults.work import TINY
PRESETS["tiny"] = TINY
from algotransfer.cli import main
raise SystemExit(main(sys.argv[1:]))
"""


def start(folder: Path, limit: int | None = None) -> subprocess.Popen:
    """The command line on a folder, maybe with a limit to the size of files."""
    tests = str(Path(__file__).parents[1])
    cache = {
        "PYTHONPATH": tests,
        "JAX_PLATFORMS": "cpu",
        "JAX_COMPILATION_CACHE_DIR": str(folder.parents[1] / "compiled"),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    }
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, *WORDS, "--folder", str(folder)],
        env={**os.environ, **cache, "FILE_SIZE": str(limit or -1)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def undisturbed(place: Path) -> dict:
    """The weights of a run that nothing happened to; made once."""
    folder = place / "undisturbed"
    if not folder.exists():
        process = start(folder / "runs")
        assert process.wait(timeout=300) == 0, process.communicate()[1]
    (weights,) = folder.rglob("weights.npz")
    return load_arrays(weights)[1]


def signalled(kind: str) -> Callable[[Case], None]:
    """A fault: the signal at a random moment after the first checkpoint, then the rest."""
    number, status, words = SIGNALS[kind]

    def fault(case: Case) -> None:
        expected = undisturbed(case.folder.parent)
        runs = case.folder / "runs"
        # Weights are larger than any of the other files but the checkpoint and the log.
        process = start(runs, limit=case.dice.randint(1000, 30000) if number is None else None)
        if number is not None:
            wait_for_checkpoint(process, runs, case.dice)
            process.send_signal(number)
        _, said = process.communicate(timeout=300)
        assert process.returncode == status, said
        assert words in said
        assert "Traceback" not in said, said
        check_whole(runs)
        process = start(runs)
        _, said = process.communicate(timeout=300)
        assert process.returncode == 0, said
        (weights,) = runs.rglob("weights.npz")
        assert load_arrays(weights)[1]["sha256"] == expected["sha256"]
        assert not list(runs.rglob(".*"))

    return fault


def wait_for_checkpoint(process: subprocess.Popen, runs: Path, dice: random.Random) -> None:
    """Until training goes on, then a random while."""
    while process.poll() is None and not list(runs.rglob("checkpoint.npz")):
        time.sleep(0.01)
    time.sleep(dice.uniform(0, 0.3))
    assert process.poll() is None, "it ended before anything could happen"
