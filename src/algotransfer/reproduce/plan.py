"""Steps that train and evaluate experiments of the grid."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from algotransfer.experiment import Experiment, check_seeds
from algotransfer.registry import check_name
from algotransfer.reproduce.grid import one_of_each
from algotransfer.reproduce.grid_presets import GRID_PRESETS
from algotransfer.reproduce.steps import EvaluateStep, Step, TrainStep


def plan(experiments: Sequence[Experiment], seeds: int = 3, preset: str = "paper") -> list[Step]:
    """Return the evaluation steps of the experiments, in their order.

    **Arguments:**

    - `preset`: `paper`, or `quick` and `smoke` with less data and fewer epochs; `smoke` takes one
        experiment of each framework, network and method.
    """
    check_name("preset", preset, GRID_PRESETS)
    size = GRID_PRESETS[preset]
    chosen = one_of_each(experiments) if size.one_of_each else experiments
    group = tuple(range(check_seeds(seeds)))
    return [
        EvaluateStep(TrainStep(dataclasses.replace(experiment, **size.changes), group, size.data))
        for experiment in chosen
    ]
