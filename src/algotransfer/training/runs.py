"""Run folders: configuration, log, checkpoint and weights of a training.

`runs/<experiment>/<hash>/` with `config.json`, `environment.json`, `metrics.jsonl`,
`checkpoint.npz` while it trains and `weights.npz` once it has ended. The hash names everything
that decides the weights: the experiment, the data and the group of seeds.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import jax
import numpy as np

from algotransfer.algorithms import get_algorithm
from algotransfer.array_files import load_arrays, save_arrays
from algotransfer.checksums import is_damaged
from algotransfer.datasets import Splits
from algotransfer.devices import default_device
from algotransfer.errors import UserError, shown
from algotransfer.experiment import MAX_SEEDS, Experiment, fingerprint, first_difference
from algotransfer.files import DamagedFile, ForeignFile, set_aside, write_atomically
from algotransfer.limits import FLOAT32_RANGE, MAX_FLOAT, is_positive
from algotransfer.networks.executor import Executor
from algotransfer.registry import REGISTER_FIRST, UnknownName
from algotransfer.trained_models import WEIGHTS, find_weights, read_config
from algotransfer.training.examples import network_of
from algotransfer.training.named_arrays import from_arrays, to_arrays
from algotransfer.training.transfer import METHODS, transfer
from algotransfer.type_checks import check_fields

CHECKPOINT = "checkpoint.npz"
METRICS = "metrics.jsonl"
FORMAT = "algotransfer weights 1"
ROOT = Path(__file__).parents[3]  # root of the repository, if the package runs from a checkout
COMMIT = "ALGOTRANSFER_COMMIT"  # the commit, where the code runs without its git history


@dataclass(frozen=True)
class Model:
    """Trained networks of one experiment, one for each seed.

    **Arguments:**

    - `networks`: the weights, with the seeds in front of every array.
    - `card`: what is known about them: data, epochs, validation losses, divergence.
    """

    experiment: Experiment
    seeds: tuple[int, ...]
    networks: Executor
    card: dict[str, Any]

    def __post_init__(self):
        check_fields(self)

    def network(self, seed: int) -> Executor:
        """Return the network of one seed."""
        index = self.index(seed)
        # On the host: JAX would compile a program for the slice of each shape.
        return jax.device_put(jax.tree.map(lambda leaf: np.asarray(leaf)[index], self.networks))

    def index(self, seed: int) -> int:
        """Return the position of a seed among the model's seeds."""
        if seed not in self.seeds:
            raise UserError(f"no seed {seed}; this model has seeds {list(self.seeds)}")
        return self.seeds.index(seed)

    @property
    def diverged(self) -> tuple[bool, ...]:
        """For each seed, whether its training ended in NaN or infinity."""
        return tuple(self.card["diverged"])


def configuration(experiment: Experiment, seeds: tuple[int, ...], splits: Splits) -> dict[str, Any]:
    """Return everything that determines the weights of a run, as JSON values."""
    data = {"train": splits.train.arguments, "validation": splits.validation.arguments}
    config = {"experiment": experiment.to_json(), "seeds": list(seeds), "data": data}
    return json.loads(json.dumps(config))


def run_folder(root: str | Path, experiment: Experiment, config: dict[str, Any]) -> Path:
    """Return the folder of a run; equal configurations share it."""
    return Path(root) / experiment.name / fingerprint(config)


def keep_config(folder: Path, config: dict[str, Any]) -> None:
    """Write the configuration of a run, unless it exists."""
    path = folder / "config.json"
    if read_config(folder) == config:
        return
    if path.exists():
        set_aside(path, f"{path} is damaged")
    write_json(path, config)


def check_weights(path: Path, config: dict[str, Any]) -> None:
    """Raise unless a file holds intact weights of a run with this configuration."""
    theirs = card_configuration(load_arrays(path)[1])
    if theirs != config:
        difference = first_difference(theirs, config)
        raise ForeignFile(f"{path} belongs to another configuration: {difference}")


def card_configuration(card: dict[str, Any]) -> dict[str, Any]:
    """Return the configuration of the run whose weights have this card."""
    return {name: card.get(name) for name in ("experiment", "seeds", "data")}


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write indented JSON atomically."""
    write_atomically(path, (json.dumps(content, indent=1, sort_keys=True) + "\n").encode())


def environment() -> dict[str, Any]:
    """Return versions, device, commit and command for provenance; never part of a hash."""
    packages = ("algotransfer", "jax", "jaxlib", "equinox", "optax", "numpy")
    device = default_device()
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {name: _version(name) for name in packages},
        "device": {"kind": device.device_kind, "platform": device.platform},
        "commit": _commit(),
        "command": [Path(word).name if os.sep in word else word for word in sys.argv],
    }


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def _commit() -> str | None:
    if COMMIT in os.environ:
        return os.environ[COMMIT]
    if not (ROOT / ".git").exists():  # an installed package may lie inside another repository
        return None
    try:
        answer = subprocess.run(
            ["git", "rev-parse", "HEAD"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return None  # no commit yet, or no git
    return answer.stdout.strip()


def network_shapes(experiment: Experiment, num_seeds: int) -> Executor:
    """Return the pytree of an experiment's networks, with shapes instead of arrays."""

    def build(key):
        network = network_of(experiment, key)
        (processor,) = network.processors
        return transfer(METHODS[experiment.method], network, processor)

    keys = jax.eval_shape(lambda: jax.random.split(jax.random.key(0), num_seeds))
    return jax.eval_shape(jax.vmap(build), keys)


