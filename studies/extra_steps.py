"""Train and compare the variants of `studies/extra_steps.md`.

    python studies/extra_steps.py train none exact10 --for 500
    python studies/extra_steps.py train none random10 --seeds 105 106 107
    python studies/extra_steps.py validate --out results/extra-steps-validation.csv

Training resumes where it stopped. One process trains one variant after the other; several
processes can share a GPU.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import jax.numpy as jnp
import numpy as np

from algotransfer.algorithms.state import State
from algotransfer.datasets.dataset import Dataset, make_dataset
from algotransfer.datasets.splits import Splits, make_splits
from algotransfer.experiment import Experiment
from algotransfer.graphs.graph import Graph, concatenate
from algotransfer.graphs.sampling import sample_graphs
from algotransfer.networks.rollout import Driver
from algotransfer.supervisions import SUPERVISIONS
from algotransfer.training.supervision import NoAlgorithm
from algotransfer.training.train import train

EXTRA = 10
SEEDS = tuple(range(100, 105))
EPOCHS = 80
FAMILIES = ("er", "ba", "grid")
SMALLEST, LARGEST = 8, 20  # nodes of mixed graphs
NODES = 100  # of validation graphs
FOLDER = Path("runs/extra_steps")


class ExactlyExtraSteps(NoAlgorithm):
    """Every training graph runs the same number of extra steps."""

    def training_steps(self, length, extra_steps):
        return length + EXTRA


class Progressive(NoAlgorithm):
    """Progressive training of Bansal et al. (2022), on every second graph.

    Such a graph runs n steps without gradient and k steps with gradient, and is then compared with
    its answer. With m = true steps + 10, n is uniform in 0…m−1 and k in 1…m−n.
    """

    def training_steps(self, length, extra_steps):
        random = np.random.default_rng(0)
        most = length + EXTRA
        first = random.integers(0, most)
        total = first + random.integers(1, most - first + 1)
        return np.where(np.arange(len(length)) % 2 == 0, length, total)

    def driver(self, algorithm, truth, noise):
        # Given the total n + k, n has probability proportional to 1 / (m − n). One unused entry of
        # the noise, a Gumbel number, gives the uniform number to draw it with.
        true_steps = jnp.sum(truth.visited[-1])
        n = jnp.arange(noise.shape[0])
        weight = jnp.where(n < truth.length, 1 / jnp.maximum(true_steps + EXTRA - n, 1), 0.0)
        uniform = jnp.exp(-jnp.exp(-noise[-1, -1]))
        drawn = jnp.sum(jnp.cumsum(weight) <= uniform * jnp.sum(weight))
        detached = jnp.where(truth.length == true_steps, 0, jnp.minimum(drawn, truth.length - 1))
        start = State(truth.start.key, truth.start.visited)
        return Driver(start, truth.length, noise=noise, detached_steps=detached, carry_all=True)


SUPERVISIONS["na_exact10"] = ExactlyExtraSteps()
SUPERVISIONS["na_progressive"] = Progressive()


def padded(graphs: Graph, num_nodes: int) -> Graph:
    """Add isolated nodes to every graph of a batch."""

    def renumber(ends):
        return np.where(ends >= graphs.num_nodes, num_nodes, ends).astype(ends.dtype)

    return Graph(
        senders=renumber(np.asarray(graphs.senders)),
        receivers=renumber(np.asarray(graphs.receivers)),
        weights=np.asarray(graphs.weights),
        source=np.asarray(graphs.source),
        num_nodes=num_nodes,
    )


def mixed_dataset(num_graphs: int, split: str) -> Dataset:
    """Graphs of 8 to 20 nodes, as many of each size, padded to 20 nodes."""
    parts, families = [], []
    for family in FAMILIES:
        sizes = range(SMALLEST, LARGEST + 1)
        if family == "grid":
            sizes = [n for n in sizes if any(n % r == 0 for r in range(2, n // 2 + 1))]
        shares = np.diff(np.linspace(0, num_graphs, len(sizes) + 1).astype(int))
        for size, count in zip(sizes, shares.tolist(), strict=True):
            parts.append(padded(sample_graphs(family, count, size, 0, split=split), LARGEST))
            families += [family] * count
    arguments = {
        "graph": list(FAMILIES),
        "num_graphs": num_graphs,
        "num_nodes": [SMALLEST, LARGEST],
        "seed": 0,
        "split": split,
    }
    return Dataset(concatenate(parts), np.array(families), arguments)


def mixed_splits() -> Splits:
    """The numbers of graphs of the paper, in mixed sizes."""
    return Splits(mixed_dataset(5000, "train"), mixed_dataset(500, "validation"), {})


def experiment(**changes) -> Experiment:
    return Experiment(**{"model": "ne++", "target": "dijkstra", "max_epochs": EPOCHS, **changes})


VARIANTS = {
    "none": experiment(),
    "exact10": experiment(supervision="na_exact10"),
    "random3": experiment(extra_steps=3),
    "random10": experiment(extra_steps=10),
    "random30": experiment(extra_steps=30),
    "mixed": experiment(),
    "progressive": experiment(supervision="na_progressive"),
}


def train_variant(
    name: str, folder: Path, deadline: float, seeds: tuple[int, ...] = SEEDS
) -> Path | None:
    """Train all seeds of a variant; return its run folder, or None if it was paused."""
    splits = mixed_splits() if name == "mixed" else make_splits("paper")
    path, model = train(
        VARIANTS[name],
        seeds,
        data=splits,
        folder=folder / name,
        pause=lambda: time.monotonic() > deadline,
        checkpoint_seconds=60,
    )
    return None if model is None else path


def validate(folder: Path):
    """Errors of all finished variants by step and seed on validation graphs of 100 nodes."""
    import pandas

    from algotransfer.evaluation.by_step import evaluate_by_step
    from algotransfer.evaluation.evaluate import evaluate

    graphs = [make_dataset(FAMILIES, 20, NODES, split="validation")]
    tables = []
    for weights in sorted(folder.glob("*/*/*/weights.npz")):
        variant = weights.relative_to(folder).parts[0]
        told = evaluate(weights, graphs)
        told = told[(told["row"] == "network") & (told["metric"] == "pred") & told["hop"].isna()]
        told = told.drop(columns=["row", "hop"]).assign(step="told")
        tables.append(
            pandas.concat([evaluate_by_step(weights, graphs), told]).assign(variant=variant)
        )
    return pandas.concat(tables, ignore_index=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=("train", "validate"))
    parser.add_argument(
        "variants", nargs="*", choices=[*VARIANTS, []], default=[], metavar="VARIANT"
    )
    parser.add_argument("--seeds", type=int, nargs="+", default=SEEDS)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--for", type=float, default=np.inf, dest="seconds", help="seconds")
    parser.add_argument("--out", type=Path, default=Path("results/extra-steps-validation.csv"))
    arguments = parser.parse_args()
    if arguments.action == "validate":
        validate(arguments.folder).to_csv(arguments.out, index=False)
        print(f"wrote {arguments.out}")
        return
    deadline = time.monotonic() + arguments.seconds
    for name in arguments.variants or VARIANTS:
        path = train_variant(name, arguments.folder, deadline, tuple(arguments.seeds))
        print(f"{name}: {'paused' if path is None else path}", flush=True)


if __name__ == "__main__":
    main()
