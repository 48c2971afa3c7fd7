"""Networks by name, and their creation."""

from __future__ import annotations

from jaxtyping import PRNGKeyArray

from algotransfer.algorithms import Algorithm
from algotransfer.names import check_name
from algotransfer.networks.executor import Executor
from algotransfer.networks.ne import NE
from algotransfer.networks.ne_plus_plus import NEPlusPlus
from algotransfer.networks.processors import PROCESSORS
from algotransfer.networks.relax import RelaxationExecutor

MODELS: dict[str, type[Executor]] = {"ne": NE, "ne++": NEPlusPlus, "relax": RelaxationExecutor}


def create_network(
    model: str,
    algorithms: tuple[Algorithm, ...],
    hidden: int,
    key: PRNGKeyArray,
    processor: str = "max_mpnn",
) -> Executor:
    """Return a new network with random weights.

    **Arguments:**

    - `model`: a name in `MODELS`.
    - `hidden`: width of the hidden state.
    - `processor`: a name in `PROCESSORS`.
    """
    check_name("model", model, MODELS)
    check_name("processor", processor, PROCESSORS)
    return MODELS[model].create(algorithms, hidden, key, PROCESSORS[processor])
