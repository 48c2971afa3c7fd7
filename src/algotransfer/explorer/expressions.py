"""Algorithms as JSON data that the page executes in JavaScript."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from algotransfer.algorithms import Algorithm
from algotransfer.algorithms.algorithm import largest_final_key_plus_one
from algotransfer.algorithms.expressions import NotExpressible, expression, number
from algotransfer.algorithms.frameworks import PARALLEL, SEQUENTIAL

PROBES = (2, 3, 7, 20)  # numbers of nodes at which a formula is checked


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
