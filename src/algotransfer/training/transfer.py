"""Apply a transfer method to a network: its processors, and which weights learn."""

import equinox as eqx
import jax

from algotransfer.methods import METHODS, TransferMethod
from algotransfer.networks.executor import Executor

__all__ = ["METHODS", "TransferMethod", "trainable", "transfer"]


def transfer(method: TransferMethod, network: Executor, base: eqx.Module | None) -> Executor:
    """Give a new network the processors of its method; `base` is the pre-trained one."""
    (fresh,) = network.processors
    origin = {"fresh": fresh, "base": base}
    processors = tuple(origin[name] for name in method.processors)
    return eqx.tree_at(lambda network: network.processors, network, processors)


def trainable(method: TransferMethod, network: Executor) -> Executor:
    """Return the network's tree with True at every weight that learns, False at frozen ones."""
    mask = jax.tree.map(lambda _: True, network)
    processors = tuple(
        jax.tree.map(lambda _, frozen=frozen: not frozen, processor)
        for processor, frozen in zip(network.processors, method.frozen, strict=True)
    )
    return eqx.tree_at(lambda mask: mask.processors, mask, processors)
