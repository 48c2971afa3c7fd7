"""Steps that train and evaluate experiments of the grid, and presets of their size."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from algotransfer.datasets.presets import Preset
from algotransfer.experiment import Experiment, check_seeds
from algotransfer.registry import check_name
from algotransfer.reproduce.grid import one_of_each
from algotransfer.reproduce.steps import EvaluateStep, Step, TrainStep


@dataclass(frozen=True)
class GridPreset:
    """Dataset preset, changes to every experiment, and whether to keep one of each kind."""

    data: str | Preset
    changes: Mapping[str, Any] = field(default_factory=dict)
    one_of_each: bool = False


TINY = Preset(train=16, validation=4, test=4, num_nodes=8, test_sizes=(8, 20))

GRID_PRESETS = {
    "paper": GridPreset("paper"),
    "quick": GridPreset("small", {"max_epochs": 40}),
    "smoke": GridPreset(
        TINY, {"max_epochs": 1, "trajectories": 2, "hidden": 4, "batch_size": 16}, one_of_each=True
    ),
}


def plan(experiments: Sequence[Experiment], seeds: int = 3, preset: str = "paper") -> list[Step]:
    """Return the evaluation steps of the experiments, in their order.

    The presets `quick` and `smoke` have less data and fewer epochs; `smoke` takes one experiment of
    each framework, network and method.
    """
    check_name("preset", preset, GRID_PRESETS)
    size = GRID_PRESETS[preset]
    chosen = one_of_each(experiments) if size.one_of_each else experiments
    group = tuple(range(check_seeds(seeds)))
    return [
        EvaluateStep(TrainStep(dataclasses.replace(experiment, **size.changes), group, size.data))
        for experiment in chosen
    ]
