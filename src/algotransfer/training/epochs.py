"""Run the epochs of a training and keep its log, checkpoints and provenance in the run folder.

A checkpoint is the complete state of a training, written atomically. After a kill, `metrics.jsonl`
may have more epochs than the checkpoint. It therefore holds a copy of the log, which is restored.
"""

import json
import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import numpy as np

from algotransfer.array_files import load_arrays, save_arrays
from algotransfer.errors import UserError
from algotransfer.experiment import Experiment, first_difference
from algotransfer.files import DamagedFile, append_whole, set_aside, write_atomically
from algotransfer.interruptions import held_interruptions
from algotransfer.training.named_arrays import from_arrays, to_arrays
from algotransfer.training.objective import Examples
from algotransfer.training.program import SeedState, compile_epoch, start_seeds
from algotransfer.training.progress import Reporter
from algotransfer.training.provenance import ProvenanceRecord
from algotransfer.training.runs import CHECKPOINT, METRICS, WEIGHTS, keep_config

CHECKPOINT_FORMAT = "algotransfer checkpoint 1"


class TrainingRun:
    """A training in the run folder of its configuration: the states of all seeds.

    It starts with new seeds or, on `resume`, from the folder's checkpoint. `bases` are as in
    `start_seeds`.
    """

    def __init__(
        self,
        path: Path,
        config: dict[str, Any],
        experiment: Experiment,
        bases: eqx.Module | None,
        resume: bool,
    ):
        self.path, self.config, self.epochs = path, config, 0
        self.memory = 0  # bytes that the compiled epoch needs
        self.program, self.states = start_seeds(experiment, tuple(config["seeds"]), bases)
        keep_config(path, config)
        found = load_checkpoint(path, config, self.states) if resume else None
        if found is None:
            for name in (WEIGHTS, CHECKPOINT):  # of an earlier training
                (path / name).unlink(missing_ok=True)
            write_atomically(path / METRICS, b"")
        else:
            self.states, self.epochs = found
        self.record = ProvenanceRecord(path, "training", self.epochs)

    def run(
        self,
        training: Examples,
        validation: Examples,
        reporters: Sequence[Reporter],
        checkpoint_seconds: float,
        pause: Callable[[], bool],
    ) -> bool:
        """Train until all seeds have stopped; return False if paused or interrupted before."""
        began = time.monotonic()
        batch_size = self.program.experiment.batch_size
        graphs = len(training) // batch_size * batch_size
        with (
            # Callbacks of JAX, which run while it compiles, ignore a `KeyboardInterrupt`.
            held_interruptions("stopping after this epoch or compilation") as interrupted,
            (self.path / METRICS).open("ab", buffering=0) as metrics,
        ):
            epoch, self.memory = compile_epoch(self.program, self.states, training, validation)
            saved = started = time.monotonic()
            self.record.save(compile=started - began)
            if interrupted():
                return False
            while not np.all(self.states.stopped):
                rows, seconds = self._run_epoch(epoch, training, validation)
                append_whole(metrics, "".join(json.dumps(row) + "\n" for row in rows).encode())
                for report in reporters:
                    report(rows, len(rows) * graphs / seconds)
                paused = pause() or interrupted()
                if paused or time.monotonic() - saved > checkpoint_seconds:
                    save_checkpoint(self.path, self.config, self.states, self.epochs)
                    saved = time.monotonic()
                    self.record.save(self.epochs, training=saved - started)
                if paused and not np.all(self.states.stopped):
                    return False
        self.record.save(self.epochs, training=time.monotonic() - started)
        return True

    def _run_epoch(self, epoch, training: Examples, validation: Examples):
        """Run one epoch; return a row of losses per running seed, and the seconds it took."""
        running = ~np.asarray(self.states.stopped)
        began = time.monotonic()
        self.states, losses = epoch(self.states, training, validation)
        losses = jax.device_get(losses)  # the only wait of an epoch
        seconds = time.monotonic() - began
        self.epochs += 1
        rows = [
            {
                "epoch": self.epochs,
                "seed": seed,
                "seconds": round(seconds, 4),
                **{name: finite(values[k]) for name, values in losses.items()},
            }
            for k, seed in enumerate(self.config["seeds"])
            if running[k]
        ]
        return rows, seconds


def finite(values):
    """Convert an array to JSON numbers, with null for NaN and infinity."""
    values = np.asarray(values)
    if values.ndim:
        return [finite(value) for value in values]
    return float(values) if math.isfinite(values) else None


def save_checkpoint(folder: Path, config: dict[str, Any], states: SeedState, epoch: int) -> None:
    """Write the states of all seeds after an epoch, and a copy of the log."""
    header = {"format": CHECKPOINT_FORMAT, "config": config, "epoch": epoch}
    log = np.frombuffer((folder / METRICS).read_bytes(), np.uint8)
    save_arrays(folder / CHECKPOINT, {**to_arrays(states), METRICS: log}, header)


def load_checkpoint(
    folder: Path, config: dict[str, Any], like: SeedState
) -> tuple[SeedState, int] | None:
    """Return the states to resume from and their number of epochs; None without a checkpoint.

    The log is set back to the same moment. A damaged checkpoint is set aside.
    """
    path = folder / CHECKPOINT
    if not path.exists():
        return None
    try:
        arrays, card = load_arrays(path)
    except DamagedFile as error:
        set_aside(path, error)
        return None
    if card.get("format") != CHECKPOINT_FORMAT:
        raise UserError(
            f"{path} has format {card.get('format')!r:.80}, expected {CHECKPOINT_FORMAT!r}"
        )
    if card["config"] != config:
        raise UserError(
            f"{path} belongs to another configuration: {first_difference(card['config'], config)}; "
            "train into another folder, or remove that one"
        )
    log = arrays.pop(METRICS)
    states = from_arrays(like, arrays, f"{path}")
    write_atomically(folder / METRICS, log.tobytes())
    return states, card["epoch"]
