"""Supervisions by name. Importable without jax; the classes are in `training/supervision.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from algotransfer.registry import Registry

if TYPE_CHECKING:
    from algotransfer.training.supervision import Supervision

SUPERVISIONS: Registry[Supervision] = Registry(
    "supervision",
    {
        "tf": "algotransfer.training.supervision:teacher_forcing",
        "na": "algotransfer.training.supervision:no_algorithm",
    },
    {
        "tf": ("Every step is given the true state and compared with the true next one.",),
        "na": ("The network runs on its own outputs; only the final answer is supervised.",),
    },
    entry_type="algotransfer.training.supervision:Supervision",
)
