"""Overthinking: errors of networks that run on after the algorithm has ended.

    python studies/overthinking.py --out results/overthinking.json \
        --picture docs/images/overthinking.png

Networks trained without the algorithm's steps are evaluated after its last step. Here the committed
networks run for further steps, on graphs of their training size, and their error is measured after
each. Networks trained with `--extra-steps 10` are compared with the others.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas
from records import RESULTS, write
from rich.console import Console
from rich.progress import track
from rich.table import Table
from scipy.stats import spearmanr

from algotransfer import Dataset, load_model, make_dataset
from algotransfer.datasets.presets import PAPER_FAMILIES
from algotransfer.draw import save_figure
from algotransfer.evaluation.by_step import errors_by_step
from algotransfer.evaluation.summary import paper_key
from algotransfer.report.cells import least_marked, read_at
from algotransfer.report.collect import EXPERIMENT, read_results
from algotransfer.reproduce.grid import experiments
from algotransfer.trained_models import committed_weights

NODES = 20
BEFORE, AFTER = 6, 30  # measured steps before and after the end
LARGER = 100  # nodes of the larger graphs
DOTS = 80  # per inch of the figure
COMMITTED = Path(__file__).parents[1] / "results" / "results.csv"
LOST = 0.1  # increase of the mean error after the end from which an answer counts as lost


def errors_around_the_end(weights: str, dataset: Dataset) -> dict:
    """Return each seed's predecessor error at steps around the end, against the final answer."""
    model = load_model(weights)
    length = np.asarray(dataset.trace(model.experiment.target).length)
    errors = errors_by_step(model, dataset, past_end=AFTER)
    graph = np.arange(len(length))
    around = {
        str(k): errors[:, graph, np.maximum(length + k, 1) - 1].mean(1).round(5).tolist()
        for k in range(-BEFORE, AFTER + 1)
    }
    row = {"weights": weights, **paper_key(model.experiment)}
    return {**row, "seeds": list(model.seeds), "errors": around}


def afterwards(row: dict) -> np.ndarray:
    """Return each seed's error after the end, as a mean over steps."""
    return np.mean([row["errors"][str(k)] for k in range(1, AFTER + 1)], axis=0)


def is_lost(row: dict) -> np.ndarray:
    """Return for each seed whether it loses its answer after the end."""
    return afterwards(row) - row["errors"]["0"] > LOST


def on_larger_graphs(row: dict, results: pandas.DataFrame) -> np.ndarray:
    """Return each seed's predecessor error on graphs of 100 nodes, from the committed results."""
    chosen = (results[EXPERIMENT] == [row[name] for name in EXPERIMENT]).all(axis=1)
    chosen &= (results["row"] == "network") & (results["metric"] == "pred")
    rows = results[chosen & (results["num_nodes"] == LARGER)]
    return rows.groupby("seed")["value"].mean()[row["seeds"]].to_numpy()


def groups(rows: list[dict]) -> dict[tuple[str, str, bool], list[dict]]:
    """Group rows by network, algorithm, and whether training had extra steps."""
    found: dict[tuple[str, str, bool], list[dict]] = {}
    for row in rows:
        key = (row["model"], row["target"], "extra" in row["supervision"])
        found.setdefault(key, []).append(row)
    return found


def show(rows: list[dict], results: pandas.DataFrame) -> None:
    """Print how many seeds lose their answer, and the correlation with errors on larger graphs."""
    table = Table(title=f"Predecessor errors at {NODES} and {LARGER} nodes, medians over seeds")
    heads = ("network", "target", "trained", "seeds", "end", "later", "lost")
    for head in (*heads, f"{LARGER}, kept", f"{LARGER}, lost", "rank later", "rank end"):
        table.add_column(head)
    for (model, target, extended), members in groups(rows).items():
        end = np.concatenate([row["errors"]["0"] for row in members])
        later, lost = (np.concatenate([f(row) for row in members]) for f in (afterwards, is_lost))
        large = np.concatenate([on_larger_graphs(row, results) for row in members])
        medians = [
            f"{np.median(values):.3f}" if len(values) else "–"
            for values in (end, later, large[~lost], large[lost])
        ]
        ranks = [f"{spearmanr(values, large).statistic:.2f}" for values in (later, end)]
        words = (model, target, "extra steps" if extended else "as in the paper", str(len(end)))
        table.add_row(*words, *medians[:2], str(lost.sum()), *medians[2:], *ranks)
    Console(width=120).print(table)


def draw(rows: list[dict]):
    """Draw a line per seed by steps after the end, and a panel per network and algorithm."""
    models, targets = (list(dict.fromkeys(row[key] for row in rows)) for key in ("model", "target"))
    figure, axes = plt.subplots(
        len(models),
        len(targets),
        figsize=(2.6 * len(targets), 2.4 * len(models)),
        sharex=True,
        sharey=True,
        squeeze=False,
        layout="constrained",
    )
    for (model, target, extended), members in groups(rows).items():
        ax = axes[models.index(model), targets.index(target)]
        for row in members:
            lines = np.array([row["errors"][str(k)] for k in range(-BEFORE, AFTER + 1)])
            for line, lost in zip(lines.T, is_lost(row), strict=True):
                colour = "#1b7f3b" if extended else "#c0392b" if lost else "#2c6fbb"
                style = {"linewidth": 1.4, "alpha": 1} if extended else {"linewidth": 0.8}
                ax.plot(range(-BEFORE, AFTER + 1), line, color=colour, **{"alpha": 0.5, **style})
        ax.axvline(0, color="black", linewidth=0.8, linestyle=":")
        ax.set(title=f"{model}, {target}", ylim=(0, 1))
    figure.supxlabel("steps after the end")
    figure.supylabel(f"predecessor error, {NODES} nodes")
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--num-graphs", type=int, default=100, help="of each family")
    parser.add_argument("--weights", nargs="+", help="by default all without the algorithm")
    parser.add_argument("--out", type=Path, default=RESULTS / "overthinking.json")
    parser.add_argument("--picture", type=Path)
    arguments = parser.parse_args()
    without = [each.name for each in experiments() if each.supervision == "na"]
    without += [name for name in committed_weights() if "-extra" in name]
    dataset = make_dataset(PAPER_FAMILIES, arguments.num_graphs, NODES, split="test")
    rows = [
        errors_around_the_end(name, dataset)
        for name in track(arguments.weights or without, "running on")
    ]
    write(arguments.out, rows)
    show(rows, least_marked(read_at(read_results(COMMITTED), "told")))
    if arguments.picture:
        save_figure(draw(rows), arguments.picture, dots_per_inch=DOTS)


if __name__ == "__main__":
    main()
