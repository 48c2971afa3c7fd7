"""Compare the fast training path with the plain reference: first losses, and final errors.

    python benchmarks/same_numbers.py --out results/same-numbers-h200.json

The plain path runs the unmodified steps of a network in float32. The fast path folds weights where
that is faster, and on a GPU uses kernels; the one that chooses the best of ten trajectories rounds
products. Both start from the same weights and use the same batches.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from rich.console import Console
from rich.table import Table
from side_by_side import RESULTS, write

from algotransfer.datasets import Preset, make_splits
from algotransfer.datasets.presets import PAPER_FAMILIES
from algotransfer.devices import default_device
from algotransfer.evaluation import evaluate
from algotransfer.experiment import Experiment
from algotransfer.networks import NE, NEPlusPlus
from algotransfer.training import objective, train
from algotransfer.training.examples import make_examples
from algotransfer.training.program import SeedState, compile_epoch, start_seeds
from algotransfer.training.training_rollouts import SWITCH

STEPS = 100
PERTURBATION = 1e-7  # relative, of every weight: the last bit of a float
PATHS = ("fast", "plain")


@contextmanager
def on_path(path: str) -> Iterator[None]:
    """Select the path of programs traced inside the `with` block."""
    jax.clear_caches()
    with ExitStack() as switches:
        if path == "plain":
            switches.enter_context(patch.dict(os.environ, {SWITCH: "0"}))
            switches.enter_context(patch.object(objective, "SELECTION_PRECISION", "float32"))
            for network in (NE, NEPlusPlus):
                switches.enter_context(patch.object(network, "folded_on", ()))
        yield


def first_losses(experiment: Experiment, seeds: int) -> dict[str, np.ndarray]:
    """Return the losses of the first steps, per seed, each step on another batch.

    **Returns:** losses of the plain path (`plain`); of the fast path, from the weights of the plain
    path at that step (`same weights`) and trained on its own (`alone`); and of the plain path from
    weights perturbed in the last bit (`nudged`), which shows the sensitivity of training.
    """
    wanted = STEPS * experiment.batch_size
    splits = make_splits(Preset(train=-(-wanted // len(PAPER_FAMILIES)), validation=20, test=1))
    long_experiment = replace(experiment, max_epochs=STEPS, patience=STEPS)
    program, start = start_seeds(long_experiment, tuple(range(seeds)))
    training, validation = (
        make_examples(program.tasks, dataset, experiment.infinity)
        for dataset in (splits.train, splits.validation)
    )
    order = np.random.default_rng(0).permutation(len(training))
    batches = order[:wanted].reshape(STEPS, -1)
    take = {}
    for path in PATHS:
        with on_path(path), jax.default_matmul_precision(experiment.precision):
            step, _ = compile_epoch(program, start, training[batches[0]], validation)
            # An epoch of one batch. It reuses the buffers it is given, so it gets copies.
            take[path] = lambda states, batch, step=step: step(
                jax.tree.map(jnp.copy, states), training[batch], validation
            )
    plain, alone, nudged = start, start, nudge(start)
    losses: dict[str, list] = {"plain": [], "same weights": [], "alone": [], "nudged": []}
    for batch in batches:
        _, report = take["fast"](plain, batch)
        losses["same weights"].append(report["train_loss"])
        plain, report = take["plain"](plain, batch)
        losses["plain"].append(report["train_loss"])
        alone, report = take["fast"](alone, batch)
        losses["alone"].append(report["train_loss"])
        nudged, report = take["plain"](nudged, batch)
        losses["nudged"].append(report["train_loss"])
    return {name: np.asarray(jax.device_get(each)) for name, each in losses.items()}


def nudge(states: SeedState) -> SeedState:
    """Return the same seeds with every weight perturbed in its last bit."""
    leaves, tree = jax.tree.flatten(states.network)
    keys = jax.random.split(jax.random.key(0), len(leaves))
    noise = [
        PERTURBATION * jax.random.normal(k, w.shape) for k, w in zip(keys, leaves, strict=True)
    ]
    moved = [w * (1 + change) for w, change in zip(leaves, noise, strict=True)]
    return eqx.tree_at(lambda s: s.network, states, jax.tree.unflatten(tree, moved))


def final_errors(experiment: Experiment, seeds: int) -> list[dict[str, float]]:
    """Return predecessor errors per seed, by size, after a whole training on small data."""
    with tempfile.TemporaryDirectory() as folder:
        _, model = train(experiment, seeds, data="small", folder=folder)
    assert model is not None
    frame = evaluate(model, list(make_splits("small").test.values()))
    frame = frame[(frame["row"] == "network") & (frame["metric"] == "pred") & frame["hop"].isna()]
    means = frame.groupby(["seed", "num_nodes"])["value"].mean().unstack()
    return [{str(size): error for size, error in row.items()} for _, row in means.iterrows()]


def compared(experiment: Experiment, seeds: int, to_the_end: bool) -> dict:
    """Return the relative differences of the first losses, and the final errors, of both paths."""
    losses = first_losses(experiment, seeds)
    plain = losses.pop("plain")
    apart = {name: np.abs(each - plain) / np.abs(plain) for name, each in losses.items()}
    errors = {}
    for path in PATHS if to_the_end else ():
        with on_path(path):
            errors[path] = final_errors(experiment, seeds)
    return {
        "device": default_device().device_kind,
        "experiment": experiment.name,
        "first_losses_apart": {
            name: {"median": float(np.median(each)), "most": float(np.max(each))}
            for name, each in apart.items()
        },
        "final_errors": errors,
    }


def show(rows: list[dict]) -> None:
    """Print the differences of the losses, and the errors of both paths."""
    table = Table(
        title=f"Fast and plain path: first {STEPS} losses, relative difference, maximum (median)"
    )
    ways = list(rows[0]["first_losses_apart"])
    for head in ("experiment", *ways):
        table.add_column(head)
    for row in rows:
        apart = (row["first_losses_apart"][way] for way in ways)
        table.add_row(row["experiment"], *(f"{a['most']:.1e} ({a['median']:.1e})" for a in apart))
    Console().print(table)
    if not rows[0]["final_errors"]:
        return
    table = Table(title="Predecessor errors after training on small data, mean ± std over seeds")
    sizes = list(rows[0]["final_errors"]["fast"][0])
    for head in ("experiment", "path", *(f"{n} nodes" for n in sizes)):
        table.add_column(head)
    for row in rows:
        for path, errors in row["final_errors"].items():
            by_size = [[seed[size] for seed in errors] for size in sizes]
            numbers = (f"{np.mean(e):.4f} ± {np.std(e):.4f}" for e in by_size)
            table.add_row(row["experiment"], path, *numbers)
    Console().print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", nargs="+", default=["ne", "ne++"])
    parser.add_argument("--supervision", nargs="+", default=["tf", "na"])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--losses-only", action="store_true", help="skip the whole trainings")
    parser.add_argument("--out", type=Path, default=RESULTS / "same_numbers.json")
    arguments = parser.parse_args()
    rows = []
    for model in arguments.model:
        for supervision in arguments.supervision:
            experiment = Experiment(model=model, target="dijkstra", supervision=supervision)
            rows.append(compared(experiment, arguments.seeds, not arguments.losses_only))
            write(arguments.out, rows, packages=("jax",))
    show(rows)


if __name__ == "__main__":
    main()
