"""Presets: how many graphs of which sizes belong to which split, by name."""

from dataclasses import dataclass

from algotransfer.names import FAMILY_NAMES


@dataclass(frozen=True)
class Preset:
    """Graphs *of each family* in each split; training and validation share one size."""

    train: int
    validation: int
    test: int
    num_nodes: int = 20
    test_sizes: tuple[int, ...] = (20, 50, 100)
    graph: tuple[str, ...] = FAMILY_NAMES


PRESETS = {
    "paper": Preset(train=5000, validation=500, test=500),
    "small": Preset(train=200, validation=50, test=50),
}
