"""Evaluate committed networks again on a CPU, to find numbers that depend on the device.

    python studies/device_sensitivity.py --out results/device-sensitivity.csv

The numbers of `results/results.csv` were measured on a GPU. `algotransfer report` compares the two
tables and marks the cells whose means differ by more than the standard deviation over seeds.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Any

import jax
import pandas
from records import RESULTS
from rich.progress import track

from algotransfer import load_model
from algotransfer.evaluation.evaluate import evaluate, unseen_graphs
from algotransfer.evaluation.summary import paper_key
from algotransfer.files import write_atomically
from algotransfer.training.runs import committed_weights

CHOSEN = re.compile(r"ne-.*-na.*|ne\+\+-(dijkstra|bellman_ford)-na")


def measure(weights: str, datasets: dict) -> pandas.DataFrame:
    """Return a row per seed, family, size and metric, named as in `results.csv`."""
    model = load_model(weights)
    frame = evaluate(model, datasets)
    frame: Any = frame[(frame["row"] == "network") & frame["hop"].isna()].drop(columns="hop")
    for place, (column, value) in enumerate(paper_key(model.experiment).items()):
        frame.insert(place, column, value)
    return frame


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--num-nodes", type=int, nargs="+", default=[100])
    parser.add_argument(
        "--num-graphs", type=int, default=500, help="graphs of each family and size"
    )
    parser.add_argument(
        "--weights", nargs="+", help="default: NE trained without steps, some of NE++"
    )
    parser.add_argument("--out", type=Path, default=RESULTS / "device-sensitivity.csv")
    arguments = parser.parse_args()
    names = arguments.weights or [name for name in committed_weights() if CHOSEN.fullmatch(name)]
    datasets = unseen_graphs(arguments.num_nodes, arguments.num_graphs)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    parts = []
    with jax.default_device(jax.devices("cpu")[0]):
        for name in track(names, "evaluating on the CPU"):
            parts.append(measure(name, datasets))
            table = pandas.concat(parts, ignore_index=True)
            text = table.to_csv(index=False, float_format="%.6g")
            write_atomically(arguments.out, text.encode())


if __name__ == "__main__":
    main()
