"""From experiments of the grid to the steps that lead to their tables."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from algotransfer.experiment import Experiment, check_seeds
from algotransfer.registry import check_name
from algotransfer.reproduce.grid import experiments_by_table, one_of_each
from algotransfer.reproduce.grid_presets import GRID_PRESETS
from algotransfer.reproduce.steps import DataStep, EvaluateStep, Step, TableStep, TrainStep


def plan(experiments: Sequence[Experiment], seeds: int = 3, preset: str = "paper") -> list[Step]:
    """Evaluations of all experiments in their order, then the tables that are complete with them.

    **Arguments:**

    - `preset`: `paper`, or `quick` and `smoke` with less data and fewer epochs; `smoke` takes one
        experiment of each kind.
    """
    check_name("preset", preset, GRID_PRESETS)
    size = GRID_PRESETS[preset]
    chosen = one_of_each(experiments) if size.one_of_each else experiments
    data, group = DataStep(size.data), tuple(range(check_seeds(seeds)))
    steps = {
        experiment: EvaluateStep(
            TrainStep(dataclasses.replace(experiment, **size.changes), group, data)
        )
        for experiment in chosen
    }
    tables = [
        TableStep(name, tuple(steps[experiment] for experiment in printed))
        for name, printed in experiments_by_table().items()
        if all(experiment in steps for experiment in printed)
    ]
    return [*steps.values(), *tables]
