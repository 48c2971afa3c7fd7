"""Works through experiments: trains, evaluates, skips what exists, goes on after a failure."""

from __future__ import annotations

import dataclasses
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from algotransfer.datasets import make_splits
from algotransfer.evaluation.runs import EVALUATION, evaluate, save_evaluation
from algotransfer.experiment import Experiment
from algotransfer.training import train

PRESETS = {  # name -> (data, changes to every experiment)
    "paper": ("paper", {}),
    "quick": ("small", {"max_epochs": 40}),
    "smoke": ("small", {"max_epochs": 1, "trajectories": 2, "hidden": 4}),
}
State = Literal["done", "paused", "failed", "waiting"]


@dataclass(frozen=True)
class Step:
    """What became of one experiment."""

    experiment: Experiment
    state: State
    folder: Path | None = None
    seconds: float = 0.0
    reason: str = ""


def reproduce(
    experiments: Sequence[Experiment],
    seeds: int = 3,
    preset: str = "paper",
    folder: str | Path = "runs",
    device: str | None = None,
    seconds: float | None = None,
    tell: Callable[[Step], None] = lambda step: None,
    show: bool = True,
) -> list[Step]:
    """Trains and evaluates experiments one after the other; finished ones are found, not repeated.

    **Arguments:**

    - `preset`: `paper`, or `quick` and `smoke` with less data and fewer epochs.
    - `seconds`: after this time training pauses; the same call goes on later.
    - `tell`: is told about every experiment once it is done, paused or failed.
    """
    deadline = None if seconds is None else time.monotonic() + seconds
    data, changes = PRESETS[preset]
    splits = make_splits(data)
    steps = []
    for experiment in experiments:
        experiment = dataclasses.replace(experiment, **changes)
        began = time.monotonic()
        if deadline is not None and began > deadline:
            step = Step(experiment, "waiting")
        else:
            try:
                path, model = train(
                    experiment,
                    seeds,
                    data=splits,
                    folder=folder,
                    device=device,
                    show=show,
                    deadline=deadline,
                )
                state: State = "done"
                if model is None:
                    state = "paused"
                elif not (path / EVALUATION).exists():
                    save_evaluation(path, evaluate(model, splits.test))
                step = Step(experiment, state, path, time.monotonic() - began)
            except (ValueError, ArithmeticError, RuntimeError, OSError) as error:
                traceback.print_exc()
                step = Step(experiment, "failed", None, time.monotonic() - began, str(error))
        steps.append(step)
        tell(step)
    return steps
