"""Train experiments on several seeds; summarise and compare the errors of the seeds."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from algotransfer.datasets import Splits
from algotransfer.experiment import Experiment
from algotransfer.report.statistics import welch_contrast
from algotransfer.training.train import train


def train_each(
    trainings: Iterable[tuple[Experiment, str | Splits]],
    seeds: tuple[int, ...],
    folder: Path,
    seconds: float,
) -> None:
    """Train experiments, each with its data, one after the other until the time is over."""
    deadline = time.monotonic() + seconds
    for experiment, data in trainings:
        path, model = train(
            experiment,
            seeds,
            data=data,
            folder=folder,
            pause=lambda: time.monotonic() > deadline,
            checkpoint_seconds=60,
            show=False,
        )
        print(f"{experiment.name}: {'paused' if model is None else path}", flush=True)
        if model is None:
            break


def spread(errors, digits: int) -> dict:
    """Return the number of seeds, their median and their range, rounded."""
    return {
        "seeds": len(errors),
        "median": round(float(np.median(errors)), digits),
        "lowest": round(float(errors.min()), digits),
        "highest": round(float(errors.max()), digits),
    }


def error_ratio(errors: np.ndarray, others: np.ndarray) -> dict:
    """Return the ratio of geometric mean errors, and its 95 % interval (Welch)."""
    contrast = welch_contrast([np.log(errors), -np.log(others)])
    return {
        "ratio": round(math.exp(contrast.estimate), 3),
        "interval": [round(math.exp(bound), 3) for bound in contrast.interval()],
    }
