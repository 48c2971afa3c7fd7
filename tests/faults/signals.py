"""Faults of processes: the command line gets a signal at a random moment and is resumed."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from processes import QUICK_TO_COMPILE

from algotransfer.array_files import load_arrays
from faults.campaign import Case
from faults.work import check_whole

WORDS = ["train", "--target", "bfs", "--supervision", "tf", "--hidden", "2", "--batch-size", "8"]
WORDS += ["--preset", "tiny", "--seeds", "2", "--max-epochs", "200", "--patience", "200"]
WORDS += ["--checkpoint-seconds", "0"]
# What is sent; the status and the words with which the command may end.
SIGNALS = {
    "SIGKILL to a process": (signal.SIGKILL, -signal.SIGKILL, ""),
    "SIGKILL, at any moment": (signal.SIGKILL, -signal.SIGKILL, ""),
    "SIGTERM to a process": (signal.SIGTERM, 143, "terminated; finished work is kept"),
    "SIGINT to a process": (signal.SIGINT, 130, "interrupted"),
    "out of memory, process ends": (signal.SIGUSR1, 137, ""),
    "files limited in size": (None, 2, "(File too large); nothing was changed there"),
}
ANY_MOMENT = "SIGKILL, at any moment"  # while it imports, compiles, trains
TOGETHER = "two processes at once"
PROCESSES = (*SIGNALS, TOGETHER)
CHILD = """
import os, resource, signal, sys
if int(os.environ["FILE_SIZE"]) > 0:
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(os.environ["FILE_SIZE"]),) * 2)
signal.signal(signal.SIGUSR1, lambda number, frame: os._exit(137))
signal.signal(signal.SIGINT, signal.default_int_handler)  # shells in the background ignore it
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
        "PYTHONPATH": os.pathsep.join([tests, os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep),
        "JAX_PLATFORMS": "cpu",
        "JAX_COMPILATION_CACHE_DIR": str(folder.parents[1] / "compiled"),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "XLA_FLAGS": QUICK_TO_COMPILE,
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
        if kind == ANY_MOMENT:
            time.sleep(case.dice.uniform(0, 8))
        elif number is not None:
            wait_for_checkpoint(process, runs, case.dice)
        if number is not None:
            process.send_signal(number)
        _, said = process.communicate(timeout=300)
        ended = (status, 0) if kind == ANY_MOMENT else (status,)  # it may have been quicker
        assert process.returncode in ended, said
        assert words in said
        assert "Traceback" not in said, said
        check_whole(runs)
        go_on(runs, expected)

    return fault


def together(case: Case) -> None:
    """A second process begins while the first works: it waits for nothing and harms nothing."""
    expected = undisturbed(case.folder.parent)
    runs = case.folder / "runs"
    first = start(runs)
    wait_for_checkpoint(first, runs, case.dice)
    second = start(runs)
    ends = [(p.communicate(timeout=300)[1], p.returncode) for p in (first, second)]
    assert ends[0][1] == 0, ends[0][0]
    for said, status in ends:
        assert status == 0 or (status == 2 and "is in use by process" in said), said
        assert "Traceback" not in said, said
    go_on(runs, expected)


def go_on(runs: Path, expected: dict) -> None:
    """The same command again ends as if nothing had happened."""
    process = start(runs)
    _, said = process.communicate(timeout=300)
    assert process.returncode == 0, said
    (weights,) = runs.rglob("weights.npz")
    assert load_arrays(weights)[1]["sha256"] == expected["sha256"]
    assert not list(runs.rglob(".*"))


def in_processes(kind: str) -> Callable[[Case], None]:
    """The fault of a kind of `PROCESSES`."""
    return together if kind == TOGETHER else signalled(kind)


def wait_for_checkpoint(process: subprocess.Popen, runs: Path, dice: random.Random) -> None:
    """Until training goes on, then a random while."""
    while process.poll() is None and not list(runs.rglob("checkpoint.npz")):
        time.sleep(0.01)
    time.sleep(dice.uniform(0, 0.3))
    assert process.poll() is None, "it ended before anything could happen"
