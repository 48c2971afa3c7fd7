"""`make_splits`: the training, validation and test datasets of a preset."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from algotransfer.datasets.dataset import Dataset, make_dataset
from algotransfer.datasets.presets import PRESETS, Preset


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


def make_splits(preset: str | Preset = "paper", seed: int = 0) -> Splits:
    """Make the datasets of a preset; they share no random numbers.

    **Arguments:**

    - `preset`: `paper` (15,000 training graphs of 20 nodes), `mixed` (15,000 of 8 to 20 nodes),
        `small` or a `Preset`.
    """
    if isinstance(preset, str):
        preset = PRESETS[preset]

    def split(name: str, num_graphs: int, num_nodes: int, min_nodes: int | None = None) -> Dataset:
        return make_dataset(
            preset.family, num_graphs, num_nodes, seed, split=name, min_nodes=min_nodes
        )

    return Splits(
        train=split("train", preset.train, preset.num_nodes, preset.min_nodes),
        validation=split("validation", preset.validation, preset.num_nodes, preset.min_nodes),
        test={size: split("test", preset.test, size) for size in preset.test_sizes},
    )
