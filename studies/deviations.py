"""Effects of deviations from the paper on its numbers: the same networks, tested in other ways.

    python studies/deviations.py --out results/deviations.json

Committed networks that learned Dijkstra's algorithm without its steps are tested on Barabási–Albert
graphs of other densities (deviation G2), on grids of other shapes (G3), and with another stand-in
for ∞ than in their training (I1). How training would change is not measured here.
"""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path

from records import RESULTS, write
from rich.console import Console
from rich.progress import track
from rich.table import Table

from algotransfer import load_model, make_dataset
from algotransfer.evaluation import evaluate

WEIGHTS = ("ne-dijkstra-na", "ne++-dijkstra-na")
SIZES = (20, 50, 100)
DENSITIES = (2, 4, 8)  # edges that a new node brings; 4 in training


def conditions() -> list[dict]:
    """Return ways of testing: label of the deviation, options of the graphs, stand-in for ∞."""
    densities = [("G2", {"family": "ba", "attachments": m}, "instance") for m in DENSITIES]
    shapes = [("G3", {"family": "grid", "shape": shape}, "instance") for shape in ("any", "square")]
    stand_ins = [("I1", {"family": "er"}, infinity) for infinity in ("instance", 100.0)]
    names = ("deviation", "graphs", "infinity")
    return [dict(zip(names, each, strict=True)) for each in (*densities, *shapes, *stand_ins)]


def tested(weights: str, condition: dict, num_graphs: int) -> dict:
    """Return predecessor error and squared key error of every seed, by size."""
    model = load_model(weights)
    experiment = dataclasses.replace(model.experiment, infinity=condition["infinity"])
    model = dataclasses.replace(model, experiment=experiment)
    datasets = [
        make_dataset(num_graphs=num_graphs, num_nodes=size, split="test", **condition["graphs"])
        for size in SIZES
    ]
    frame = evaluate(model, datasets)
    frame = frame[(frame["row"] == "network") & frame["hop"].isna()]
    errors = {
        metric: {
            str(size): frame[(frame["metric"] == metric) & (frame["num_nodes"] == size)][
                "value"
            ].tolist()
            for size in SIZES
        }
        for metric in ("pred", "key")
    }
    return {"weights": weights, **condition, **errors}


def show(rows: list[dict]) -> None:
    """Print means over seeds."""
    table = Table(title="Predecessor error (squared key error), means over seeds")
    for head in ("weights", "deviation", "graphs", "∞", *(f"{size} nodes" for size in SIZES)):
        table.add_column(head)
    for row in rows:
        graphs = " ".join(map(str, row["graphs"].values()))
        means = [
            [sum(row[m][str(n)]) / len(row[m][str(n)]) for m in ("pred", "key")] for n in SIZES
        ]
        cells = [f"{pred:.3f} ({key:.2g})" for pred, key in means]
        table.add_row(row["weights"], row["deviation"], graphs, str(row["infinity"]), *cells)
    Console().print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--num-graphs", type=int, default=500, help="of each kind and size")
    parser.add_argument("--weights", nargs="+", default=list(WEIGHTS))
    parser.add_argument("--out", type=Path, default=RESULTS / "deviations.json")
    arguments = parser.parse_args()
    pairs = [(weights, condition) for weights in arguments.weights for condition in conditions()]
    rows = [tested(*pair, arguments.num_graphs) for pair in track(pairs, "testing")]
    write(arguments.out, rows)
    show(rows)


if __name__ == "__main__":
    main()
