"""Train the experiments of `studies/more_seeds.md` on further seeds.

    python studies/more_seeds.py train --model ne++ --target dijkstra --method multitask --for 500
    python studies/more_seeds.py evaluate  # the finished ones on test graphs
    python studies/more_seeds.py compare  # multi-task learning with none, all seeds

Training resumes where it stopped. Several processes can share a GPU.
"""

from __future__ import annotations

import argparse
import itertools
import time
from pathlib import Path

import numpy as np
import pandas
from evaluate_committed import update

from algotransfer.evaluation.evaluate import evaluate, unseen_graphs
from algotransfer.experiment import Experiment
from algotransfer.report.collect import name_rows, read_results
from algotransfer.report.statistics import welch_contrast
from algotransfer.training.runs import load_model
from algotransfer.training.train import train

SEEDS = tuple(range(3, 8))
BASES = {"dijkstra": "prim", "reliable_seq": "widest_seq"}
METHODS = ("multitask", "none")
FOLDER = Path("runs/more_seeds")
RESULTS = Path("results/more-seeds.csv")  # of seeds 3 to 7
GRID = Path("results/results.csv")  # of seeds 0 to 2


def experiment(model: str, target: str, method: str) -> Experiment:
    base = () if method == "none" else (BASES[target],)
    return Experiment(model=model, target=target, method=method, base=base)


def train_all(experiments: list[Experiment], folder: Path, seconds: float) -> None:
    """Train experiments one after the other, until the time is over."""
    deadline = time.monotonic() + seconds
    for each in experiments:
        path, model = train(
            each,
            SEEDS,
            folder=folder,
            pause=lambda: time.monotonic() > deadline,
            checkpoint_seconds=60,
            show=False,
        )
        print(f"{each.name}: {'paused' if model is None else path}", flush=True)
        if model is None:
            break


def evaluate_all(experiments: list[Experiment], folder: Path) -> None:
    """Measure the finished experiments on test graphs, at the true end and at the horizon."""
    told, horizon = unseen_graphs([20, 50, 100], 500), unseen_graphs([100], 500)
    for each in experiments:
        for path in sorted((folder / each.name).glob("*/weights.npz")):
            model = load_model(path)
            frame = evaluate(model, told)
            rows = name_rows(frame[frame["row"] == "network"], model, path.parent.name)
            update(RESULTS, rows.assign(halt=""), read_results)
            rows = name_rows(evaluate(model, horizon, halt="horizon"), model, path.parent.name)
            wanted = (rows["row"] == "network") & rows["metric"].isin(["key", "pred"])
            update(RESULTS, rows[wanted].assign(halt="horizon"), read_results)
            print(f"evaluated {each.name}", flush=True)


def errors(model: str, target: str, method: str, halt: str) -> np.ndarray:
    """Return the predecessor error of every seed at 100 nodes, a mean over families."""
    table = pandas.concat([read_results(GRID), read_results(RESULTS)])
    table["halt"] = table["halt"].fillna("").replace("", "told")
    cell = {"model": model, "target": target, "method": method, "halt": halt}
    cell |= {"supervision": "na", "row": "network", "metric": "pred", "num_nodes": 100}
    table = table[(table["marks"].fillna("") == "") & (table["infinity"] == "instance")]
    if method == "multitask":
        cell["source"] = BASES[target]
    for name, value in cell.items():
        table = table[table[name] == value]
    return table.groupby("seed")["value"].mean().to_numpy()


def compare() -> None:
    """Print medians and ranges over all seeds, and multi-task learning divided by none."""
    for target, model, halt in itertools.product(BASES, ("NE", "NE++"), ("told", "horizon")):
        found = {method: errors(model, target, method, halt) for method in METHODS}
        for method, values in found.items():
            spread = f"{np.median(values):.3f} ({len(values)} seeds, "
            spread += f"{values.min():.3f}–{values.max():.3f})"
            print(f"{model} {target} {method}, read by `{halt}`: {spread}")
        contrast = welch_contrast([np.log(found["multitask"]), -np.log(found["none"])])
        low, high = np.exp(contrast.interval())
        print(f"  ratio {np.exp(contrast.estimate):.2f} ({low:.2f}–{high:.2f})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=("train", "evaluate", "compare"))
    parser.add_argument("--model", nargs="+", default=["ne++", "ne"])
    parser.add_argument("--target", nargs="+", default=list(BASES), choices=BASES)
    parser.add_argument("--method", nargs="+", default=METHODS, choices=METHODS)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--for", type=float, default=np.inf, dest="seconds", help="seconds")
    arguments = parser.parse_args()
    grid = itertools.product(arguments.target, arguments.method, arguments.model)
    experiments = [experiment(model, target, method) for target, method, model in grid]
    if arguments.action == "train":
        train_all(experiments, arguments.folder, arguments.seconds)
    elif arguments.action == "evaluate":
        evaluate_all(experiments, arguments.folder)
    else:
        compare()


if __name__ == "__main__":
    main()
