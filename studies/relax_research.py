"""Variants of the relaxation executor, trained briefly and judged on validation graphs alone.

    python studies/relax_research.py --out results/relax-research.json

Every variant gets the same number of training graphs, epochs and seeds, and differs in one thing
from the executor as it was before. Numbers are predecessor errors, a mean over the three families,
of graphs from the validation stream that neither training nor early stopping has seen. Rows that
the file already has are not measured again.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from pathlib import Path

import jax
import numpy as np
from records import RESULTS, write
from relax_variants import VARIANTS, Variant
from rich.console import Console
from rich.table import Table

from algotransfer.algorithms import get_algorithm
from algotransfer.datasets import Dataset, Splits, make_dataset
from algotransfer.datasets.presets import PAPER_FAMILIES
from algotransfer.evaluation import evaluate
from algotransfer.experiment import Experiment
from algotransfer.graphs.graph import concatenate, resize_graphs
from algotransfer.networks import MODELS
from algotransfer.training import train

TARGETS = ("reliable_par", "reliable_seq")
TRAJECTORIES = 2  # unless a variant says otherwise
JUDGES = 1  # seed of the validation graphs to judge by; early stopping sees those of seed 0


def training_graphs(sizes: tuple[int, ...], count: int) -> Dataset:
    """Return training graphs, `count` of each family over all sizes, padded to the largest."""
    parts = [make_dataset(PAPER_FAMILIES, count // len(sizes), size) for size in sizes]
    if len(parts) == 1:
        return parts[0]
    return Dataset(
        graphs=concatenate([resize_graphs(part.graphs, max(sizes)) for part in parts]),
        family=np.concatenate([part.family for part in parts]),
        arguments={"parts": [dict(part.arguments) for part in parts]},
    )


def measure(variant: Variant, target: str, arguments: argparse.Namespace) -> dict:
    """Train a variant; return its predecessor errors by size and seed."""
    MODELS[variant.name] = variant.network
    experiment = Experiment(
        model=variant.name,
        target=target,
        trajectories=variant.trajectories or TRAJECTORIES,
        infinity=arguments.infinity or "instance",
        learning_rate=arguments.learning_rate,
        max_epochs=arguments.epochs,
        patience=arguments.epochs,
    )
    splits = Splits(
        train=training_graphs(variant.sizes, arguments.graphs),
        validation=make_dataset(PAPER_FAMILIES, arguments.judges, split="validation"),
        test={},
    )
    with tempfile.TemporaryDirectory() as folder:
        _, model = train(experiment, arguments.seeds, data=splits, folder=folder, device="cpu")
    assert model is not None
    judges = [
        make_dataset(PAPER_FAMILIES, arguments.judges, size, JUDGES, split="validation")
        for size in arguments.num_nodes
    ]
    frame = evaluate(model, judges)
    frame = frame[(frame["row"] == "network") & (frame["metric"] == "pred") & frame["hop"].isna()]
    means = frame.groupby(["num_nodes", "seed"])["value"].mean()
    return {
        "target": target,
        "question": variant.question,
        "variant": variant.name,
        "pred": {str(size): means[size].tolist() for size in arguments.num_nodes},
        "theta": jax.tree.map(
            lambda theta: np.asarray(theta)[:, 0].round(4).tolist(),
            model.networks.specialists[0].relaxation.theta,
        ),
    }


def show(rows: list[dict], sizes: list[int]) -> None:
    """Print medians over seeds, and the lowest and highest."""
    table = Table(title="Predecessor errors on validation graphs: median (lowest to highest seed)")
    for head in ("target", "question", "variant", *(f"{size} nodes" for size in sizes)):
        table.add_column(head)
    for row in rows:
        numbers = [
            f"{statistics.median(e):.4f} ({min(e):.4f} to {max(e):.4f})"
            for e in (row["pred"][str(size)] for size in sizes)
        ]
        table.add_row(row["target"], row["question"], row["variant"], *numbers)
    Console().print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = [variant.name for variant in VARIANTS]
    parser.add_argument("--target", nargs="+", default=TARGETS)
    parser.add_argument("--variant", nargs="+", default=names, choices=names)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--graphs", type=int, default=640, help="of each family, to train on")
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--infinity", type=float, help="what stands for ∞; default: by graph")
    parser.add_argument("--learning-rate", type=float, default=0.005)
    parser.add_argument("--judges", type=int, default=20, help="of each family and size")
    parser.add_argument("--num-nodes", type=int, nargs="+", default=[20, 100, 200])
    parser.add_argument("--out", type=Path, default=RESULTS / "relax_research.json")
    arguments = parser.parse_args()
    rows = json.loads(arguments.out.read_text())["rows"] if arguments.out.exists() else []
    done = {(row["target"], row["variant"]) for row in rows}
    for target in arguments.target:
        for variant in VARIANTS:
            asked = variant.name in arguments.variant and (target, variant.name) not in done
            if asked and (get_algorithm(target).sequential or not variant.sequential):
                rows.append(measure(variant, target, arguments))
                write(arguments.out, rows)
    show(rows, arguments.num_nodes)


if __name__ == "__main__":
    main()
