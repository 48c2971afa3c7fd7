"""Trained models by name: weights in the package and run folders. Importable without jax."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

from algotransfer.algorithms.registry import ALGORITHMS
from algotransfer.array_files import load_card
from algotransfer.errors import UserError
from algotransfer.experiment import Experiment, fingerprint
from algotransfer.files import notify
from algotransfer.registry import REGISTER_FIRST, NotRegistered, UnknownName, check_name, nearest

WEIGHTS = "weights.npz"
RUNS = "runs"  # the default folder of runs


class TrainedModel(NamedTuple):
    """A trained model that can be loaded by its name.

    **Arguments:**

    - `name`: what `load_model` and the command line take.
    - `path`: the weights file, or the run folder.
    """

    name: str
    path: Path
    experiment: Experiment
    seeds: tuple[int, ...]


def list_models(target: str | None = None, folder: str | Path = RUNS) -> list[TrainedModel]:
    """List the trained models of the package, then those of a folder of runs.

    **Arguments:**

    - `target`: only models that have learned this algorithm.
    - `folder`: folder of runs; it may be missing. Runs that cannot be loaded, such as those of
        networks that are not registered, are left out with a `Notice`.
    """
    problems: dict[Path, str] = {}
    listed = [*_in_package(), *_in_folder(Path(folder), problems)]
    for run, reason in problems.items():
        notify(f"{run}: {reason}; the run is left out")
    targets = {model.experiment.target for model in listed}
    if target is not None:
        error = UnknownName if target in ALGORITHMS else NotRegistered
        check_name("target of a trained model", target, sorted(targets), error)
    return [model for model in listed if target in (None, model.experiment.target)]


def find_weights(source: str | Path) -> Path:
    """Return the weights file of a model: a path, or a name as in `list_models`.

    A name may be shortened as long as it is the beginning of one name only; a `Notice` has the
    whole name then. Names of the package come before those of run folders.
    """
    path, text = Path(source), str(source)
    if path.is_file():
        return path
    if (path / WEIGHTS).is_file():
        return path / WEIGHTS
    if text in committed_weights():
        return committed_weights()[text]
    if (path / "config.json").is_file():
        raise FileNotFoundError(
            f"{path} has no {WEIGHTS} yet: its training has not ended; "
            "run the same `algotransfer train` command again to go on with it"
        )
    problems: dict[Path, str] = {}
    inside = _in_folder(path.parent, problems) if path.parent != Path() else []
    of_default = _in_folder(Path(RUNS), problems)
    places = (
        {model.name: model for model in _in_package()},
        {model.name: model for model in inside},
        {model.name.removeprefix(f"{RUNS}/"): model for model in of_default},
    )
    for known in places:
        if (model := _match(text, known)) is not None:
            return model.path / WEIGHTS if model.path.is_dir() else model.path
    for run, reason in problems.items():
        names = (f"{run}", f"{run}".replace("-na-", "-"))  # short names have no `na`
        if any(name.startswith((f"{path}", f"{RUNS}/{path}")) for name in names):
            raise UserError(f"{run} cannot be loaded: {reason}")
    if runs := sorted(path.glob(f"*/{WEIGHTS}")):
        listed = ", ".join(str(run.parent) for run in runs[:5]) + ", …" * (len(runs) > 5)
        raise FileNotFoundError(f"{source} is not a run folder; give a run folder in it: {listed}")
    names = [name for known in places for name in known]
    raise FileNotFoundError(
        f"{source} is neither a run folder nor a weights file, nor the name of a trained model"
        f"{nearest(text, names, most=3)}; `algotransfer list models` shows the names"
    )


def _match(text: str, known: Mapping[str, TrainedModel]) -> TrainedModel | None:
    """Return the only model whose name, or file name with a hash, begins with a text, if any."""
    if text in known:
        return known[text]
    matches = [
        model
        for name, model in known.items()
        if name.startswith(text) or model.path.stem.startswith(text)
    ]
    if len(matches) > 1:
        names = ", ".join(model.name for model in matches[:5])
        more = ", …" if len(matches) > 5 else ""
        raise UserError(
            f"{text!r:.80} is the beginning of {len(matches)} names ({names}{more}); give one "
            "of them, see `algotransfer list models`"
        )
    if not matches:
        return None
    notify(f"{text} stands for {matches[0].name}")
    return matches[0]


def committed_weights() -> dict[str, Path]:
    """Return the paths of the weights in the package, by the name of their file."""
    folder = Path(str(resources.files("algotransfer") / "weights"))
    return {path.stem: path for path in sorted(folder.glob("*.npz"))}


def read_config(folder: Path) -> dict[str, Any] | None:
    """Return the configuration of a run, or None if its hash is not the folder's name."""
    try:
        config = json.loads((folder / "config.json").read_bytes())
        return config if fingerprint(config) == folder.name else None
    except (OSError, ValueError, RecursionError):
        return None


@cache
def _in_package() -> tuple[TrainedModel, ...]:
    cards = {path: load_card(path) for path in committed_weights().values()}
    found = ((path, card, path.stem.rpartition("-")[2]) for path, card in cards.items())
    return tuple(_named(found, problems={}))


def _in_folder(folder: Path, problems: dict[Path, str]) -> list[TrainedModel]:
    paths = [path.parent for path in sorted(folder.glob(f"*/*/{WEIGHTS}"))]
    configs = {path: config for path in paths if (config := read_config(path)) is not None}
    named = _named(((path, config, path.name) for path, config in configs.items()), problems)
    return [model._replace(name=f"{folder}/{model.name}") for model in named]


def _named(
    found: Iterable[tuple[Path, dict[str, Any], str]], problems: dict[Path, str]
) -> list[TrainedModel]:
    """Name models by their experiments, and by their hashes too where that is not unique.

    Runs that cannot be loaded are left out, and the reasons added to `problems`.
    """
    models = []
    for path, config, run_hash in found:
        try:
            experiment = Experiment.from_json(config["experiment"])
            models.append((path, experiment, tuple(config["seeds"]), run_hash))
        except (UserError, KeyError, TypeError) as error:
            reason = f"{error}" if isinstance(error, UserError) else "its config.json is incomplete"
            if isinstance(error, UnknownName):
                reason += f"; {REGISTER_FIRST}"
            problems[path] = reason
    count = Counter(experiment.short_name for _, experiment, _, _ in models)

    def name(experiment: Experiment, run_hash: str) -> str:
        short = experiment.short_name
        return short if count[short] == 1 else f"{short}-{run_hash}"

    return [
        TrainedModel(name(experiment, run_hash), path, experiment, seeds)
        for path, experiment, seeds, run_hash in models
    ]
