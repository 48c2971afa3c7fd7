"""All candidate terms up to a depth, without duplicates."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import product

import numpy as np

from algotransfer.symbolic.expressions import Expression, evaluate, size

ATOMS: tuple[Expression, ...] = ("key", "weight", "own", 1.0)
BINARY = ("add", "sub", "mul", "div", "min", "max")
POWERS = (2.0, 3.0)
NUM_PROBES = 24


@cache
def grammar(depth: int = 2) -> tuple[Expression, ...]:
    """Return the terms of a depth, shortest first.

    Depth 0 are the atoms: the neighbour's key, the weight, the node's own key and 1. Depth d + 1
    adds every operation on two terms of depth d (+, −, ×, ÷, min, max), and their squares and
    cubes. Of terms with the same values only the shortest stays.
    """
    terms = _distinct(ATOMS)
    for _ in range(depth):
        pairs = ((operation, *pair) for operation, pair in product(BINARY, product(terms, terms)))
        powers = (("pow", term, power) for term, power in product(terms, POWERS))
        terms = _distinct((*terms, *powers, *pairs))
    return terms


def _distinct(terms: Iterable[Expression]) -> tuple[Expression, ...]:
    """Keep the shortest of terms with equal values at random points, up to a factor."""
    generator = np.random.default_rng(0)
    probes = {name: generator.uniform(-3, 3, NUM_PROBES) for name in ("key", "own", "weight")}
    kept: dict[bytes, Expression] = {}
    with np.errstate(all="ignore"):
        for term in sorted(terms, key=size):
            values = np.broadcast_to(evaluate(term, probes), NUM_PROBES)
            if not np.isfinite(values).all() or (np.ptp(values) == 0 and term != 1.0):
                continue
            # Coefficients are learned, so terms that differ by a factor are the same.
            scaled = values / values[np.argmax(np.abs(values))]
            kept.setdefault(np.round(scaled, 9).tobytes(), term)
    return tuple(kept.values())
