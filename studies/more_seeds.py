"""Train the experiments of `studies/more_seeds.md` on further seeds.

    python studies/more_seeds.py train --model ne++ --target dijkstra --method multitask --for 500
    python studies/more_seeds.py evaluate  # the finished ones on test graphs
    python studies/more_seeds.py compare  # multi-task learning with none, all seeds

Training resumes where it stopped. Several processes can share a GPU.
"""

from __future__ import annotations

import argparse
import itertools
from pathlib import Path

import numpy as np
from evaluate_committed import update
from seeds import train_each

from algotransfer.evaluation.evaluate import evaluate, unseen_graphs
from algotransfer.experiment import Experiment
from algotransfer.report.cells import seed_values
from algotransfer.report.claims import cell_key
from algotransfer.report.collect import name_rows, read_results
from algotransfer.report.verdicts import HALTS, measure, seed_errors
from algotransfer.training.runs import load_model

SEEDS = tuple(range(3, 8))
BASES = {"dijkstra": "prim", "reliable_seq": "widest_seq"}
METHODS = ("multitask", "none")
FOLDER = Path("runs/more_seeds")
RESULTS = Path("results/results.csv")


def experiment(model: str, target: str, method: str) -> Experiment:
    base = () if method == "none" else (BASES[target],)
    return Experiment(model=model, target=target, method=method, base=base)


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


def compare() -> None:
    """Print medians and ranges over all seeds, and multi-task learning divided by none."""
    results = read_results(RESULTS)
    by_halt = {halt: seed_errors(seed_values(results, halt)) for halt in HALTS}
    for target, model, halt in itertools.product(BASES, ("NE", "NE++"), HALTS):
        cells = [cell_key(model, target, method=method) for method in METHODS]
        for method, cell in zip(METHODS, cells, strict=True):
            values = np.array(list(by_halt[halt][cell].values()))
            spread = f"{np.median(values):.3f} ({len(values)} seeds, "
            spread += f"{values.min():.3f}–{values.max():.3f})"
            print(f"{model} {target} {method}, read by `{halt}`: {spread}")
        effect = measure([(cells[0], cells[1])], by_halt[halt])
        assert effect is not None, "an experiment has fewer than two seeds"
        low, high = effect.interval
        print(f"  ratio {effect.factor:.2f} ({low:.2f}–{high:.2f})")


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
        trainings = [(each, "paper") for each in experiments]
        train_each(trainings, SEEDS, arguments.folder, arguments.seconds)
    elif arguments.action == "evaluate":
        evaluate_all(experiments, arguments.folder)
    else:
        compare()


if __name__ == "__main__":
    main()
