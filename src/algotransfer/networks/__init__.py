"""The paper's two networks and one beyond, on dense and sparse graphs, and their rollout.

A network of one's own is an `Executor` and a line in `MODELS`.
"""

from algotransfer.networks.executor import Executor, edge_kinds, num_features
from algotransfer.networks.layouts import Dense, Layout, Sparse, make_layouts
from algotransfer.networks.ne import NE
from algotransfer.networks.ne_plus_plus import NEPlusPlus
from algotransfer.networks.parts import Latent, Processor
from algotransfer.networks.relax import RelaxationExecutor
from algotransfer.networks.rollout import Driver, Outcome, State, rollout

MODELS: dict[str, type[NE] | type[NEPlusPlus] | type[RelaxationExecutor]] = {
    "ne": NE,
    "ne++": NEPlusPlus,
    "relax": RelaxationExecutor,
}

__all__ = [
    "MODELS",
    "NE",
    "Dense",
    "Driver",
    "Executor",
    "Latent",
    "Layout",
    "NEPlusPlus",
    "Outcome",
    "Processor",
    "RelaxationExecutor",
    "Sparse",
    "State",
    "edge_kinds",
    "make_layouts",
    "num_features",
    "rollout",
]
