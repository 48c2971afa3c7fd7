"""Networks that execute algorithms: layouts, processors, executors (NE, NE++, relax), rollout."""

from typing import TYPE_CHECKING

from algotransfer.lazy import make_lazy

if TYPE_CHECKING:
    from algotransfer.networks.create import create_network as create_network
    from algotransfer.networks.executor import Executor as Executor
    from algotransfer.networks.executor import Memory as Memory
    from algotransfer.networks.executor import edge_kinds as edge_kinds
    from algotransfer.networks.heads import Latent as Latent
    from algotransfer.networks.layouts import Dense as Dense
    from algotransfer.networks.layouts import Layout as Layout
    from algotransfer.networks.layouts import Sparse as Sparse
    from algotransfer.networks.layouts import make_layouts as make_layouts
    from algotransfer.networks.ne import NE as NE
    from algotransfer.networks.ne_plus_plus import NEPlusPlus as NEPlusPlus
    from algotransfer.networks.processors import EdgeInputs as EdgeInputs
    from algotransfer.networks.processors import MaxMPNN as MaxMPNN
    from algotransfer.networks.processors import Processor as Processor
    from algotransfer.networks.registry import MODELS as MODELS
    from algotransfer.networks.registry import PROCESSORS as PROCESSORS
    from algotransfer.networks.relax import RelaxationExecutor as RelaxationExecutor
    from algotransfer.networks.rollout import Driver as Driver
    from algotransfer.networks.rollout import Outcome as Outcome
    from algotransfer.networks.rollout import State as State
    from algotransfer.networks.rollout import rollout as rollout

make_lazy(__name__)