def save_model(path: Path, model: Model) -> str:
    """Write weights and their card; return the hash of the content."""
    header = {
        "format": FORMAT,
        "experiment": model.experiment.to_json(),
        "seeds": list(model.seeds),
        **model.card,
    }
    return save_arrays(path, to_arrays(model.networks), header)


def load_model(source: str | Path | Model) -> Model:
    """Load trained networks.

    **Arguments:**

    - `source`: a run folder, a weights file, or a name (`algotransfer list models` shows them); a
        `Model` is returned as it is.
    """
    if isinstance(source, Model):
        return source
    path = find_weights(source)
    arrays, card = load_arrays(path)
    if card.get("format") != FORMAT:
        raise UserError(
            f"{path} is not a weights file of this version: its format is "
            f"{card.get('format')!r:.80}, expected {FORMAT!r}"
        )
    try:
        experiment, seeds = _check_card(card)
    except UnknownName as error:
        raise UserError(f"{path} cannot be loaded: {error}; {REGISTER_FIRST}") from error
    except ValueError as error:
        raise UserError(f"{path} is not a weights file that can be used: {error}") from error
    like = network_shapes(experiment, len(seeds))
    networks = from_arrays(like, arrays, f"{path}")
    return Model(experiment, seeds, networks, card)


def _check_card(card: dict[str, Any]) -> tuple[Experiment, tuple[int, ...]]:
    """Remove experiment and seeds from a card, and check its other entries."""
    experiment = Experiment.from_json(card.pop("experiment", None))
    for name in {name for name, _ in experiment.tasks} | {*experiment.base}:
        get_algorithm(name)
    seeds, diverged = card.pop("seeds", None), card.get("diverged")
    whole = isinstance(seeds, list) and all(type(seed) is int for seed in seeds)
    if not whole or not 1 <= len(seeds) <= MAX_SEEDS:
        raise UserError(f"its seeds are {seeds!r:.80}, expected a list of whole numbers")
    if not isinstance(diverged, list) or len(diverged) != len(seeds):
        raise UserError("its card does not say which of its seeds diverged")
    infinity: Any = card.get("infinity")
    numbers = isinstance(infinity, list) and len(infinity) == len(experiment.tasks)
    if not numbers or not all(type(v) in (int, float) and is_positive(v) for v in infinity):
        raise UserError(
            f"what stands for ∞ is {shown(infinity)}, expected a number above 0, {FLOAT32_RANGE}, "
            f"for each of its {len(experiment.tasks)} tasks"
        )
    weights = card.get("weights", [])
    numbers = isinstance(weights, list) and all(
        type(v) in (int, float) and abs(v) <= MAX_FLOAT for v in weights
    )
    if not numbers or len(weights) not in (0, 2):
        raise UserError(f"its range of weights is {shown(weights)}, expected two numbers")
    graphs = card.get("graphs", {})
    if not isinstance(graphs, dict) or not all(isinstance(text, str) for text in graphs.values()):
        raise UserError(f"hashes of its graphs are {shown(graphs)}, expected one text per split")
    if not isinstance(card.get("data"), dict) or not isinstance(card["data"].get("train"), dict):
        raise UserError("its card does not say what data it was trained on")
    return experiment, tuple(seeds)


def finished_model(folder: Path, config: dict[str, Any]) -> Model | None:
    """Return the model of a finished run; None without intact weights of this configuration.

    Damaged weights and weights of another run are set aside, so that training makes them again. A
    damaged log is set aside too; only another training could make it again, and nothing depends on
    it.
    """
    if not (folder / WEIGHTS).exists():
        return None
    if is_damaged(folder / METRICS):
        then = "the weights are not concerned; only training without --resume makes it again"
        set_aside(folder / METRICS, f"{folder / METRICS} is damaged", then)
    keep_config(folder, config)
    try:
        check_weights(folder / WEIGHTS, config)
        return load_model(folder)
    except (DamagedFile, ForeignFile) as error:
        set_aside(folder / WEIGHTS, error)
        return None


def is_finished(folder: Path) -> bool:
    """Return whether a run has ended and its weights, configuration and log are intact."""
    config = read_config(folder)
    if config is None or is_damaged(folder / METRICS):
        return False
    try:
        check_weights(folder / WEIGHTS, config)
    except (DamagedFile, ForeignFile, FileNotFoundError):
        return False
    return True
