"""Algorithms as JSON data that the page executes in JavaScript."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from algotransfer.algorithms import Algorithm
from algotransfer.algorithms.algorithm import largest_final_key_plus_one
from algotransfer.algorithms.frameworks import PARALLEL, SEQUENTIAL

# Primitives of JAX and the operations of algorithms.js; None returns the first operand.
OPERATIONS = {
    **dict.fromkeys(["convert_element_type", "broadcast_in_dim", "stop_gradient", "copy"]),
    **{name: name for name in ("add", "sub", "mul", "div", "min", "max", "neg", "abs", "sign")},
    **{name: name for name in ("exp", "log", "sqrt", "pow", "lt", "le", "gt", "ge", "eq", "ne")},
    "select_n": "select",
}
CALLS = ("jit", "pjit", "closed_call", "custom_jvp_call", "custom_vjp_call")
PROBES = (2, 3, 7, 20)  # numbers of nodes at which a formula is checked


class NotExpressible(Exception):
    """A function cannot be written as data."""


def algorithm_data(algorithm: Algorithm) -> dict[str, Any]:
    """Return an algorithm as JSON-compatible data; raise `NotExpressible` if that is impossible."""
    if algorithm.framework not in (PARALLEL, SEQUENTIAL) or algorithm.graphs == "acyclic":
        raise NotExpressible(algorithm.name)
    return {**algorithm_facts(algorithm), **_formulas(algorithm)}


def algorithm_facts(algorithm: Algorithm) -> dict[str, Any]:
    """Return what the page says about an algorithm, without its formulas."""
    return {
        "name": algorithm.name,
        "title": algorithm.title,
        "sequential": algorithm.sequential,
        "binary": algorithm.binary,
        "predicts": algorithm.predicts_predecessors,
        "smaller": algorithm.smaller_is_better,
        "once": algorithm.relax_once,
        "weighted": algorithm.weighted,
        "graphs": algorithm.graphs,
        "cost": algorithm.cost,
        "scaling": algorithm.scaling,
        "unreached": number(algorithm.unreached_key),
        "interval": [number(end) for end in algorithm.weights],
    }


def _formulas(algorithm: Algorithm) -> dict[str, Any]:
    def stand_in(num_nodes: int) -> float:
        few, many = np.zeros(num_nodes, np.float32), np.full(num_nodes, 5, np.float32)
        values = {float(algorithm.stand_in(keys)) for keys in (few, many)}
        if len(values) > 1:
            raise NotExpressible("stand_in")
        return values.pop()

    largest = algorithm.stand_in is largest_final_key_plus_one
    return {
        "relax": expression(algorithm.relax),
        "sourceKey": affine(algorithm.source_key),
        "unitOfKeys": affine(algorithm.unit),
        "infinity": "largest" if largest else affine(stand_in),
    }


def affine(formula: Callable[[int], float]) -> list[float | str]:
    """Return [a, b] of a formula a + b·n; raise `NotExpressible` for another one."""
    values = [float(formula(n)) for n in PROBES]
    if len(set(values)) == 1:
        return [number(values[0]), 0.0]
    slope = (values[1] - values[0]) / (PROBES[1] - PROBES[0])
    constant = values[0] - slope * PROBES[0]
    if not np.allclose(values, [constant + slope * n for n in PROBES], rtol=1e-9):
        raise NotExpressible("formula")
    return [number(constant), number(slope)]


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
