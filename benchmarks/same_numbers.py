"""Whether the fast path learns what the plain one learns: the first losses, and the final errors.

    python benchmarks/same_numbers.py --out results/same-numbers-h200.json

On a GPU the fast path has kernels for edges, and finds the best of ten trajectories with products
of tf32; the plain one leaves edges to XLA and multiplies in float32 throughout. Both start from the
same weights and see the same batches. Elsewhere the two are one, and all differences are 0.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import jax
import numpy as np
from rich.console import Console
from rich.table import Table
from side_by_side import RESULTS, write

from algotransfer.datasets import Preset, make_splits
from algotransfer.devices import default_device
from algotransfer.evaluation import evaluate
from algotransfer.experiment import Experiment
from algotransfer.names import FAMILY_NAMES
from algotransfer.networks.latents import SWITCH
from algotransfer.training import objective, train
from algotransfer.training.examples import make_examples
from algotransfer.training.train import compile_epoch, start_seeds

STEPS = 100
Found = TypeVar("Found")


def on_both_paths(measure: Callable[[], Found]) -> dict[str, Found]:
    """What is found on the fast path and on the plain one."""
    found = {}
    for path, kernels, choosing in (
        ("fast", "1", objective.CHOOSING),
        ("plain", "0", "float32"),
    ):
        jax.clear_caches()  # the switches are read while a program is traced
        before, objective.CHOOSING = objective.CHOOSING, choosing
        os.environ[SWITCH] = kernels
        try:
            found[path] = measure()
        finally:
            objective.CHOOSING = before
            del os.environ[SWITCH]
    return found


def first_losses(experiment: Experiment, seeds: int) -> np.ndarray:
    """The loss of each of the first steps, of every seed, each on a batch of its own."""
    wanted = STEPS * experiment.batch_size
    splits = make_splits(Preset(train=-(-wanted // len(FAMILY_NAMES)), validation=20, test=1))
    program, states = start_seeds(experiment, tuple(range(seeds)))
    training, validation = (
        make_examples(program.tasks, dataset, experiment.infinity)
        for dataset in (splits.train, splits.validation)
    )
    order = np.random.default_rng(0).permutation(len(training))
    batches = order[:wanted].reshape(STEPS, -1)
    with jax.default_matmul_precision(experiment.precision):
        step, _ = compile_epoch(program, states, training[batches[0]], validation)
    losses = []
    for batch in batches:  # an epoch of one batch
        states, report = step(states, training[batch], validation)
        losses.append(report["train_loss"])
    return np.asarray(jax.device_get(losses))


def final_errors(experiment: Experiment, seeds: int) -> list[dict[str, float]]:
    """Predecessor errors of every seed, by size, after training on small data to the end."""
    with tempfile.TemporaryDirectory() as folder:
        _, model = train(experiment, seeds, data="small", folder=folder)
    assert model is not None
    frame = evaluate(model, list(make_splits("small").test.values()))
    frame = frame[(frame["row"] == "network") & (frame["metric"] == "pred") & frame["hop"].isna()]
    means = frame.groupby(["seed", "num_nodes"])["value"].mean().unstack()
    return [{str(size): error for size, error in row.items()} for _, row in means.iterrows()]


def compared(experiment: Experiment, seeds: int) -> dict:
    """How far the paths are apart."""
    losses = on_both_paths(lambda: first_losses(experiment, seeds))
    apart = np.abs(losses["fast"] - losses["plain"]) / np.abs(losses["plain"])
    return {
        "device": default_device().device_kind,
        "experiment": experiment.name,
        "first_losses_apart": {
            "median": float(np.median(apart)),
            "most": float(np.max(apart)),
            "by_seed": np.max(apart, axis=0).tolist(),
        },
        "final_errors": on_both_paths(lambda: final_errors(experiment, seeds)),
    }


def show(rows: list[dict]) -> None:
    """Prints a line per experiment and path."""
    table = Table(title="Fast and plain path: predecessor errors, mean ± std over seeds")
    sizes = list(rows[0]["final_errors"]["fast"][0])
    heads = ("experiment", f"first {STEPS} losses apart", "path", *(f"{n} nodes" for n in sizes))
    for head in heads:
        table.add_column(head)
    for row in rows:
        for path, errors in row["final_errors"].items():
            by_size = [[seed[size] for seed in errors] for size in sizes]
            first = [row["experiment"], f"{row['first_losses_apart']['most']:.1e}"]
            first = first if path == "fast" else ["", ""]
            table.add_row(*first, path, *(f"{np.mean(e):.4f} ± {np.std(e):.4f}" for e in by_size))
    Console().print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", nargs="+", default=["ne", "ne++"])
    parser.add_argument("--supervision", nargs="+", default=["tf", "na"])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--max-epochs", type=int, default=Experiment.max_epochs)
    parser.add_argument("--out", type=Path, default=RESULTS / "same_numbers.json")
    arguments = parser.parse_args()
    rows = []
    for model in arguments.model:
        for supervision in arguments.supervision:
            experiment = Experiment(
                model=model,
                target="dijkstra",
                supervision=supervision,
                max_epochs=arguments.max_epochs,
            )
            rows.append(compared(experiment, arguments.seeds))
            write(arguments.out, rows, packages=("jax",))
    show(rows)


if __name__ == "__main__":
    main()
