"""Range and shape checks for arguments of networks and rollouts.

They read types and shapes only, so that they also work under `jax.jit`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from algotransfer.errors import UserError, shown
from algotransfer.limits import MAX_SETTINGS


def check_network_arguments(algorithms: tuple, hidden: int) -> None:
    """Raise a `UserError` unless a network can have these algorithms and this width."""
    if not algorithms:
        raise UserError("algorithms=(); expected at least one algorithm")
    check_number("hidden", hidden, 1, MAX_SETTINGS["hidden"])


def check_number(name: str, value: int, least: int, most: int) -> None:
    """Raise a `UserError` unless `least` ≤ value ≤ `most`."""
    if not least <= value <= most:
        raise UserError(f"{name}={shown(value)}; expected {least:,} to {most:,}")


def check_shape(what: str, value: Any, expected: tuple[int, ...]) -> None:
    """Raise a `UserError` unless an array has this shape."""
    if np.shape(value) != expected:
        raise UserError(f"{what} of shape {np.shape(value)}; expected {expected}")
