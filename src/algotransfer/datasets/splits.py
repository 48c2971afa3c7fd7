"""`make_splits`, `split_dataset`: datasets for training, validation and testing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from algotransfer.datasets.dataset import Dataset
from algotransfer.datasets.presets import PRESETS, ClrsPreset, Preset
from algotransfer.errors import UserError
from algotransfer.graphs.streams import Stream


@dataclass(frozen=True, eq=False)
class Splits:
    """Datasets for training and validation, and for testing by number of nodes."""

    train: Dataset
    validation: Dataset
    test: dict[int, Dataset]

    def __iter__(self) -> Iterator[tuple[str, Dataset]]:
        """Iterate over names and datasets: `train`, `validation`, `test_20`, …"""
        yield "train", self.train
        yield "validation", self.validation
        for num_nodes, dataset in self.test.items():
            yield f"test_{num_nodes}", dataset


def make_test_sets(
    preset: str | Preset | ClrsPreset = "paper", seed: int = 0, task: str | None = None
) -> dict[int, Dataset]:
    """Make the test sets of a preset, by number of nodes; see `make_splits`."""
    if isinstance(preset, str):
        preset = PRESETS[preset]
    counts = preset.test_counts
    return {size: preset.make_split("test", counts[size], size, seed, task) for size in counts}


def make_splits(
    preset: str | Preset | ClrsPreset = "paper", seed: int = 0, task: str | None = None
) -> Splits:
    """Make the datasets of a preset; they share no random numbers.

    **Arguments:**

    - `preset`: `paper` (15,000 training graphs of 20 nodes), `mixed` (15,000 of 8 to 20 nodes),
        `small`, `clrs30` (the official splits of a task of CLRS-30), `clrs30_wide` (the same with
        more and larger test graphs), or a `Preset`.
    - `task`: a name of `CLRS_TASKS`, for the presets of CLRS-30.
    """
    if isinstance(preset, str):
        preset = PRESETS[preset]

    nodes = preset.num_nodes
    return Splits(
        train=preset.make_split("train", preset.train, nodes, seed, task),
        validation=preset.make_split("validation", preset.validation, nodes, seed, task),
        test=make_test_sets(preset, seed, task),
    )


def split_dataset(dataset: Dataset, validation_share: float = 0.1, seed: int = 0) -> Splits:
    """Divide a dataset at random into graphs for training and for validation.

    **Arguments:**

    - `validation_share`: the share of graphs for validation, at least one.
    - `seed`: seed of the division; equal arguments give equal parts on every machine.
    """
    count = max(1, round(validation_share * len(dataset))) if 0 < validation_share < 1 else 0
    if not 0 < count < len(dataset):
        raise UserError(
            f"validation_share={validation_share} of {len(dataset)} graphs; expected a number "
            "between 0 and 1 that leaves at least one graph for training and one for validation"
        )
    stream = Stream(seed, "validation", "", dataset.num_nodes, "division")
    order = stream.permutations(1, len(dataset))[0]
    return Splits(
        train=dataset.part(np.sort(order[count:])),
        validation=dataset.part(np.sort(order[:count])),
        test={},
    )
