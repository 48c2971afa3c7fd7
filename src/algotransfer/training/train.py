"""`train`: all seeds of an experiment from data to weights, resumable at any moment."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
import operator
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from algotransfer.checksums import write_checksum
from algotransfer.compilation_cache import keep_compiled_programs
from algotransfer.datasets import Splits, make_splits
from algotransfer.devices import find_device, memory_limit
from algotransfer.errors import UserError, shown
from algotransfer.experiment import MAX_SEEDS, Experiment, check_seeds
from algotransfer.files import append_whole, remove_leftovers, write_atomically
from algotransfer.interruptions import held_interruptions
from algotransfer.locks import locked
from algotransfer.training import progress
from algotransfer.training.checkpoints import load_checkpoint, save_checkpoint
from algotransfer.training.examples import (
    make_examples,
    network_of,
    tasks_of,
    typical_infinity,
)
from algotransfer.training.loop import Program, SeedState
from algotransfer.training.objective import Examples
from algotransfer.training.provenance import ProvenanceRecord
from algotransfer.training.runs import (
    CHECKPOINT,
    METRICS,
    WEIGHTS,
    Model,
    configuration,
    finished_model,
    keep_config,
    run_folder,
    save_model,
)
from algotransfer.training.transfer import METHODS, trainable, transfer

CHECKPOINT_SECONDS = 120.0
MEMORY_SHARE = 0.8  # of the device's memory that a program may plan with


def train(
    experiment: Experiment,
    seeds: int | Iterable[int] = 5,
    *,
    data: str | Splits = "paper",
    data_seed: int = 0,
    folder: str | Path = "runs",
    device: str | None = None,
    resume: bool = True,
    show: bool = True,
    track: str | None = None,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
    pause: Callable[[], bool] = lambda: False,
    watchers: Sequence[progress.Reporter] = (),
) -> tuple[Path, Model | None]:
    """Trains all seeds of an experiment in one compiled program, or goes on where it stopped.

    A base model that the experiment starts from is trained first, or found where it was left.

    **Arguments:**

    - `seeds`: how many (0, 1, …), or which.
    - `data`: a preset, or datasets of your own with `train` and `validation`.
    - `folder`: where runs are kept; this one gets a folder named after its content.
    - `device`: `cpu`, `gpu` or None for JAX's default, which is the best there is.
    - `resume`: whether to go on from a checkpoint; otherwise starts again.
    - `track`: `trackio` or `wandb` to follow the training there.
    - `checkpoint_seconds`: time between two checkpoints.
    - `pause`: asked after every epoch; when it says so, a checkpoint is written and training ends.
        An interruption waits for the end of the epoch too.
    - `watchers`: are told about every epoch, beside the bar.

    **Returns:** the run's folder and its model; None in place of the model if it was paused.
    """
    keep_compiled_programs()
    tasks = tasks_of(experiment)
    seeds = _seeds(seeds)
    if not checkpoint_seconds >= 0:
        raise UserError(f"checkpoint_seconds={checkpoint_seconds}; expected 0 or more")
    splits = _splits(data, data_seed)
    config = configuration(experiment, seeds, splits)
    path = run_folder(folder, experiment, config)
    if resume and (model := finished_model(path, config)) is not None:
        return path, model

    bases = None
    pretraining = experiment.pretraining()
    if pretraining is not None:
        base_path, model = train(
            pretraining,
            seeds,
            data=splits,
            folder=folder,
            device=device,
            resume=resume,
            show=show,
            track=track,
            checkpoint_seconds=checkpoint_seconds,
            pause=pause,
        )
        if model is None:
            return base_path, None
        (bases,) = model.networks.processors

    path.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        stack.enter_context(locked(path))
        if resume and (model := finished_model(path, config)) is not None:
            return path, model  # by another process, a moment ago
        remove_leftovers(path)
        stack.enter_context(jax.default_device(find_device(device)))
        stack.enter_context(jax.default_matmul_precision(experiment.precision))
        reporter = progress.bar if show else progress.silent
        reporters = [stack.enter_context(reporter(experiment, len(seeds))), *watchers]
        if track:
            reporters.append(stack.enter_context(progress.tracker(track, experiment, len(seeds))))
        began = time.monotonic()
        infinity = typical_infinity(tasks, splits.train, experiment.infinity)
        training = make_examples(tasks, splits.train, experiment.infinity, experiment.extra_steps)
        validation = make_examples(
            tasks, splits.validation, experiment.infinity, experiment.extra_steps
        )
        if len(training) < experiment.batch_size:
            raise UserError(
                f"{len(training)} training graphs do not fill a batch of {experiment.batch_size}; "
                "use more graphs or a smaller --batch-size"
            )

        program, states = start_seeds(experiment, seeds, bases)
        keep_config(path, config)
        found = load_checkpoint(path, config, states) if resume else None
        if found is None:
            epochs = 0
            for name in (WEIGHTS, CHECKPOINT):  # they would pass for those of this training
                (path / name).unlink(missing_ok=True)
            write_atomically(path / METRICS, b"")
        else:
            states, epochs = found
        record = ProvenanceRecord(path, "training", epochs)
        prepared = time.monotonic()
        epoch, memory = compile_epoch(program, states, training, validation)
        saved = started = time.monotonic()
        record.save(data=prepared - began, compile=started - prepared)
        with (
            held_interruptions("stopping after this epoch") as interrupted,
            (path / METRICS).open("ab", buffering=0) as metrics,
        ):
            while not np.all(states.stopped):
                running = ~np.asarray(states.stopped)
                began = time.monotonic()
                states, report = epoch(states, training, validation)
                report = jax.device_get(report)  # the one wait of an epoch
                seconds = time.monotonic() - began
                epochs += 1
                rows = _rows(seeds, running, epochs, seconds, report)
                append_whole(metrics, "".join(json.dumps(row) + "\n" for row in rows).encode())
                graphs = len(rows) * (len(training) // experiment.batch_size)
                for tell in reporters:
                    tell(rows, graphs * experiment.batch_size / seconds)
                paused = pause() or interrupted()
                if paused or time.monotonic() - saved > checkpoint_seconds:
                    save_checkpoint(path, config, states, epochs)
                    saved = time.monotonic()
                    record.save(epochs, training=saved - started)
                if paused and not np.all(states.stopped):
                    return path, None

        card = {
            "data": config["data"],
            "epochs": np.asarray(states.epoch).tolist(),
            "validation_loss": _finite(states.best_loss),
            "diverged": np.asarray(states.diverged).tolist(),
            "infinity": infinity,
            "memory": memory,
            "horizon": int(jnp.max(training.truths[-1].length)),
        }
        model = Model(experiment, seeds, states.best, card)
        record.save(epochs, training=time.monotonic() - started)
        write_checksum(path / METRICS)
        save_model(path / WEIGHTS, model)
        (path / CHECKPOINT).unlink(missing_ok=True)
        return path, model


def start_seeds(
    experiment: Experiment, seeds: tuple[int, ...], bases: eqx.Module | None = None
) -> tuple[Program, SeedState]:
    """The program of an experiment and its seeds before their first epoch.

    **Arguments:**

    - `bases`: for each seed the processor that it starts from, if its method needs one.
    """
    method = METHODS[experiment.method]

    def build(key, base):
        return transfer(method, network_of(experiment, key), base)

    one_base = jax.tree.map(lambda leaf: leaf[0], bases)
    mask = trainable(method, jax.eval_shape(build, jax.random.key(0), one_base))
    program = Program(experiment, tasks_of(experiment), mask)

    @jax.jit  # also gives weights and best weights buffers of their own, which epochs reuse
    @jax.vmap
    def start(seed, base) -> SeedState:
        key = jax.random.key(seed)
        # What is fresh beside a base must not start where the base of the same seed once did.
        weights = jax.random.fold_in(key, 0 if base is None else 2)
        return program.start(build(weights, base), jax.random.fold_in(key, 1))

    return program, start(jnp.asarray(seeds, jnp.uint32), bases)


def compile_epoch(program: Program, states: SeedState, training: Examples, validation: Examples):
    """Compiles an epoch of all seeds, with the batch in as few pieces as fit into memory.

    **Returns:** the compiled epoch, and the bytes it needs.
    """
    batch_size = program.experiment.batch_size
    limit = MEMORY_SHARE * memory_limit()
    for pieces in (p for p in range(1, batch_size + 1) if batch_size % p == 0):
        program = dataclasses.replace(program, pieces=pieces)
        seeds_at_once = jax.jit(jax.vmap(program.epoch, in_axes=(0, None, None)), donate_argnums=0)
        compiled = seeds_at_once.lower(states, training, validation).compile()
        analysis: Any = compiled.memory_analysis()
        need = int(analysis.temp_size_in_bytes + analysis.argument_size_in_bytes)
        if need <= limit:
            return compiled, need
    raise UserError(
        f"one graph of {training.layouts.num_nodes} nodes with {len(states.epoch)} seeds needs "
        f"{need / 2**30:.1f} GiB, and {limit / 2**30:.1f} GiB may be used; "
        "train fewer seeds at once, or fewer trajectories"
    )


def _seeds(seeds: int | Iterable[int]) -> tuple[int, ...]:
    """The seeds that are meant, as Python's own numbers."""
    if isinstance(seeds, int):
        return tuple(range(check_seeds(seeds)))
    named = tuple(map(operator.index, itertools.islice(seeds, MAX_SEEDS + 1)))
    check_seeds(len(named))
    if len(set(named)) < len(named) or min(named) < 0 or max(named) >= 2**32:
        raise UserError(
            f"seeds {shown(named)}; name one or more different ones, each from 0 to 2**32 - 1"
        )
    return named


def _splits(data: str | Splits, seed: int) -> Splits:
    if isinstance(data, Splits):
        return data
    return make_splits(data, seed)


def _rows(seeds, running, epoch: int, seconds: float, report) -> list[dict[str, Any]]:
    return [
        {
            "epoch": epoch,
            "seed": seed,
            "seconds": round(seconds, 4),
            **{name: _finite(values[k]) for name, values in report.items()},
        }
        for k, seed in enumerate(seeds)
        if running[k]
    ]


def _finite(values):
    """Numbers as JSON knows them: null where there is none."""
    values = np.asarray(values)
    if values.ndim:
        return [_finite(value) for value in values]
    return float(values) if math.isfinite(values) else None
