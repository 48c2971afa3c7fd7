"""Datasets: graphs with traces, sampled by arguments or preset, or made from given graphs."""

from typing import TYPE_CHECKING

from algotransfer.lazy import make_lazy

if TYPE_CHECKING:
    from algotransfer.datasets.dataset import Dataset as Dataset
    from algotransfer.datasets.dataset import make_dataset as make_dataset
    from algotransfer.datasets.from_graphs import from_graphs as from_graphs
    from algotransfer.datasets.presets import CLRS_TASKS as CLRS_TASKS
    from algotransfer.datasets.presets import PRESETS as PRESETS
    from algotransfer.datasets.presets import Preset as Preset
    from algotransfer.datasets.splits import Splits as Splits
    from algotransfer.datasets.splits import make_splits as make_splits
    from algotransfer.datasets.splits import make_test_sets as make_test_sets
    from algotransfer.datasets.splits import split_dataset as split_dataset
    from algotransfer.datasets.statistics import graph_statistics as graph_statistics
    from algotransfer.datasets.statistics import trace_statistics as trace_statistics
    from algotransfer.datasets.storage import load_dataset as load_dataset
    from algotransfer.datasets.storage import save_dataset as save_dataset

make_lazy(__name__)
