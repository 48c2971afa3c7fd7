"""Training has not become slower, compared with a plain JAX training step in the same process.

Two guards. XLA's counts of operations and bytes are the same in every run, and differ little
between versions: with JAX 0.12 operations by less than 0.1 %, bytes are 8 to 10 % fewer. They see
work that was added, but neither slower code for the same work nor more turns of a loop.

Times see everything, but vary. Ratios of 7 runs on one processor, beside other programs: ne tf
0.042–0.045, ne++ tf 0.113–0.118, ne na 0.087–0.092. On another machine with this processor ne tf is
0.047–0.048 (4 runs), and 0.046 with the code of the first machine (1 run), which is the expected
ratio. In 20 runs of earlier code a single run was up to 9 % above the median, no more beside other
programs than alone. So a ratio counts as too large only if all of five runs are over a tenth above
the expected one. On other processors the ratios are not known, and only a slow-down by half fails.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from algotransfer.compilation_cache import processor_hash

SCRIPT = Path(__file__).with_name("training_ratio.py")
PROCESSOR = "cd97e328"  # `processor_hash` of the machines with these ratios
MEDIANS = {"ne tf": 0.046, "ne++ tf": 0.114, "ne na": 0.091}
LIMIT = 1.1 if processor_hash() == PROCESSOR else 1.5
RUNS = 5
COUNTS = {  # with JAX 0.10.2
    "ne tf": {"flops": 0.0769, "bytes accessed": 0.1360},
    "ne++ tf": {"flops": 0.0746, "bytes accessed": 0.1330},
    "ne na": {"flops": 0.0379, "bytes accessed": 0.1197},
}
COUNT_LIMIT = 1.05
QUICK_TO_COMPILE = ("JAX_DISABLE_MOST_OPTIMIZATIONS", "XLA_FLAGS")  # set by `make test`


def measure() -> dict:
    environment = {k: v for k, v in os.environ.items() if k not in QUICK_TO_COMPILE}
    command = [sys.executable, SCRIPT]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def first() -> dict:
    return measure()


@pytest.mark.slow
def test_training_does_no_more_work(first):
    assert abs(first["losses_apart"]) < 1e-5  # both train the same network
    more = {
        (name, what): counted / COUNTS[name][what]
        for name, counts in first["counts"].items()
        for what, counted in counts.items()
    }
    assert {key: ratio for key, ratio in more.items() if ratio > COUNT_LIMIT} == {}


@pytest.mark.slow
def test_training_is_not_over_a_tenth_slower(first):
    best = dict.fromkeys(MEDIANS, float("inf"))
    for run in range(RUNS):
        measured = first if run == 0 else measure()
        best = {name: min(best[name], measured["ratios"][name]) for name in best}
        slower = {n: best[n] / MEDIANS[n] for n in best if best[n] > LIMIT * MEDIANS[n]}
        if not slower:
            return
    raise AssertionError(f"time of training over the expected time: {slower}")
