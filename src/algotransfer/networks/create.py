"""Create a network by the names of its executor and its processor."""

from __future__ import annotations

import inspect

from jaxtyping import PRNGKeyArray

from algotransfer.algorithms import Algorithm
from algotransfer.errors import UserError, shown
from algotransfer.networks.executor import Executor
from algotransfer.networks.processors import Processor
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
    kind = PROCESSORS[processor]
    if not isinstance(kind, type) or not issubclass(kind, Processor) or inspect.isabstract(kind):
        raise UserError(
            f"processor {processor!r} is {getattr(kind, '__name__', shown(kind))}; expected a "
            "subclass of Processor with `create` and `__call__`"
        )
    return MODELS[model].create(algorithms, hidden, key, kind)
