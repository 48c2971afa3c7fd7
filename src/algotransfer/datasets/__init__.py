"""Datasets: graphs with traces, sampled by arguments or by preset, or made of one's own graphs.

A name loads its module when first used: presets can be listed without importing jax.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from algotransfer.datasets.dataset import Dataset, make_dataset
    from algotransfer.datasets.from_graphs import from_graphs
    from algotransfer.datasets.presets import PRESETS, Preset
    from algotransfer.datasets.splits import Splits, make_splits
    from algotransfer.datasets.statistics import graph_statistics, trace_statistics
    from algotransfer.datasets.storage import load_dataset, save_dataset

__all__ = [
    "PRESETS",
    "Dataset",
    "Preset",
    "Splits",
    "from_graphs",
    "graph_statistics",
    "load_dataset",
    "make_dataset",
    "make_splits",
    "save_dataset",
    "trace_statistics",
]

_MODULE_OF = {
    "PRESETS": "presets",
    "Dataset": "dataset",
    "Preset": "presets",
    "Splits": "splits",
    "from_graphs": "from_graphs",
    "graph_statistics": "statistics",
    "load_dataset": "storage",
    "make_dataset": "dataset",
    "make_splits": "splits",
    "save_dataset": "storage",
    "trace_statistics": "statistics",
}


def __getattr__(name: str):
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    globals()[name] = value  # the submodule `from_graphs` would hide the function
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
