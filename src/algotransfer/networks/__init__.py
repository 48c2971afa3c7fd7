"""Networks that execute algorithms: layouts, processors, executors (NE, NE++, relax), rollout.

A new network is an `Executor` and a line in `MODELS`, a new processor a `Processor` and a line in
`PROCESSORS`.
"""

from algotransfer.networks.create import MODELS, create_network
from algotransfer.networks.executor import Executor, Memory, edge_kinds, num_features
from algotransfer.networks.heads import Latent
from algotransfer.networks.layouts import Dense, Layout, Sparse, make_layouts
from algotransfer.networks.ne import NE
from algotransfer.networks.ne_plus_plus import NEPlusPlus
from algotransfer.networks.processors import PROCESSORS, EdgeInputs, MaxMPNN, Processor
from algotransfer.networks.relax import RelaxationExecutor
from algotransfer.networks.rollout import Driver, Outcome, State, rollout

__all__ = [
    "MODELS",
    "NE",
    "PROCESSORS",
    "Dense",
    "Driver",
    "EdgeInputs",
    "Executor",
    "Latent",
    "Layout",
    "MaxMPNN",
    "Memory",
    "NEPlusPlus",
    "Outcome",
    "Processor",
    "RelaxationExecutor",
    "Sparse",
    "State",
    "create_network",
    "edge_kinds",
    "make_layouts",
    "num_features",
    "rollout",
]
