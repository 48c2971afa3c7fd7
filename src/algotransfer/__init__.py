"""Learn graph algorithms from inputs and outputs, with the steps of other algorithms as a guide.

The public names below load their module when first used, so `import algotransfer` is immediate.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from algotransfer.algorithms import ALGORITHMS, Algorithm, Trace, run
    from algotransfer.datasets import (
        Dataset,
        from_graphs,
        load_dataset,
        make_dataset,
        make_splits,
        save_dataset,
    )
    from algotransfer.draw import draw_trace
    from algotransfer.evaluation import evaluate
    from algotransfer.evaluation.execute import execute
    from algotransfer.experiment import Experiment
    from algotransfer.explorer import explore
    from algotransfer.graphs import Graph, read_graph, sample_graphs, write_graph
    from algotransfer.paper import paper_tables
    from algotransfer.training import Model, load_model, train

__version__ = "0.1.0"

__all__ = [
    "ALGORITHMS",
    "Algorithm",
    "Dataset",
    "Experiment",
    "Graph",
    "Model",
    "Trace",
    "draw_trace",
    "evaluate",
    "execute",
    "explore",
    "from_graphs",
    "load_dataset",
    "load_model",
    "make_dataset",
    "make_splits",
    "paper_tables",
    "read_graph",
    "run",
    "sample_graphs",
    "save_dataset",
    "train",
    "write_graph",
]

_MODULE_OF = {
    "ALGORITHMS": "algotransfer.algorithms",
    "Algorithm": "algotransfer.algorithms",
    "Dataset": "algotransfer.datasets",
    "Experiment": "algotransfer.experiment",
    "Graph": "algotransfer.graphs",
    "Model": "algotransfer.training",
    "Trace": "algotransfer.algorithms",
    "draw_trace": "algotransfer.draw",
    "evaluate": "algotransfer.evaluation",
    "execute": "algotransfer.evaluation.execute",
    "explore": "algotransfer.explorer",
    "from_graphs": "algotransfer.datasets",
    "load_dataset": "algotransfer.datasets",
    "load_model": "algotransfer.training",
    "make_dataset": "algotransfer.datasets",
    "make_splits": "algotransfer.datasets",
    "paper_tables": "algotransfer.paper",
    "read_graph": "algotransfer.graphs",
    "run": "algotransfer.algorithms",
    "sample_graphs": "algotransfer.graphs",
    "save_dataset": "algotransfer.datasets",
    "train": "algotransfer.training",
    "write_graph": "algotransfer.graphs",
}


def __getattr__(name: str):
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULE_OF[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
