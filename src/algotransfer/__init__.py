"""Learn graph algorithms from inputs and outputs, with the steps of other algorithms as a guide.

The public names below load their module on first use, so `import algotransfer` is immediate.
"""

from typing import TYPE_CHECKING

from algotransfer.lazy import make_lazy
from algotransfer.type_checks import check_arguments

if TYPE_CHECKING:
    from algotransfer.algorithms import ALGORITHMS as ALGORITHMS
    from algotransfer.algorithms import Algorithm as Algorithm
    from algotransfer.algorithms import Trace as Trace
    from algotransfer.algorithms import run as run
    from algotransfer.bridges.pyg import to_pyg as to_pyg
    from algotransfer.bridges.to_clrs import to_clrs as to_clrs
    from algotransfer.bridges.to_torch import to_torch as to_torch
    from algotransfer.bridges.to_torch_dataset import to_torch_dataset as to_torch_dataset
    from algotransfer.datasets import Dataset as Dataset
    from algotransfer.datasets import from_graphs as from_graphs
    from algotransfer.datasets import load_dataset as load_dataset
    from algotransfer.datasets import make_dataset as make_dataset
    from algotransfer.datasets import make_splits as make_splits
    from algotransfer.datasets import save_dataset as save_dataset
    from algotransfer.datasets import split_dataset as split_dataset
    from algotransfer.draw import draw_trace as draw_trace
    from algotransfer.errors import UserError as UserError
    from algotransfer.evaluation import evaluate as evaluate
    from algotransfer.evaluation.execute import execute as execute
    from algotransfer.experiment import Experiment as Experiment
    from algotransfer.explorer import explore as explore
    from algotransfer.graphs import Graph as Graph
    from algotransfer.graphs import from_networkx as from_networkx
    from algotransfer.graphs import from_pyg as from_pyg
    from algotransfer.graphs import from_scipy as from_scipy
    from algotransfer.graphs import read_graph as read_graph
    from algotransfer.graphs import sample_graphs as sample_graphs
    from algotransfer.graphs import to_networkx as to_networkx
    from algotransfer.graphs import to_scipy as to_scipy
    from algotransfer.graphs import write_graph as write_graph
    from algotransfer.paper import paper_tables as paper_tables
    from algotransfer.report.compare import compare as compare
    from algotransfer.symbolic import certify as certify
    from algotransfer.symbolic import discover as discover
    from algotransfer.trained_models import list_models as list_models
    from algotransfer.training import Model as Model
    from algotransfer.training import load_model as load_model
    from algotransfer.training import train as train

__version__ = "0.1.0"

make_lazy(__name__, wrap=check_arguments)
