"""The peers' environments, for tests that run inside them; such tests skip where there is none."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

from peers.environments import how_to_make, python_of  # noqa: E402


def runner(peer: str):
    python = python_of(peer)
    if python is None:
        pytest.skip(how_to_make(peer))

    def run(*arguments) -> str:
        environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "TF_CPP_MIN_LOG_LEVEL": "3"}
        environment["OMP_NUM_THREADS"] = "1"  # torch's threads wait for each other on busy cores
        finished = subprocess.run(
            [python, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True
        )
        assert finished.returncode == 0, finished.stderr[-3000:]
        return finished.stdout

    return run


@pytest.fixture
def in_clrs():
    """Runs a script where dm-clrs is installed."""
    return runner("clrs")


@pytest.fixture
def in_pyg():
    """Runs a script where PyTorch Geometric is installed."""
    return runner("pyg")
