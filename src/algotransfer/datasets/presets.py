"""Dataset presets: number and size of the graphs in each split, by name."""

from dataclasses import dataclass

from algotransfer.registry import Registry

PAPER_FAMILIES = ("er", "ba", "grid")


@dataclass(frozen=True)
class Preset:
    """Graphs *of each family* in each split; training and validation share their sizes.

    With `min_nodes`, training and validation graphs have `min_nodes` to `num_nodes` nodes.
    """

    train: int
    validation: int
    test: int
    num_nodes: int = 20
    test_sizes: tuple[int, ...] = (20, 50, 100)
    family: tuple[str, ...] = PAPER_FAMILIES
    min_nodes: int | None = None


PRESETS: Registry[Preset] = Registry(
    "preset",
    {
        "paper": Preset(train=5000, validation=500, test=500),
        "mixed": Preset(train=5000, validation=500, test=500, min_nodes=8),
        "small": Preset(train=200, validation=50, test=50),
    },
)
