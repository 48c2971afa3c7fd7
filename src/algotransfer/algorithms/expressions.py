"""Functions of keys and weights as nested lists, such as `["add", "key", "weight"]`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

# Primitives of JAX by operation; None returns the first operand.
OPERATIONS = {
    **dict.fromkeys(["convert_element_type", "broadcast_in_dim", "stop_gradient", "copy"]),
    **{name: name for name in ("add", "sub", "mul", "div", "min", "max", "neg", "abs", "sign")},
    **{name: name for name in ("exp", "log", "sqrt", "pow", "lt", "le", "gt", "ge", "eq", "ne")},
    "select_n": "select",
}
CALLS = ("jit", "pjit", "closed_call", "custom_jvp_call", "custom_vjp_call")


class NotExpressible(Exception):
    """A function cannot be written as data."""


def expression(relax: Callable[..., Any]) -> Any:
    """Return `relax` as nested lists such as ["add", "key", "weight"]."""
    one = jax.ShapeDtypeStruct((), np.float32)
    jaxpr = jax.make_jaxpr(relax)(one, one)
    (result,) = _evaluate(jaxpr.jaxpr, jaxpr.consts, ["key", "weight"])
    return result


def _evaluate(jaxpr: Any, consts: list[Any], inputs: list[Any]) -> list[Any]:
    known = dict(zip(jaxpr.constvars, map(_constant, consts), strict=True))
    known |= dict(zip(jaxpr.invars, inputs, strict=True))

    def value(atom: Any) -> Any:
        # Literals have a value, variables do not; `jax.extend.core.Literal` is slow to import.
        return _constant(atom.val) if hasattr(atom, "val") else known[atom]

    for equation in jaxpr.eqns:
        operands, name = [value(atom) for atom in equation.invars], equation.primitive.name
        if name in CALLS:
            inner = equation.params.get("jaxpr") or equation.params["call_jaxpr"]
            results = _evaluate(inner.jaxpr, inner.consts, operands)
        elif name == "integer_pow":
            results = [["pow", *operands, equation.params["y"]]]
        elif name not in OPERATIONS or len(operands) > 3:
            raise NotExpressible(name)
        else:
            operation = OPERATIONS[name]
            results = [operands[0] if operation is None else [operation, *operands]]
        known |= dict(zip(equation.outvars, results, strict=True))
    return [value(atom) for atom in jaxpr.outvars]


def _constant(array: Any) -> float | str:
    if np.size(array) != 1:
        raise NotExpressible("array")
    return number(float(np.asarray(array).reshape(())))


def number(value: float) -> float | str:
    """Return a JSON number; infinity and NaN become text, since JSON has neither."""
    return float(value) if np.isfinite(value) else str(float(value))
