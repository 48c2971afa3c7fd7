"""`train`: train all seeds of an experiment, from data to weights, resumable at any moment."""

from __future__ import annotations

import itertools
import operator
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path

import jax
import numpy as np

from algotransfer.algorithms.run import check_graphs
from algotransfer.checksums import write_checksum
from algotransfer.compilation_cache import keep_compiled_programs
from algotransfer.datasets import PRESETS, Dataset, Splits, make_splits, split_dataset
from algotransfer.datasets.dataset import graph_hashes
from algotransfer.devices import find_device
from algotransfer.errors import UserError, shown
from algotransfer.experiment import MAX_SEEDS, Experiment, check_seeds
from algotransfer.files import notify, remove_leftovers
from algotransfer.graphs.graph import Graph
from algotransfer.graphs.sampling import MAX_WEIGHT, MIN_WEIGHT
from algotransfer.locks import locked
from algotransfer.training import progress
from algotransfer.training.epochs import TrainingRun, finite
from algotransfer.training.examples import (
    make_examples,
    tasks_of,
    typical_infinity,
    weight_range,
)
from algotransfer.training.runs import (
    CHECKPOINT,
    METRICS,
    WEIGHTS,
    Model,
    configuration,
    finished_model,
    run_folder,
    save_model,
)

VALIDATION_SHARE = 0.1  # of the graphs of a dataset
MAX_HASHED = 20_000  # graphs of a dataset whose hashes are kept with the weights
FAR = 10  # factor between the median weight and the middle of the paper's range


def train(
    experiment: Experiment,
    seeds: int | Iterable[int] = 5,
    *,
    data: str | Dataset | Splits = "paper",
    data_seed: int = 0,
    task: str | None = None,
    validation_share: float | None = None,
    folder: str | Path = "runs",
    device: str | None = None,
    resume: bool = True,
    show: bool = True,
    track: str | None = None,
    checkpoint_seconds: float = 120.0,
    pause: Callable[[], bool] = lambda: False,
    reporters: Sequence[progress.Reporter] = (),
) -> tuple[Path, Model | None]:
    """Train all seeds of an experiment in one compiled program, or resume its training.

    The base model of a transfer method is trained first, unless it exists already.

    **Arguments:**

    - `seeds`: their number (0, 1, …), or the seeds themselves.
    - `data`: a preset, a dataset of your own, or `Splits` with `train` and `validation`.
    - `data_seed`: seed of the graphs of a preset, or of the division of a dataset.
    - `task`: task whose graphs to train on, for presets of CLRS-30; by default the target's.
    - `validation_share`: share of the graphs of a dataset that are used for validation (default:
        0.1).
    - `folder`: folder of all runs; each run has a subfolder named after its configuration.
    - `device`: `cpu`, `gpu`, or None for JAX's default.
    - `resume`: continue from a checkpoint; otherwise start again.
    - `show`: show a progress bar.
    - `track`: also report to `trackio` or `wandb`.
    - `checkpoint_seconds`: time between two checkpoints.
    - `pause`: called after every epoch; if it returns True, a checkpoint is written and training
        ends. An interruption also waits for the end of the epoch.
    - `reporters`: called with the losses of every epoch.

    **Returns:** the run's folder and its model, or None instead of the model if it was paused.
    """
    if not checkpoint_seconds >= 0:
        raise UserError(f"checkpoint_seconds={checkpoint_seconds}; expected 0 or more")
    keep_compiled_programs()
    seeds = _seeds(seeds)
    splits = _splits(experiment, data, data_seed, task, validation_share)
    config = configuration(experiment, seeds, splits)
    path = run_folder(folder, experiment, config)
    if resume and (model := finished_model(path, config)) is not None:
        return path, model
    _check_splits(experiment, splits)
    chosen = find_device(device)
    if track:
        progress.import_tracker(track)  # fail before a folder is made
    _notify_of_scale(experiment, splits.train.graphs)

    bases, pretraining = None, experiment.pretraining()
    if pretraining is not None:
        options = {"device": device, "resume": resume, "show": show, "track": track}
        options |= {"checkpoint_seconds": checkpoint_seconds, "pause": pause}
        base_path, model = train(pretraining, seeds, data=splits, folder=folder, **options)
        if model is None:
            return base_path, None
        (bases,) = model.networks.processors

    path.mkdir(parents=True, exist_ok=True)
    with (
        locked(path),
        jax.default_device(chosen),
        jax.default_matmul_precision(experiment.precision),
        ExitStack() as stack,
    ):
        added = [stack.enter_context(progress.bar(experiment, len(seeds)))] if show else []
        if track:
            added.append(stack.enter_context(progress.tracker(track, experiment)))
        remove_leftovers(path)
        if resume and (model := finished_model(path, config)) is not None:
            return path, model  # by another process, a moment ago
        began = time.monotonic()
        infinity = typical_infinity(tasks_of(experiment), splits.train, experiment.infinity)
        training, validation = (
            make_examples(tasks_of(experiment), each, experiment.infinity, experiment.extra_steps)
            for each in (splits.train, splits.validation)
        )
        run = TrainingRun(path, config, experiment, bases, resume)
        run.record.save(data=time.monotonic() - began)
        if not run.run(training, validation, [*reporters, *added], checkpoint_seconds, pause):
            return path, None
        card = {
            "data": config["data"],
            "epochs": np.asarray(run.states.epoch).tolist(),
            "validation_loss": finite(run.states.best_loss),
            "diverged": np.asarray(run.states.diverged).tolist(),
            "infinity": infinity,
            "memory": run.memory,
            "horizon": int(np.max(training.truths[-1].length)),
            "weights": weight_range(splits.train.graphs),
            "graphs": _hashes_of_own_graphs(splits),
        }
        model = Model(experiment, seeds, run.states.best, card)
        write_checksum(path / METRICS)
        save_model(path / WEIGHTS, model)
        (path / CHECKPOINT).unlink(missing_ok=True)
        return path, model


