"""Tiny training steps, and their results in threads of a separate process as the reference."""

from processes import run_python

from algotransfer.array_files import load_arrays
from algotransfer.datasets import Preset
from algotransfer.experiment import Experiment
from algotransfer.reproduce.steps import EvaluateStep, TrainStep

TINY = Preset(family=("er",), train=16, validation=4, test=4, num_nodes=6, test_sizes=(6,))
FAST = Experiment(target="bfs", supervision="tf", hidden=2, batch_size=8, max_epochs=6)
PLAIN = [EvaluateStep(TrainStep(FAST, (seed,), TINY)) for seed in range(2)]
IN_THREADS = f"""
from algotransfer.datasets import Preset
from algotransfer.experiment import Experiment
from algotransfer.reproduce.runner import run_steps
from algotransfer.reproduce.steps import EvaluateStep, TrainStep
run_steps([EvaluateStep(TrainStep({FAST}, (seed,), {TINY})) for seed in range(2)], "here")
"""


def assert_same_as_in_threads(away, tmp_path):
    """Assert that weights and evaluations equal those of a run in threads, bit by bit."""
    run_python(IN_THREADS, folder=tmp_path)
    for step in PLAIN:
        ours, theirs = step.train.path(away), step.train.path(tmp_path / "here")
        sums = [load_arrays(path / "weights.npz")[1]["sha256"] for path in (ours, theirs)]
        assert sums[0] == sums[1]
        assert (ours / "evaluation.csv").read_bytes() == (theirs / "evaluation.csv").read_bytes()
