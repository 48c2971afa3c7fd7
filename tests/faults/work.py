"""The work that faults fall upon: two trainings, their evaluations, a table; all tiny."""

from __future__ import annotations

import functools
import hashlib
import json
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import pandas

from algotransfer.archive import load_arrays
from algotransfer.datasets import Preset
from algotransfer.evaluation.evaluate import COLUMNS
from algotransfer.evaluation.runs import EVALUATION
from algotransfer.experiment import Experiment
from algotransfer.reproduce import steps
from algotransfer.reproduce.runner import run_steps
from algotransfer.reproduce.steps import Evaluate, MakeData, Table, Train
from algotransfer.sums import check_seal
from algotransfer.training.runs import CHECKPOINT, WEIGHTS, read_config
from algotransfer.training.slices import read_entries
from algotransfer.training.trees import to_arrays

TRAINING = sys.modules["algotransfer.training.train"]  # the function has the same name
TINY = Preset(graph=("er",), train=16, validation=4, test=4, num_nodes=6, test_sizes=(6,))
EXPERIMENT = Experiment(target="bfs", supervision="tf", hidden=2, batch_size=8, max_epochs=3)
EVALUATIONS = tuple(
    Evaluate(Train(EXPERIMENT, seeds, MakeData(TINY))) for seeds in ((0, 1), (2, 3))
)
STEPS = [*EVALUATIONS, Table("par-tf", EVALUATIONS)]


def work(folder: Path, epochs: int | None = None) -> list:
    """Does all of it, or what is left; with `epochs` only so many more of each training.

    Every epoch ends with a checkpoint.
    """
    if epochs is None:
        return run_steps(STEPS, folder, jobs=1)
    return run_steps([Limited(epochs)], folder, jobs=1)


class Limited(Evaluate):
    """The evaluation, whose trainings are paused: it is never reached."""

    def __init__(self, epochs):
        super().__init__(EVALUATIONS[0].train)
        object.__setattr__(self, "epochs", epochs)

    @property
    def inputs(self):
        return ()

    def found(self, folder):
        return False

    def run(self, folder, device=None, watch=steps.UNWATCHED):
        train, left = self.train, [self.epochs]

        def pause():
            left[0] -= 1
            return left[0] <= 0

        watch = steps.Watch(pause, watch.tell)
        return train.run(folder, device, watch)


def quick(replace=setattr) -> None:
    """Programs are compiled once, and a checkpoint is written after every epoch.

    Faults fall upon files, so an evaluation is whatever tells weights apart to the last bit.
    """
    compile_epoch, compiled = TRAINING.compile_epoch, []
    start_seeds = functools.cache(TRAINING.start_seeds)

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

    replace(TRAINING, "compile_epoch", compile_once)
    replace(TRAINING, "start_seeds", start_again)
    replace(TRAINING, "make_examples", functools.cache(TRAINING.make_examples))
    replace(steps, "evaluate", evaluate)
    replace(steps, "train", functools.partial(steps.train, checkpoint_seconds=0))


def digest(folder: Path) -> dict[str, str]:
    """What a finished folder holds, without times: equal for equal results."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.name == WEIGHTS:
            found[str(path.relative_to(folder))] = load_arrays(path)[1]["sha256"]
        elif path.name in (EVALUATION, "config.json", "par-tf.csv"):
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
            check_seal(path)