def _notify_of_scale(experiment: Experiment, graphs: Graph) -> None:
    """Warn of weights far from those that the initial weights of the networks suit."""
    algorithms = [task.algorithm for task in tasks_of(experiment) if task.algorithm.weighted]
    weights = np.asarray(graphs.weights)[np.asarray(graphs.edge_mask())]
    scalable = algorithms and all(algorithm.scaling is not None for algorithm in algorithms)
    median = float(np.median(weights)) if scalable and weights.size else 0.0
    factor = median / ((MIN_WEIGHT + MAX_WEIGHT) / 2)
    if factor <= 0 or 1 / FAR <= factor <= FAR:
        return
    change = f"divide them by {float(f'{factor:.1g}'):,g}"
    if factor < 1:
        change = f"multiply them by {float(f'{1 / factor:.1g}'):,g}"
    notify(
        f"weights go from {weights.min():.4g} to {weights.max():.4g}, with a median of "
        f"{median:.4g}; the settings suit weights near 1 ({MIN_WEIGHT:g} to {MAX_WEIGHT:g} in the "
        f"paper): {change}"
    )


def _check_splits(experiment: Experiment, splits: Splits) -> None:
    """Raise a `UserError` unless an experiment can be trained on these graphs."""
    for task in tasks_of(experiment):
        for dataset in (splits.train, splits.validation):
            check_graphs(task.algorithm, dataset.graphs)
    if len(splits.train) < experiment.batch_size:
        raise UserError(
            f"{len(splits.train)} training graphs do not fill a batch of {experiment.batch_size}; "
            "use more graphs or a smaller --batch-size"
        )


def _hashes_of_own_graphs(splits: Splits) -> dict[str, str]:
    """Return hashes of the graphs of each split, to recognise them; not of sampled graphs."""
    own = {
        name: split
        for name, split in (("train", splits.train), ("validation", splits.validation))
        if "split" not in split.arguments and len(split) <= MAX_HASHED
    }
    return {name: "".join(graph_hashes(split.graphs)) for name, split in own.items()}


def _splits(
    experiment: Experiment,
    data: str | Dataset | Splits,
    seed: int,
    task: str | None,
    validation_share: float | None,
) -> Splits:
    """Return the datasets to train on."""
    if task is not None and not isinstance(data, str):
        raise UserError(f"task={shown(task)} belongs to presets of CLRS-30; leave it out")
    if isinstance(data, Dataset):
        share = VALIDATION_SHARE if validation_share is None else validation_share
        return split_dataset(data, share, seed)
    if validation_share is not None:
        raise UserError(
            f"validation_share={validation_share} divides a dataset; leave it out with a preset or "
            "with Splits, which have validation graphs"
        )
    if isinstance(data, Splits):
        return data
    if data not in PRESETS and Path(data).suffix:
        raise UserError(
            f"data is {shown(data)}, a file name; expected a preset or a dataset: pass "
            f"load_dataset({shown(data)}) for a data file (.npz), or from_graphs([…]) for graph "
            "files"
        )
    return make_splits(data, seed, task or PRESETS[data].default_task(experiment.target))


def _seeds(seeds: int | Iterable[int]) -> tuple[int, ...]:
    """Return the seeds as Python integers."""
    if isinstance(seeds, int):
        return tuple(range(check_seeds(seeds)))
    try:
        named = tuple(map(operator.index, itertools.islice(seeds, MAX_SEEDS + 1)))
    except TypeError as error:
        raise UserError(f"seeds {shown(seeds)}; expected whole numbers") from error
    check_seeds(len(named))
    if len(set(named)) < len(named) or min(named) < 0 or max(named) >= 2**32:
        raise UserError(f"seeds {shown(named)}; expected different ones, each from 0 to 2**32 - 1")
    return named
