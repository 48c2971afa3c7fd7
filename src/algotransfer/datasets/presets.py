"""Splits by name: the paper's own, and a small set for demonstrations and tests."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from algotransfer.datasets.dataset import Dataset, make_dataset


@dataclass(frozen=True)
class Preset:
    """Graphs per family in each split; training and validation share one size."""

    train: int
    validation: int
    test: int
    num_nodes: int = 20
    test_sizes: tuple[int, ...] = (20, 50, 100)
    graph: tuple[str, ...] = ("er", "ba", "grid")


PRESETS = {
    "paper": Preset(train=5000, validation=500, test=500),
    "small": Preset(train=200, validation=50, test=50),
}


@dataclass(frozen=True, eq=False)
class Splits:
    """A preset's datasets: `train`, `validation` and, by number of nodes, `test`."""

    train: Dataset
    validation: Dataset
    test: dict[int, Dataset]

    def __iter__(self) -> Iterator[tuple[str, Dataset]]:
        """The datasets with their names: `train`, `validation`, `test_20`, …"""
        yield "train", self.train
        yield "validation", self.validation
        for num_nodes, dataset in self.test.items():
            yield f"test_{num_nodes}", dataset


def make_splits(preset: str | Preset = "paper", seed: int = 0) -> Splits:
    """Makes all datasets of a preset; no random number is shared between them.

    **Arguments:**

    - `preset`: `paper` (15,000 training graphs), `small`, or a `Preset` of your own.
    """
    if not isinstance(preset, Preset):
        if preset not in PRESETS:
            raise ValueError(f"no preset {preset!r}; there are {', '.join(PRESETS)}")
        preset = PRESETS[preset]

    def split(name: str, num_graphs: int, num_nodes: int) -> Dataset:
        return make_dataset(preset.graph, num_graphs, num_nodes, seed, split=name)

    return Splits(
        train=split("train", preset.train, preset.num_nodes),
        validation=split("validation", preset.validation, preset.num_nodes),
        test={size: split("test", preset.test, size) for size in preset.test_sizes},
    )
