"""Run the epochs of a training and keep its log, checkpoints and provenance in the run folder."""

import json
import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import numpy as np

from algotransfer.experiment import Experiment
from algotransfer.files import append_whole, write_atomically
from algotransfer.interruptions import held_interruptions
from algotransfer.training.checkpoints import load_checkpoint, save_checkpoint
from algotransfer.training.objective import Examples
from algotransfer.training.program import compile_epoch, start_seeds
from algotransfer.training.progress import Reporter
from algotransfer.training.provenance import ProvenanceRecord
from algotransfer.training.runs import CHECKPOINT, METRICS, WEIGHTS, keep_config


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
        epoch, self.memory = compile_epoch(self.program, self.states, training, validation)
        saved = started = time.monotonic()
        self.record.save(compile=started - began)
        batch_size = self.program.experiment.batch_size
        graphs = len(training) // batch_size * batch_size
        with (
            held_interruptions("stopping after this epoch") as interrupted,
            (self.path / METRICS).open("ab", buffering=0) as metrics,
        ):
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
