"""Measure `relax` on the graph families of SALSA-CLRS, as `studies/salsa_graphs.md` says.

The command is `python studies/salsa_graphs.py --out results/salsa-graphs.csv`.
"""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path

import numpy as np
import pandas

from algotransfer import evaluate, make_dataset
from algotransfer.datasets import Dataset

FAMILIES = ("ws", "delaunay")
SIZES = (1600, 800, 160)
NUM_GRAPHS = 50  # of each family and size
CLRS30 = Path(__file__).parent / "runs" / "clrs30" / "relax-bellman_ford-na"
# System, its training graphs and its weights.
NETWORKS = [
    ("relax-bellman_ford", "15,000 of 20 nodes", "relax-bellman_ford"),
    ("relax-bellman_ford", "CLRS-30", CLRS30),
]
METRICS = {"micro_f1": "node_accuracy", "exact": "graph_accuracy"}
KEYS = ["system", "training", "task", "family", "num_nodes", "num_graphs", "metric", "seed"]


def unit_weights(dataset: Dataset) -> Dataset:
    """Replace all weights by 1: shortest paths are then those of breadth-first search."""
    ones = (dataset.graphs.weights > 0).astype(np.float32)
    graphs = dataclasses.replace(dataset.graphs, weights=ones)
    arguments = {**dataset.arguments, "weights": 1}
    return Dataset(graphs=graphs, family=dataset.family, arguments=arguments)


def measure(source: str | Path, dataset: Dataset) -> pandas.DataFrame:
    """Return node and graph accuracy of every seed and family."""
    if isinstance(source, Path):
        (source,) = (weights.parent for weights in source.glob("*/weights.npz"))
    frame = evaluate(source, [dataset])
    frame = frame[(frame["row"] == "network") & frame["hop"].isna()]
    frame = frame[frame["metric"].isin(METRICS)].replace({"metric": METRICS})
    return frame[["family", "num_nodes", "num_graphs", "metric", "seed", "value"]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--num-nodes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--num-graphs", type=int, default=NUM_GRAPHS)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    tables = []
    for size in arguments.num_nodes:
        weighted = make_dataset(FAMILIES, arguments.num_graphs, size, split="test")
        for task, dataset in (("bfs", unit_weights(weighted)), ("shortest_paths", weighted)):
            for system, training, source in NETWORKS:
                names = {"system": system, "training": training, "task": task}
                tables.append(measure(source, dataset).assign(**names))
                table = pandas.concat(tables)[[*KEYS, "value"]].sort_values(KEYS)
                table.to_csv(arguments.out, index=False)  # so far
                print(f"{system} ({training}), {task}, {size} nodes: measured", flush=True)
    print(f"wrote {arguments.out}")


if __name__ == "__main__":
    main()
