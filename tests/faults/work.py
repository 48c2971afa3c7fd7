"""The steps of the fault tests: two tiny training runs and their evaluations."""

from __future__ import annotations

import functools
import hashlib
import json
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import pandas

from algotransfer.array_files import load_arrays
from algotransfer.checksums import verify_checksum
from algotransfer.datasets import Preset
from algotransfer.evaluation.evaluate import COLUMNS, EVALUATION
from algotransfer.experiment import Experiment
from algotransfer.reproduce import steps
from algotransfer.reproduce.runner import run_steps
from algotransfer.reproduce.steps import EvaluateStep, TrainStep
from algotransfer.training import epochs
from algotransfer.training.named_arrays import to_arrays
from algotransfer.training.provenance import read_entries
from algotransfer.training.runs import CHECKPOINT, WEIGHTS, read_config

TRAINING = sys.modules["algotransfer.training.train"]  # the function has the same name
TINY = Preset(family=("er",), train=16, validation=4, test=4, num_nodes=6, test_sizes=(6,))
EXPERIMENT = Experiment(target="bfs", supervision="tf", hidden=2, batch_size=8, max_epochs=3)
STEPS = tuple(EvaluateStep(TrainStep(EXPERIMENT, seeds, TINY)) for seeds in ((0, 1), (2, 3)))


def work(folder: Path, epochs: int | None = None) -> list:
    """Does all of it, or what is left; with `epochs` only so many more of each training.

    Every epoch ends with a checkpoint.
    """
    if epochs is None:
        return run_steps(STEPS, folder)
    return run_steps([Limited(epochs)], folder)


class Limited(EvaluateStep):
    """The evaluation, whose trainings are paused: it is never reached."""

    def __init__(self, epochs):
        super().__init__(STEPS[0].train)
        object.__setattr__(self, "epochs", epochs)

    @property
    def inputs(self):
        return ()

    def is_finished(self, folder):
        return False

    def run(self, folder, device=None, monitor=steps.NO_MONITOR):
        train, left = self.train, [self.epochs]

        def pause():
            left[0] -= 1
            return left[0] <= 0

        return train.run(folder, device, steps.Monitor(pause, monitor.report))


def quick(replace=setattr) -> None:
    """Programs are compiled once, and a checkpoint is written after every epoch.

    Faults fall upon files, so an evaluation is whatever tells weights apart to the last bit.
    """
    compile_epoch, compiled = epochs.compile_epoch, []
    start_seeds = functools.cache(epochs.start_seeds)

    def compile_once(*arguments):
        if not compiled:
            compiled.append(compile_epoch(*arguments))
        return compiled[0]

    def start_again(*arguments):
        program, states = start_seeds(*arguments)
        return program, jax.tree.map(jnp.copy, states)  # an epoch uses up what it is given

    def evaluate(model, datasets, progress):
        rows = [
            ("network", seed, "er", 6, name, None, float(leaf[k].astype(float).sum()), 4)
            for name, leaf in to_arrays(model.networks).items()
            for k, seed in enumerate(model.seeds)
        ]
        return pandas.DataFrame(rows, columns=list(COLUMNS)).astype(COLUMNS)

    replace(epochs, "compile_epoch", compile_once)
    replace(epochs, "start_seeds", start_again)
    replace(TRAINING, "make_examples", functools.cache(TRAINING.make_examples))
    replace(steps, "evaluate", evaluate)
    replace(steps, "train", functools.partial(steps.train, checkpoint_seconds=0))


def digest(folder: Path) -> dict[str, str]:
    """What a finished folder holds, without times: equal for equal results."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.name == WEIGHTS:
            found[str(path.relative_to(folder))] = load_arrays(path)[1]["sha256"]
        elif path.name in (EVALUATION, "config.json"):
            found[str(path.relative_to(folder))] = hashlib.sha256(path.read_bytes()).hexdigest()
        elif path.name == "metrics.jsonl":
            rows = [json.loads(line) for line in path.read_text().splitlines()]
            rows = [{**row, "seconds": None} for row in rows]
            text = json.dumps(rows).encode()
            found[str(path.relative_to(folder))] = hashlib.sha256(text).hexdigest()
    return found


def check_whole(folder: Path) -> None:
    """Whatever happened: every file that bears a name of ours is whole."""
    for path in folder.rglob("*"):
        if path.name in (WEIGHTS, CHECKPOINT):
            load_arrays(path)
        elif path.name == "config.json":
            assert read_config(path.parent), f"{path} is half-written"
        elif path.name == "environment.json":
            read_entries(path)
        elif path.name == "metrics.jsonl":
            # A kill may cut its last line off, which no reader minds; resuming drops it.
            for line in path.read_bytes().split(b"\n")[:-1]:
                json.loads(line)
        elif path.name == EVALUATION and (path.parent / "SHA256SUMS").exists():
            verify_checksum(path)
