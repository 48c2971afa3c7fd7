"""Train and compare the experiments of `studies/transfer_grid.md`.

    python studies/transfer_grid.py train --model ne++ --method none multitask --for 500
    python studies/transfer_grid.py test  # errors on test graphs
    python studies/transfer_grid.py compare  # the comparisons that the protocol asks for

Training resumes where it stopped. Several processes can share a GPU; each trains the experiments
that it is given, one after the other, and skips what another one is training.
"""

from __future__ import annotations

import argparse
import itertools
import time
from pathlib import Path

import numpy as np

from algotransfer.datasets.splits import make_splits
from algotransfer.experiment import Experiment
from algotransfer.training.epochs import TrainingRun, finite
from algotransfer.training.runs import Model, save_model
from algotransfer.training.train import train

SEEDS = tuple(range(100, 105))
EPOCHS = {"ne++": 80, "ne": 120}
BASES = {"dijkstra": "prim", "reliable_seq": "widest_seq"}
METHODS = ("multitask", "none", "fine_tune", "two_processor", "freeze")
FOLDER = Path("runs/transfer_grid")


def experiment(model: str, target: str, method: str, **changes) -> Experiment:
    base = () if method == "none" else (BASES[target],)
    return Experiment(
        model=model,
        target=target,
        method=method,
        base=base,
        max_epochs=EPOCHS[model],
        **changes,
    )


def keep_last_weights() -> None:
    """Make `train` also write the weights after the last epoch, as `last.npz`."""
    run = TrainingRun.run

    def run_and_keep(self, program, examples, *arguments):
        finished = run(self, program, examples, *arguments)
        if finished:
            card = {
                "data": self.config["data"],
                "epochs": np.asarray(self.states.epoch).tolist(),
                "diverged": np.asarray(self.states.diverged).tolist(),
                "validation_loss": finite(self.states.best_loss),
                "infinity": [1.0] * len(program.tasks),  # replaced by that of weights.npz
                "horizon": int(np.max(examples.truths[-1].length)),
            }
            model = Model(
                program.experiment, tuple(self.config["seeds"]), self.states.network, card
            )
            save_model(self.path / "last.npz", model)
        return finished

    TrainingRun.run = run_and_keep


def train_all(experiments: list[Experiment], folder: Path, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    splits = make_splits("mixed")
    keep_last_weights()
    for each in experiments:
        path, model = train(
            each,
            SEEDS,
            data=splits,
            folder=folder,
            pause=lambda: time.monotonic() > deadline,
            checkpoint_seconds=60,
            show=False,
        )
        print(f"{each.name}: {'paused' if model is None else path}", flush=True)
        if model is None:
            break


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=("train", "test", "compare"))
    parser.add_argument("--model", nargs="+", default=list(EPOCHS), choices=EPOCHS)
    parser.add_argument("--target", nargs="+", default=list(BASES), choices=BASES)
    parser.add_argument("--method", nargs="+", default=METHODS, choices=METHODS)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--for", type=float, default=np.inf, dest="seconds", help="seconds")
    arguments = parser.parse_args()
    grid = itertools.product(arguments.model, arguments.method, arguments.target)
    if arguments.action == "train":
        experiments = [experiment(model, target, method) for model, method, target in grid]
        train_all(experiments, arguments.folder, arguments.seconds)


if __name__ == "__main__":
    main()
