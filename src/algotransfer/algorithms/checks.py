"""Checks of an algorithm's `relax` function and of edge weights."""

from functools import cache

import jax
import numpy as np

from algotransfer.algorithms.algorithm import Algorithm
from algotransfer.errors import UserError
from algotransfer.graphs.graph import Graph

RELAX = (
    "expected a function of an array of keys and one of weights that computes element by element "
    "with jax.numpy, such as lambda key, weight: key + weight (and jnp.where in place of if)"
)


@cache
def check_relax(algorithm: Algorithm) -> None:
    """Raise a `UserError` unless `relax` can be traced and returns a number for every edge."""
    key, weights = (jax.ShapeDtypeStruct((3, width), np.float32) for width in (1, 4))
    try:
        candidate = jax.eval_shape(algorithm.relax, key, weights)
    except Exception as error:  # a user's function may raise anything
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        raise UserError(f"relax of {algorithm.name} failed ({reason}); {RELAX}") from error
    numbers = isinstance(candidate, jax.ShapeDtypeStruct) and candidate.dtype.kind in "biuf"
    if not numbers or candidate.shape not in ((), key.shape, weights.shape):
        raise UserError(
            f"relax of {algorithm.name} returned {candidate!s:.80} for keys of shape {key.shape} "
            f"and weights of shape {weights.shape}; {RELAX}"
        )


def check_weights(algorithm: Algorithm, graphs: Graph) -> None:
    """Raise a `UserError` that names the edge unless all weights are in the valid interval."""
    edges, (low, high) = np.asarray(graphs.edge_mask()), algorithm.weights
    weights = np.asarray(graphs.weights)[edges]
    # Subnormal numbers count as 0, because CPUs flush them to zero.
    above_low = weights >= np.finfo(np.float32).tiny if low == 0 else weights >= low
    good = above_low & (weights <= high) & np.isfinite(weights)
    if not good.all():
        bad = np.argmin(good)
        first = tuple(np.argwhere(edges)[bad].tolist())
        tail, head = (np.asarray(ends)[first] for ends in (graphs.senders, graphs.receivers))
        raise UserError(
            f"{algorithm.name} needs {_interval(low, high)}, but the edge between nodes {tail} and "
            f"{head}{''.join(f' of graph {g}' for g in first[:-1])} has weight {weights[bad]:g}; "
            "rescale the weights or choose another algorithm"
        )


def _interval(low: float, high: float) -> str:
    lower = "above 0" if low == 0 else f"of at least {low:g}"
    ends = [lower] * (low > -np.inf) + [f"at most {high:g}"] * (high < np.inf)
    return f"finite weights {' and '.join(ends)}".strip()
