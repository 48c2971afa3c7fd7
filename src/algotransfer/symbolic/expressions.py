"""Expressions of a relaxation step as data: evaluate, print, read and compare them.

An expression is a number, one of the variables `key` (the neighbour's key), `own` (the node's own
key) and `weight` (of the edge), or a tuple such as `("add", "key", "weight")`. In JSON a tuple is
a list, the form in which the explorer's page stores algorithms.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from algotransfer.errors import UserError

Expression = float | str | tuple
Number = Fraction | float

VARIABLES = ("key", "own", "weight")
SYMBOLS = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
OPERATIONS = ("add", "sub", "mul", "div", "min", "max", "pow")
PRECEDENCE = {"add": 1, "sub": 1, "mul": 2, "div": 2, "pow": 3}
SMALLEST, LARGEST = 2.0**-126, 2.0**128  # normal numbers in float32
WHOLE = tuple(float(power) for power in range(1, 9))
MAX_SIZE = 200  # nodes of an expression read from a file
FUNCTIONS = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "div": "divide",
    "min": "minimum",
    "max": "maximum",
    "pow": "power",
}


def evaluate(expression: Expression, values: Mapping[str, Any], module: Any = np) -> Any:
    """Return the value of an expression on arrays, computed with `numpy` or `jax.numpy`."""
    if isinstance(expression, str):
        return values[expression]
    if not isinstance(expression, tuple):
        return expression
    operation, *operands = expression
    numbers = [evaluate(operand, values, module) for operand in operands]
    return getattr(module, FUNCTIONS[operation])(*numbers)


def exact_value(step: Expression, key: Number, weight: Number) -> Number:
    """Return the value of a step in rational arithmetic; NaN where it is undefined."""
    if isinstance(step, str):
        return {"key": key, "weight": weight}[step]
    if not isinstance(step, tuple):
        return Fraction(step)
    operation, left, right = step[0], *(exact_value(part, key, weight) for part in step[1:])
    try:
        return {
            "add": lambda: left + right,
            "sub": lambda: left - right,
            "mul": lambda: left * right,
            "div": lambda: left / right,
            "min": lambda: min(left, right),
            "max": lambda: max(left, right),
            "pow": lambda: left ** int(right),
        }[operation]()
    except (ZeroDivisionError, OverflowError):
        return math.nan


def relax_function(expression: Expression) -> Callable[[Any, Any], Any]:
    """Return `(key, weight) -> candidate` for an `Algorithm`."""
    import jax.numpy as jnp

    return lambda key, weight: evaluate(expression, {"key": key, "weight": weight}, jnp)


def size(expression: Expression) -> int:
    """Return the number of variables, numbers and operations."""
    if not isinstance(expression, tuple):
        return 1
    return 1 + sum(size(operand) for operand in expression[1:])


def variables(expression: Expression) -> set[str]:
    """Return the names of the variables that occur."""
    if isinstance(expression, str):
        return {expression}
    if not isinstance(expression, tuple):
        return set()
    return set().union(*(variables(operand) for operand in expression[1:]))


def as_text(expression: Expression, outer: int = 0) -> str:
    """Return an expression as Python source, with no more brackets than needed."""
    if isinstance(expression, str):
        return expression
    if not isinstance(expression, tuple):
        short = np.float32(expression)
        text = str(short) if short == expression else repr(expression)
        text = text.removesuffix(".0")
        return f"({text})" if expression < 0 and outer else text
    operation, *operands = expression
    if operation in ("min", "max"):
        return f"{operation}({', '.join(as_text(operand) for operand in operands)})"
    rank = PRECEDENCE[operation]
    left, right = operands
    symbol = "**" if operation == "pow" else SYMBOLS[operation]
    space = "" if operation == "pow" else " "
    first = rank + (operation == "pow")  # a power of a power needs brackets
    text = f"{as_text(left, first)}{space}{symbol}{space}{as_text(right, rank + 1)}"
    return f"({text})" if rank < outer else text


def in_float32(expression: Expression) -> Expression:
    """Return an expression with its numbers rounded to float32, as executions have them."""
    if isinstance(expression, tuple):
        return tuple(in_float32(operand) for operand in expression)
    return expression if isinstance(expression, str) else float(np.float32(expression))


def to_json(expression: Expression) -> Any:
    """Return nested lists for a JSON file."""
    if isinstance(expression, tuple):
        return [to_json(operand) for operand in expression]
    return expression


def from_json(data: Any) -> Expression:
    """Inverse of `to_json`; validates its input."""
    nodes = 0

    def read(part: Any, depth: int) -> Expression:
        nonlocal nodes
        nodes += 1
        if nodes > MAX_SIZE or depth > MAX_SIZE:
            raise UserError(f"an expression of more than {MAX_SIZE} parts; simplify it")
        if isinstance(part, str) and part in VARIABLES:
            return part
        if isinstance(part, (int, float, np.number)) and not isinstance(part, bool):
            if part == 0 or SMALLEST <= abs(part) < LARGEST:
                return float(part)
        elif isinstance(part, (list, tuple)) and len(part) == 3 and part[0] in OPERATIONS:
            left, right = read(part[1], depth + 1), read(part[2], depth + 1)
            if part[0] != "pow" or right in WHOLE:
                return (part[0], left, right)
        raise UserError(
            f"{str(part)[:60]!r} is no part of an expression; expected a number in the range of "
            f"float32, one of {', '.join(VARIABLES)}, or a list of an operation "
            f"({', '.join(OPERATIONS)}) and two parts, with powers from 1 to 8"
        )

    return read(data, 0)


def linear_combination(coefficients: Sequence[float], terms: Sequence[Expression]) -> Expression:
    """Return Σ aₖ·φₖ as one expression, without factors of 1 and terms of 0."""
    result: Expression | None = None
    for number, term in zip(coefficients, terms, strict=True):
        if number == 0:
            continue
        if term == 1.0:
            part: Expression = number
        elif number == 1 or (number == -1 and result is not None):
            part = term
        else:
            part = ("mul", abs(number) if result is not None else number, term)
        if result is None:
            result = part
        elif number < 0:
            result = ("sub", result, abs(part) if isinstance(part, float) else part)
        else:
            result = ("add", result, part)
    return 0.0 if result is None else result
