"""Bounds of rounding errors in float32, by interval arithmetic.

A key is at most n − 1 candidates away from the source. The bounds follow the error of one
candidate after the other, for weights in an interval.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from algotransfer.symbolic.expressions import LARGEST, SMALLEST, Expression, in_float32
from algotransfer.symbolic.proofs import at_infinity

UNIT = 2.0**-24  # relative rounding error of an operation
SLACK = 1 + 2.0**-40  # above the rounding of these bounds themselves, in double precision
SIZES = (20, 100, 400, 1_600, 10_000)


class Bounds(NamedTuple):
    """An interval of values that are not negative, and the relative error of a computed one."""

    low: float
    high: float
    error: float


class Row(NamedTuple):
    """Bound for graphs of a size: float32 orders candidates that differ by `gap`, relatively.

    It is None if nothing is bounded, for instance since keys may leave the range of float32.
    """

    num_nodes: int
    gap: float | None


def rounding_table(
    step: Expression,
    source_key: float,
    weights: tuple[float, float],
    sizes: tuple[int, ...] = SIZES,
) -> list[Row]:
    """Return one row per size; weights lie in a closed interval above 0."""
    weight = Bounds(*weights, 0.0)
    if math.isinf(source_key):
        first = at_infinity(step)  # of the source
        key = None if isinstance(first, float) else propagate(first, weight, weight)
    else:
        key = Bounds(source_key, source_key, 0.0)
    rows, done, worst = [], 1, 0.0
    for size in sorted(sizes):
        while done < size and key is not None:
            key = propagate(step, key, weight)
            done += 1
            worst = worst if key is None else max(worst, key.error)
        usable = key is not None and worst < 0.1
        rows.append(Row(size, 2 * worst / (1 - worst) * SLACK if usable else None))
    return rows


def propagate(step: Expression, key: Bounds, weight: Bounds) -> Bounds | None:
    """Return the bounds of a step's value from those of its variables, or None."""
    if isinstance(step, str):
        return {"key": key, "weight": weight}[step]
    if not isinstance(step, tuple):
        return None if step < 0 else Bounds(step, step, 0.0 if in_float32(step) == step else UNIT)
    operation, left = step[0], propagate(step[1], key, weight)
    if operation == "pow":
        result = left
        for _ in range(int(step[2]) - 1):
            result = _operate("mul", result, left)
        return result
    return _operate(operation, left, propagate(step[2], key, weight))


def _operate(operation: str, a: Bounds | None, b: Bounds | None) -> Bounds | None:
    if a is None or b is None:
        return None
    if operation in ("min", "max"):
        pick = min if operation == "min" else max
        return Bounds(pick(a.low, b.low), pick(a.high, b.high), max(a.error, b.error))
    if operation == "add":
        low, high, error = a.low + b.low, a.high + b.high, max(a.error, b.error)
    elif operation == "mul":
        low, high = a.low * b.low, a.high * b.high
        error = a.error + b.error + a.error * b.error
    elif operation == "div" and b.low > 0 and b.error < 0.5:
        low, high = a.low / b.high, a.high / b.low
        # A division by a constant may be a product with its rounded inverse.
        error = (a.error + b.error) / (1 - b.error) + UNIT
    else:
        return None
    vanishes = operation != "add" and low < SMALLEST
    if vanishes or high >= LARGEST:
        return None
    return Bounds(low, high, (error + UNIT * (1 + error)) * SLACK)
