"""Presets of the grid: datasets and changes to the experiments, by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from algotransfer.datasets.presets import Preset


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
        TINY,
        {"max_epochs": 1, "trajectories": 2, "hidden": 4, "batch_size": 16},
        one_of_each=True,
    ),
}
