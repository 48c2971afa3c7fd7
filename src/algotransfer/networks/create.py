"""Create a network by the names of its executor and its processor."""

from __future__ import annotations

from jaxtyping import PRNGKeyArray

from algotransfer.algorithms import Algorithm
from algotransfer.networks.executor import Executor
from algotransfer.networks.registry import MODELS, PROCESSORS


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
    return MODELS[model].create(algorithms, hidden, key, PROCESSORS[processor])
