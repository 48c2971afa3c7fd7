"""From readings to numbers: errors of each graph, in all and by hop distance (SPEC: §6).

Everything here is NumPy in float64, so that the square of a key of 1e30 is still a number. A key
that is not one (it overflowed, and more) counts as infinitely wrong. NaN means that a graph has
no such number, for instance no node at that distance, and is left out of averages.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import numpy as np
from jaxtyping import Bool, Float, Int

from algotransfer.algorithms import Algorithm
from algotransfer.evaluation.paths import Paths
from algotransfer.evaluation.readout import Comparison, Reading

FARTHEST = 20  # hop distance that also stands for all beyond it

# In the order of tables: the paper's, then ours.
METRICS = (
    *("next", "key", "pred", "term"),
    *("key_picked", "key_last", "pred_last", "tree", "no_path", "cost", "exact"),
)

Values = Float[np.ndarray, "*seeds graphs"]


class Metrics(NamedTuple):
    """Values of every graph by metric; by hop they have an axis of distances 0 … 20 behind."""

    graphs: dict[str, Values]
    hops: dict[str, Float[np.ndarray, "*seeds graphs hops"]]


def squared(given, wanted):
    """Squared errors."""
    error = np.square(given.astype(np.float64) - wanted)
    return np.where(np.isnan(error), np.inf, error)


def wrong(given, wanted):
    """1 where two values differ."""
    return (given != wanted).astype(np.float64)


def right(given, wanted):
    """1 where two values agree."""
    return (given == wanted).astype(np.float64)


def relative(given, wanted):
    """1 for the same number, less by its distance relative to the wanted one."""
    return 1 - np.abs(given.astype(np.float64) - wanted) / wanted


KINDS = {"squared": squared, "wrong": wrong, "right": right, "relative": relative}


def measure(
    algorithm: Algorithm,
    reading: Reading,
    paths: Paths | None,
    final_key: Float[np.ndarray, "graphs n"],
    final_pred: Int[np.ndarray, "graphs n"],
    hop: Int[np.ndarray, "graphs n"],
) -> Metrics:
    """All metrics of a batch of graphs.

    **Arguments:**

    - `paths`: where the pointers of the reading's answer lead, if it has any.
    - `final_key`, `final_pred`: the true answer, keys as the algorithm defines them.
    - `hop`: hop distances from the source, −1 where there is no path.
    """
    reading, paths = jax.tree.map(np.asarray, (reading, paths))
    metrics = Metrics({}, {})
    for name, comparison in reading.comparisons.items():
        _compare(metrics, name, comparison, hop)
    if reading.answer is not None:
        assert paths is not None, "an answer is judged by where it leads"
        _answer(metrics, algorithm, reading.answer, paths, final_key, final_pred, hop)
    return metrics


def _compare(metrics: Metrics, name: str, comparison: Comparison, hop) -> None:
    value = KINDS[comparison.kind](comparison.given, comparison.wanted)
    if comparison.mask is None:
        metrics.graphs[name] = value
    elif comparison.steps:
        by_step = masked_mean(value, np.asarray(comparison.mask))  # [seeds, graphs, steps]
        metrics.graphs[name] = masked_mean(by_step, ~np.isnan(by_step))
    else:
        _over_nodes(metrics, name, value, comparison.mask, hop)


def _answer(
    metrics: Metrics, algorithm: Algorithm, answer, paths: Paths, final_key, final_pred, hop
) -> None:
    reached, at_source = final_pred >= 0, hop == 0
    is_wrong = wrong(answer, final_pred)
    astray = ~paths.arrives
    unrooted = astray | (at_source & (is_wrong > 0))  # the root of a tree points at itself
    _over_nodes(metrics, "no_path", astray.astype(np.float64), reached, hop)
    _over_nodes(metrics, "exact", is_wrong, reached, hop, none_of=True)
    _over_nodes(metrics, "tree", unrooted.astype(np.float64), reached, hop, none_of=True)
    if algorithm.cost == "path":
        path, best = paths.key.astype(np.float64), final_key.astype(np.float64)
        worse, better = (path, best) if algorithm.smaller_is_better else (best, path)
        counts = reached & paths.arrives & ~at_source
        with np.errstate(divide="ignore"):  # a predicted path's key may underflow to 0
            ratio = np.divide(worse, better, out=np.ones(path.shape), where=counts)
        _over_nodes(metrics, "cost", ratio, counts, hop)
    elif algorithm.cost == "tree":
        counts = reached & ~at_source
        weight = np.sum(paths.weight, axis=-1, where=counts, dtype=np.float64)
        best = np.sum(final_key, axis=-1, where=counts, dtype=np.float64)
        is_tree = (metrics.graphs["tree"] == 1) & counts.any(axis=-1)
        metrics.graphs["cost"] = np.divide(
            weight, best, out=np.full(is_tree.shape, np.nan), where=is_tree
        )


def _over_nodes(metrics: Metrics, name, value, mask, hop, none_of: bool = False) -> None:
    """Averages values over a graph's masked nodes, or tells whether none of them is above 0."""

    def reduce(mask):
        mean = masked_mean(value, mask)
        return np.where(np.isnan(mean), np.nan, mean == 0) if none_of else mean

    hop = np.minimum(hop, FARTHEST)
    metrics.graphs[name] = reduce(mask)
    metrics.hops[name] = np.stack(
        [reduce(mask & (hop == distance)) for distance in range(FARTHEST + 1)], axis=-1
    )


def masked_mean(
    value: Float[np.ndarray, "*shape n"], mask: Bool[np.ndarray, "*shape_or_less n"]
) -> Float[np.ndarray, "*shape"]:
    """Mean of the masked values on the last axis; NaN where there is none."""
    mask = np.broadcast_to(mask, value.shape)
    total, count = np.sum(value, axis=-1, where=mask), mask.sum(axis=-1)
    return np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
