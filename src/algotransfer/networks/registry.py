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
)

PROCESSORS: Registry[type[Processor]] = Registry(
    "processor", {"max_mpnn": "algotransfer.networks.processors.max_mpnn:MaxMPNN"}
)
