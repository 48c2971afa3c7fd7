"""Transfer methods as data: which processors the target network has, and which of them learn.

Adding a method is one entry of `METHODS` (and its name in `experiment.Method`).
"""

from __future__ import annotations

from dataclasses import dataclass

import equinox as eqx
import jax

from algotransfer.networks.executor import Executor
from algotransfer.networks.parts import Processor


@dataclass(frozen=True)
class TransferMethod:
    """How a target network is put together.

    **Arguments:**

    - `processors`: where each processor comes from, `fresh` or `base`; their outputs are summed.
    - `frozen`: for each processor, whether it stays exactly as it is.
    - `joint`: whether the base algorithms are trained together with the target.
    """

    processors: tuple[str, ...] = ("fresh",)
    frozen: tuple[bool, ...] = (False,)
    joint: bool = False


METHODS: dict[str, TransferMethod] = {
    "none": TransferMethod(),
    "freeze": TransferMethod(("base",), (True,)),
    "fine_tune": TransferMethod(("base",), (False,)),
    "two_processor": TransferMethod(("base", "fresh"), (True, False)),
    "multitask": TransferMethod(joint=True),
}


def transfer(method: TransferMethod, network: Executor, base: Processor | None) -> Executor:
    """Gives a fresh network the processors of its method.

    **Arguments:**

    - `base`: the processor that was trained on the base algorithms.
    """
    (fresh,) = network.processors
    origin = {"fresh": fresh, "base": base}
    processors = tuple(origin[name] for name in method.processors)
    return eqx.tree_at(lambda network: network.processors, network, processors)


def trainable(method: TransferMethod, network: Executor) -> Executor:
    """The network's tree with True at every weight that learns, False at the frozen ones."""
    mask = jax.tree.map(lambda _: True, network)
    processors = tuple(
        jax.tree.map(lambda _, frozen=frozen: not frozen, processor)
        for processor, frozen in zip(network.processors, method.frozen, strict=True)
    )
    return eqx.tree_at(lambda mask: mask.processors, mask, processors)
