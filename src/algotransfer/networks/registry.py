"""Networks and processors by name. Importable without jax."""

from __future__ import annotations

from typing import TYPE_CHECKING

from algotransfer.registry import Registry

if TYPE_CHECKING:
    from algotransfer.networks.executor import Executor
    from algotransfer.networks.processors import Processor

MODELS: Registry[type[Executor]] = Registry(
    "network",
    {
        "ne": "algotransfer.networks.ne:NE",
        "ne++": "algotransfer.networks.ne_plus_plus:NEPlusPlus",
        "relax": "algotransfer.networks.relax:RelaxationExecutor",
    },
    {
        "ne": ("The Neural Executor: one encoder and one hidden state for all algorithms.",),
        "ne++": ("The Neural Executor++: all weights per algorithm, except the processor.",),
        "relax": ("The relaxation executor: nodes point at their best candidate.",),
    },
)

PROCESSORS: Registry[type[Processor]] = Registry(
    "processor",
    {"max_mpnn": "algotransfer.networks.processors.max_mpnn:MaxMPNN"},
    {"max_mpnn": ("Linear messages, their maximum over neighbours, and a linear update.",)},
)
