"""The two networks of the paper, on dense and sparse graphs, and the rollout that runs them."""

from algotransfer.networks.executors import MODELS, NE, Executor, Latent, NEPlusPlus, Processor
from algotransfer.networks.layouts import Dense, Layout, Sparse, make_layouts
from algotransfer.networks.rollout import Driver, Outcome, State, rollout

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
    "Sparse",
    "State",
    "make_layouts",
    "rollout",
]
