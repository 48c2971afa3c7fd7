"""`make_splits`: the training, validation and test datasets of a preset."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from algotransfer.datasets.dataset import Dataset
from algotransfer.datasets.presets import PRESETS, ClrsPreset, Preset


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
