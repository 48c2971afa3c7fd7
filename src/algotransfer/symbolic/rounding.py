"""Bounds of rounding errors in float32, by interval arithmetic.

A key is at most n − 1 candidates away from the source. The bounds follow the error of one
candidate after the other, for weights in an interval.
"""

from __future__ import annotations

import math
import struct
from typing import NamedTuple

from algotransfer.symbolic.expressions import Expression

UNIT = 2.0**-24  # relative rounding error of an operation
SMALLEST = 2.0**-126  # smaller numbers lose bits
LARGEST = 2.0**128
SLACK = 1 + 2.0**-40  # above the rounding of these bounds themselves, in double precision
SIZES = (20, 100, 400, 1_600, 10_000)


class Bounds(NamedTuple):
    """An interval of exact values, and how far a computed value is away, absolute and relative."""

    low: float
    high: float
    absolute: float
    relative: float


class Row(NamedTuple):
    """Bounds for graphs of a size: float32 keeps a pointer if candidates differ by `gap`.

    `gap` is relative if `is_relative`, else absolute; it is None if keys may leave the range of
    float32.
    """

    num_nodes: int
    gap: float | None
    is_relative: bool


def rounding_table(
    step: Expression,
    source_key: float,
    weights: tuple[float, float],
    sizes: tuple[int, ...] = SIZES,
) -> list[Row]:
    """Return one row per size; weights lie in a closed interval."""
    weight = Bounds(*weights, 0.0, 0.0)
    start = weights[1] if math.isinf(source_key) else source_key  # min(∞, w) is at most w
    key, worst = Bounds(start, start, 0.0, 0.0), Bounds(0.0, 0.0, 0.0, 0.0)
    rows, done = [], 1
    for size in sorted(sizes):
        while done < size and key is not None:
            key = propagate(step, key, weight)
            done += 1
            small = max(abs(key.low), abs(key.high))
            if not math.isfinite(key.absolute) or small >= LARGEST or _may_vanish(key):
                key = None
                break
            worst = Bounds(
                0.0, 0.0, max(worst.absolute, key.absolute), max(worst.relative, key.relative)
            )
        if key is None:
            rows.append(Row(size, None, False))
        elif worst.relative < 0.1:
            rows.append(Row(size, 2 * worst.relative / (1 - worst.relative) * SLACK, True))
        else:
            rows.append(Row(size, 2 * worst.absolute * SLACK, False))
    return rows


def propagate(step: Expression, key: Bounds, weight: Bounds) -> Bounds:
    """Return the bounds of a step's value from those of its variables."""
    if isinstance(step, str):
        return {"key": key, "weight": weight}[step]
    if not isinstance(step, tuple):
        exact = struct.unpack("f", struct.pack("f", step))[0] == step
        error = 0.0 if exact else UNIT
        return Bounds(step, step, abs(step) * error, error)
    operation, left, right = step[0], *(propagate(part, key, weight) for part in step[1:])
    if operation == "pow":
        result = left
        for _ in range(int(step[2]) - 1):
            result = _operate("mul", result, left)
        return result
    return _operate(operation, left, right)


def _operate(operation: str, a: Bounds, b: Bounds) -> Bounds:
    if operation in ("min", "max"):
        pick = min if operation == "min" else max
        low, high = pick(a.low, b.low), pick(a.high, b.high)
        return Bounds(low, high, max(a.absolute, b.absolute), max(a.relative, b.relative))
    if operation == "div" and b.low <= 0 <= b.high:
        return Bounds(-math.inf, math.inf, math.inf, math.inf)
    corners = {
        "add": lambda: (a.low + b.low, a.high + b.high),
        "sub": lambda: (a.low - b.high, a.high - b.low),
        "mul": lambda: [x * y for x in (a.low, a.high) for y in (b.low, b.high)],
        "div": lambda: [x / y for x in (a.low, a.high) for y in (b.low, b.high)],
    }[operation]()
    low, high = min(corners), max(corners)
    size_a, size_b = (max(abs(each.low), abs(each.high)) for each in (a, b))
    smallest_b = min(abs(b.low), abs(b.high))
    spread = {
        "add": lambda: a.absolute + b.absolute,
        "sub": lambda: a.absolute + b.absolute,
        "mul": lambda: size_a * b.absolute + size_b * a.absolute + a.absolute * b.absolute,
        "div": lambda: (
            (a.absolute + (size_a / smallest_b) * b.absolute) / (smallest_b - b.absolute)
            if smallest_b > b.absolute
            else math.inf
        ),
    }[operation]()
    largest = max(abs(low), abs(high))
    absolute = (spread + UNIT * (largest + spread)) * SLACK
    relative = math.inf
    if operation == "add" and min(a.low, b.low) >= 0:
        relative = max(a.relative, b.relative)
    elif operation == "mul":
        relative = a.relative + b.relative + a.relative * b.relative
    elif operation == "div" and b.relative < 1:
        relative = (a.relative + b.relative) / (1 - b.relative)
    relative = (relative + UNIT * (1 + relative)) * SLACK
    return Bounds(low, high, absolute, relative)


def _may_vanish(key: Bounds) -> bool:
    """Return whether keys other than 0 may be so small that float32 loses bits of them."""
    return 0 < key.low < SMALLEST or key.low < 0 < key.high
