"""Trainings of a second, and the same done in threads of a process of their own to compare with."""

from processes import run_python

from algotransfer.array_files import load_arrays
from algotransfer.datasets import Preset
from algotransfer.experiment import Experiment
from algotransfer.reproduce.steps import DataStep, EvaluateStep, TrainStep

TINY = Preset(family=("er",), train=16, validation=4, test=4, num_nodes=6, test_sizes=(6,))
FAST = Experiment(target="bfs", supervision="tf", hidden=2, batch_size=8, max_epochs=6)
PLAIN = [EvaluateStep(TrainStep(FAST, (seed,), DataStep(TINY))) for seed in range(2)]
IN_THREADS = f"""
from algotransfer.datasets import Preset
from algotransfer.experiment import Experiment
from algotransfer.reproduce.runner import run_steps
from algotransfer.reproduce.steps import EvaluateStep, DataStep, TrainStep
run_steps([EvaluateStep(TrainStep({FAST}, (seed,), DataStep({TINY}))) for seed in range(2)], "here")
"""


def assert_same_as_in_threads(away, tmp_path):
    """Weights and evaluations in a folder are, to the bit, those of a run in threads."""
    run_python(IN_THREADS, folder=tmp_path)
    for step in PLAIN:
        ours, theirs = step.train.path(away), step.train.path(tmp_path / "here")
        sums = [load_arrays(path / "weights.npz")[1]["sha256"] for path in (ours, theirs)]
        assert sums[0] == sums[1]
        assert (ours / "evaluation.csv").read_bytes() == (theirs / "evaluation.csv").read_bytes()
