"""Find out why `relax` does not learn minimax paths, as `studies/clrs30.md` says.

    python studies/clrs30_simplicity.py --out results/clrs30-simplicity.json

Variants of `relax` are trained on CLRS-30's training graphs and compared by validation losses, with
and without the simplicity loss. Then networks without that loss lose their constant term, and are
scored on graphs of 64 nodes that are sampled like the validation graphs. No test graph is used.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import tempfile
from dataclasses import dataclass
from pathlib import Path

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from records import RESULTS, write

from algotransfer.datasets.clrs30 import OFFICIAL_SIZES
from algotransfer.evaluation.clrs_scores import clrs_scores
from algotransfer.experiment import Experiment
from algotransfer.networks import MODELS, RelaxationExecutor
from algotransfer.networks.relax import SIMPLICITY, SIMPLICITY_CAP, sparse_weight
from algotransfer.training import Model, train

TARGET, TASK, SEEDS = "minimax_par", "mst_kruskal", 5
TERMS = ("1", "x", "w", "x(w - 1)", "max(0, x - w)")
LARGER = 8, 64  # validation graphs and their nodes


@dataclass(frozen=True)
class Variant:
    """A change of `relax`: factor of its simplicity loss, start of θ, learning rate."""

    name: str
    simplicity: float = 1.0
    start: tuple[float, ...] | None = None
    learning_rate: float = 0.0005


VARIANTS = (
    Variant("relax"),
    Variant("learning rate 0.002", learning_rate=0.002),
    Variant("start with the needed signs", start=(0.2, -0.2, 0.4, 0.4, 0.4)),
    Variant("start at the needed terms", start=(0.0, -0.9, 0.9, 0.0, 0.9)),
    Variant("a tenth of the simplicity loss", simplicity=0.1),
    Variant("no simplicity loss", simplicity=0.0),
)


def theta(network: RelaxationExecutor):
    return network.specialists[0].relaxation.theta


def network_of(variant: Variant) -> type[RelaxationExecutor]:
    class Network(RelaxationExecutor):
        @classmethod
        def create(cls, algorithms, hidden, key, *processor):
            network = super().create(algorithms, hidden, key, *processor)
            if variant.start is None:
                return network
            spread = theta(network) / jnp.array([0.2, -0.2, 0.4, 0.4, -0.4])  # random factors
            return eqx.tree_at(theta, network, jnp.array([variant.start]) * spread)

        def priors(self, task):
            losses = super().priors(task)
            return {name: variant.simplicity * loss for name, loss in losses.items()}

    return Network


def learn(variant: Variant, folder: Path) -> tuple[dict, Model]:
    """Train a variant; return the lowest validation losses and what the seeds learned."""
    MODELS["relax-variant"] = network_of(variant)
    experiment = Experiment(
        model="relax-variant", target=TARGET, learning_rate=variant.learning_rate
    )
    path, model = train(experiment, SEEDS, data="clrs30", folder=folder / variant.name)
    assert model is not None
    epochs = [json.loads(line) for line in (path / "metrics.jsonl").read_text().splitlines()]
    by_seed = [[e["validation_loss"] for e in epochs if e["seed"] == s] for s in range(SEEDS)]
    lowest = np.array([min(losses) for losses in by_seed])
    learned = theta(model.networks)[:, 0]
    small = jnp.minimum(jnp.abs(learned), SIMPLICITY_CAP)
    simplicity = variant.simplicity * SIMPLICITY * np.asarray(small.sum(axis=1))
    row = {
        "variant": variant.name,
        "validation_loss": lowest.tolist(),
        "without_simplicity": (lowest - simplicity).tolist(),
        "terms": TERMS,
        "weights": np.asarray(sparse_weight(learned)).tolist(),
    }
    return row, model


def score_without_constant(model: Model) -> dict[str, list[float]]:
    """Return micro-F1 on validation graphs of 64 nodes, with and without the constant term."""
    no_constant = theta(model.networks).at[..., 0].set(0.0)
    networks = eqx.tree_at(theta, model.networks, no_constant)
    OFFICIAL_SIZES["validation"] = LARGER
    return {
        name: clrs_scores(each, TASK, "validation")["score"].tolist()
        for name, each in {
            "score": model,
            "score_without_constant": dataclasses.replace(model, networks=networks),
        }.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=RESULTS / "clrs30_simplicity.json")
    arguments = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for variant in VARIANTS:
            row, model = learn(variant, Path(folder))
            rows.append(row)
            print(json.dumps(row), flush=True)
    rows[-1] |= score_without_constant(model)
    write(arguments.out, rows)


if __name__ == "__main__":
    main()
