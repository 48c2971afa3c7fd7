"""The two frameworks in NumPy, for steps that are tried once.

`algotransfer.run` compiles a program for every step, which takes about a second. While learning,
hundreds of steps run on a few small graphs each.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jaxtyping import Float, Int

from algotransfer.symbolic.answers import Answers
from algotransfer.symbolic.expressions import Expression, evaluate

Execution = tuple[Float[np.ndarray, "graphs n"], Int[np.ndarray, "graphs n"]]
Step = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def numpy_step(step: Expression) -> Step:
    """Return a function (neighbour's key, own key, weight) -> candidate key."""
    return lambda key, own, weight: evaluate(step, {"key": key, "own": own, "weight": weight})


def execute_step(step: Step, smaller_is_better: bool, inputs: Answers) -> Execution:
    """Return final keys and predecessors of a step in its framework; answers are not read."""
    key, pred = inputs.start.copy(), np.full(inputs.start.shape, -1)
    graphs = np.arange(len(inputs))
    pred[graphs, inputs.source] = inputs.source
    sign = np.float32(1 if smaller_is_better else -1)
    with np.errstate(all="ignore"):
        return FRAMEWORKS[inputs.framework](step, sign, inputs, key, pred)


def _candidates(step, key, own, weight):
    candidate = np.asarray(step(key, own, weight), np.float32)
    return np.broadcast_to(candidate, np.broadcast_shapes(key.shape, own.shape, weight.shape))


def _parallel(step, sign, inputs, key, pred) -> Execution:
    nodes = key.shape[1]
    for _ in range(nodes):
        cost = sign * _candidates(step, key[:, :, None], key[:, None, :], inputs.weights)
        silent = np.isnan(inputs.weights) | (pred < 0)[:, :, None]  # no edge, or not reached
        cost = np.where(silent | np.isnan(cost), np.inf, cost)
        best = cost.argmin(axis=1)
        value = np.take_along_axis(cost, best[:, None], axis=1)[:, 0]
        improved = value < sign * key
        if not improved.any():
            break
        key, pred = np.where(improved, sign * value, key), np.where(improved, best, pred)
    return key, pred


def _sequential(step, sign, inputs, key, pred) -> Execution:
    graphs, visited = np.arange(len(key)), np.zeros(key.shape, bool)
    for _ in range(key.shape[1]):
        queued = ~visited & (pred >= 0)
        if not queued.any():
            break
        node = np.where(queued, sign * key, np.inf).argmin(axis=1)
        some = queued[graphs, node]
        visited[graphs, node] |= some
        weight = inputs.weights[graphs, node]
        cost = sign * _candidates(step, key[graphs, node, None], key, weight)
        improved = some[:, None] & ~visited & ~np.isnan(weight) & (cost < sign * key)
        key = np.where(improved, sign * cost, key)
        pred = np.where(improved, node[:, None], pred)
    return key, pred


FRAMEWORKS = {"parallel": _parallel, "sequential": _sequential}
