"""Halting rules by name. Importable without jax."""

from __future__ import annotations

from typing import TYPE_CHECKING

from algotransfer.registry import Registry

if TYPE_CHECKING:
    from algotransfer.evaluation.halting import HaltingRule

HALTING_RULES: Registry[HaltingRule] = Registry(
    "halting rule",
    {
        "told": "algotransfer.evaluation.halting:told",
        "horizon": "algotransfer.evaluation.halting:at_horizon",
        "settled": "algotransfer.evaluation.halting:settled",
        "termination": "algotransfer.evaluation.halting:termination",
    },
)
