"""Where networks are called: wrong arguments get a sentence here, before JAX sees them.

Checks look at types and shapes alone, so that they hold while a program is traced, and cost
nothing once it is compiled.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from algotransfer.arguments import check_types, hints_of, shown
from algotransfer.graphs.graph import MAX_NODES
from algotransfer.limits import LARGEST

# What JAX, and code that was given something else than it expects, complain with.
COMPLAINTS = (TypeError, ValueError, AssertionError, AttributeError, IndexError, OverflowError)


def check_fresh(algorithms: tuple, hidden: int) -> None:
    """Raises a `ValueError` unless a network can have these algorithms and this width."""
    if not algorithms:
        raise ValueError("a network of no algorithms; expected at least one")
    check_number("hidden", hidden, 1, LARGEST["hidden"])


def check_number(name: str, value: int, least: int, most: int) -> None:
    """Raises a `ValueError` unless `least` ≤ value ≤ `most`."""
    if not least <= value <= most:
        raise ValueError(f"{name}={shown(value)}; expected {least:,} to {most:,}")


def check_shape(what: str, value: Any, expected: tuple[int, ...]) -> None:
    """Raises a `ValueError` unless an array has this shape."""
    if np.shape(value) != expected:
        raise ValueError(f"{what} of shape {np.shape(value)}; expected {expected}")


def door(declared: Callable, method: Callable) -> Callable:
    """A method of a network that compares its arguments with those of the declared one.

    What fits together depends on the network, which may be a user's own: the first thing that
    does not is said in one sentence, with the complaint itself as its cause.
    """
    signature = inspect.signature(method)

    @functools.wraps(method)
    def call(self, *positional, **named):
        name = f"{type(self).__name__}.{method.__name__}"
        values = signature.bind(self, *positional, **named).arguments
        values = check_types(name, hints_of(declared), {k: values[k] for k in [*values][1:]})
        if "task" in values:
            check_number("task", values["task"], 0, len(self.algorithms) - 1)
        if "num_nodes" in values:
            check_number("num_nodes", values["num_nodes"], 1, MAX_NODES)
        try:
            return method(self, **values)
        except COMPLAINTS as error:
            reason = str(error).strip().split("\n")[0]
            raise ValueError(
                f"{name}: {', '.join(values)} do not fit this network ({reason}); expected shapes "
                "as `rollout` gives them, of one network (of several seeds, take one) and one graph"
            ) from error

    return call
