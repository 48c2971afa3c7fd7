"""Train and compare the variants of `studies/extra_steps.md`.

    python studies/extra_steps.py train none exact10 --for 500
    python studies/extra_steps.py train none random10 --seeds 105 106 107
    python studies/extra_steps.py validate  # errors on validation graphs
    python studies/extra_steps.py choose  # the comparison that the protocol asks for
    python studies/extra_steps.py test  # once, after the choice was committed

The trained networks are in `studies/runs/extra_steps`: pass it as `--folder` to measure them
without training.

Training resumes where it stopped. One process trains one variant after the other; several
processes can share a GPU.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import jax.numpy as jnp
import numpy as np
from seeds import error_ratio, spread

from algotransfer.algorithms.state import State
from algotransfer.datasets.dataset import Dataset, make_dataset
from algotransfer.datasets.presets import PAPER_FAMILIES
from algotransfer.datasets.splits import make_splits
from algotransfer.experiment import Experiment
from algotransfer.networks.rollout import Driver
from algotransfer.report.statistics import holm
from algotransfer.supervisions import SUPERVISIONS
from algotransfer.training.supervision import NoAlgorithm
from algotransfer.training.train import train

EXTRA = 10
SEEDS = tuple(range(100, 105))
EPOCHS = 80
NODES = 100  # of validation graphs
FOLDER = Path("runs/extra_steps")
VALIDATION = Path("results/extra-steps-validation.csv")
CHOICE = Path("results/extra-steps-choice.json")
TEST = Path("results/extra-steps-test.csv")


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
    splits = make_splits("mixed" if name == "mixed" else "paper")
    path, model = train(
        VARIANTS[name],
        seeds,
        data=splits,
        folder=folder / name,
        pause=lambda: time.monotonic() > deadline,
        checkpoint_seconds=60,
    )
    return None if model is None else path


def measure(folder: Path, datasets: list[Dataset], by_step: bool = True):
    """Return predecessor errors of all finished variants: at the true end, and by step."""
    import pandas

    from algotransfer.evaluation.by_step import evaluate_by_step
    from algotransfer.evaluation.evaluate import evaluate

    tables = []
    for weights in sorted(folder.glob("*/*/*/weights.npz")):
        variant = weights.relative_to(folder).parts[0]
        told = evaluate(weights, datasets)
        told = told[(told["row"] == "network") & (told["metric"] == "pred") & told["hop"].isna()]
        told = told.drop(columns=["row", "hop"]).assign(step="told")
        parts = [evaluate_by_step(weights, datasets), told] if by_step else [told]
        tables.append(pandas.concat(parts).assign(variant=variant))
        print(f"measured {variant}", flush=True)
    return pandas.concat(tables, ignore_index=True)


def compare(table) -> dict:
    """Return median and range of every variant at the true end, and the protocol's tests."""
    from scipy.stats import ttest_ind

    told = table[table["step"] == "told"].groupby(["variant", "seed"])["value"].mean()
    errors = {name: told[name].to_numpy() for name in VARIANTS if name in told.index.levels[0]}
    others = [name for name in errors if name != "none"]

    def p_value(one: str, other: str) -> float:
        return ttest_ind(np.log(errors[one]), np.log(errors[other]), equal_var=False).pvalue

    corrected = dict(zip(others, holm([p_value(name, "none") for name in others]), strict=True))
    summary = {
        name: {
            **spread(values, 4),
            "p_against_none": None if name == "none" else round(corrected[name], 4),
        }
        for name, values in errors.items()
    }
    winner = min(summary, key=lambda name: summary[name]["median"])
    choice = {"winner": winner, "told_error_at_100_nodes": summary}
    if {"exact10", "random10"} <= set(errors):
        choice["exact10_over_random10"] = {
            **error_ratio(errors["exact10"], errors["random10"]),
            "p": round(p_value("exact10", "random10"), 4),
        }
    return choice


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=("train", "validate", "choose", "test"))
    parser.add_argument("variants", nargs="*", metavar="VARIANT", help=", ".join(VARIANTS))
    parser.add_argument("--seeds", type=int, nargs="+", default=SEEDS)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--for", type=float, default=np.inf, dest="seconds", help="seconds")
    arguments = parser.parse_args()
    if arguments.action == "train":
        deadline = time.monotonic() + arguments.seconds
        for name in arguments.variants or VARIANTS:
            path = train_variant(name, arguments.folder, deadline, tuple(arguments.seeds))
            print(f"{name}: {'paused' if path is None else path}", flush=True)
    elif arguments.action == "validate":
        graphs = [make_dataset(PAPER_FAMILIES, 20, NODES, split="validation")]
        measure(arguments.folder, graphs).to_csv(VALIDATION, index=False)
        print(f"wrote {VALIDATION}")
    elif arguments.action == "choose":
        import pandas

        choice = compare(pandas.read_csv(VALIDATION, dtype={"step": str}))
        CHOICE.write_text(json.dumps(choice, indent=1) + "\n")
        print(f"wrote {CHOICE}: {choice['winner']}")
    else:
        graphs = [make_dataset(PAPER_FAMILIES, 100, n, split="test") for n in (20, NODES)]
        measure(arguments.folder, graphs, by_step=False).to_csv(TEST, index=False)
        print(f"wrote {TEST}")


if __name__ == "__main__":
    main()
