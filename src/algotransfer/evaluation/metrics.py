"""Metrics of each graph, in total and by hop distance.

Everything is NumPy in float64, so that the square of a key of 1e30 is finite. A key that is NaN
counts as infinitely wrong. A metric that a graph does not have, for instance because no node is at
that distance, is NaN and left out of averages.
"""

from typing import NamedTuple

import jax
import numpy as np
from jaxtyping import Bool, Float, Int

from algotransfer.algorithms import Algorithm
from algotransfer.algorithms.frameworks import Comparison, Comparisons
from algotransfer.evaluation.paths import Paths, worse_predecessors

MAX_HOP = 20  # greater hop distances are counted here

# In the order of tables: the paper's, then ours.
METRICS = (
    *("next", "key", "pred", "term"),
    *("key_picked", "key_last", "pred_last", "worse", "tree", "no_path", "cost", "exact"),
    "micro_f1",
)

Values = Float[np.ndarray, "*seeds graphs"]


class Metrics(NamedTuple):
    """Values of every graph by metric; those by hop have a last axis of distances 0 … 20."""

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
    """1 minus the relative error."""
    return 1 - np.abs(given.astype(np.float64) - wanted) / wanted


KINDS = {"squared": squared, "wrong": wrong, "right": right, "relative": relative}


def measure(
    algorithm: Algorithm,
    compared: Comparisons,
    paths: Paths | None,
    final_key: Float[np.ndarray, "graphs n"],
    final_pred: Int[np.ndarray, "graphs n"],
    hop: Int[np.ndarray, "graphs n"],
) -> Metrics:
    """Compute all metrics of a batch of graphs.

    `paths` are those that predicted pointers describe, `final_key` and `final_pred` the true answer
    in the algorithm's units, and `hop` the distances from the source, −1 where there is no path.
    """
    compared, paths = jax.tree.map(np.asarray, (compared, paths))
    metrics = Metrics({}, {})
    for name, comparison in compared.by_metric.items():
        _compare(metrics, name, comparison, hop)
    if compared.answer is not None:
        assert paths is not None, "an answer has paths"
        _answer(metrics, algorithm, compared.answer, paths, final_key, final_pred, hop)
    return metrics


def _compare(metrics: Metrics, name: str, comparison: Comparison, hop) -> None:
    value = KINDS[comparison.kind](comparison.given, comparison.wanted)
    if comparison.mask is None:
        metrics.graphs[name] = value
    elif comparison.steps:
        by_step = mean_or_nan(value, np.asarray(comparison.mask))  # [seeds, graphs, steps]
        metrics.graphs[name] = mean_or_nan(by_step, ~np.isnan(by_step))
    else:
        _over_nodes(metrics, name, value, comparison.mask, hop)


def _answer(
    metrics: Metrics, algorithm: Algorithm, answer, paths: Paths, final_key, final_pred, hop
) -> None:
    reached, at_source = final_pred >= 0, hop == 0
    is_wrong = wrong(answer, final_pred)
    astray = ~paths.arrives
    unrooted = astray | (at_source & (is_wrong > 0))  # the root of a tree points at itself
    worse = worse_predecessors(algorithm, paths, answer, final_key, final_pred)
    _over_nodes(metrics, "worse", worse.astype(np.float64), reached, hop)
    _over_nodes(metrics, "no_path", astray.astype(np.float64), reached, hop)
    _over_nodes(metrics, "exact", is_wrong, reached, hop, none_of=True)
    _over_nodes(metrics, "tree", unrooted.astype(np.float64), reached, hop, none_of=True)
    itself = np.arange(final_pred.shape[-1])
    agrees = right(answer, np.where(reached, final_pred, itself))
    _over_nodes(metrics, "micro_f1", agrees, np.ones_like(reached), hop)
    if algorithm.cost == "path":
        path, best = paths.key.astype(np.float64), final_key.astype(np.float64)
        larger, smaller = (path, best) if algorithm.smaller_is_better else (best, path)
        counts = reached & paths.arrives & ~at_source
        with np.errstate(divide="ignore"):  # a predicted path's key may underflow to 0
            ratio = np.divide(larger, smaller, out=np.ones(path.shape), where=counts)
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
    """Average values over a graph's masked nodes, or return whether none of them is above 0."""

    def reduce(mask):
        mean = mean_or_nan(value, mask)
        return np.where(np.isnan(mean), np.nan, mean == 0) if none_of else mean

    hop = np.minimum(hop, MAX_HOP)
    metrics.graphs[name] = reduce(mask)
    metrics.hops[name] = np.stack(
        [reduce(mask & (hop == distance)) for distance in range(MAX_HOP + 1)], axis=-1
    )


def mean_or_nan(
    value: Float[np.ndarray, "*shape n"], mask: Bool[np.ndarray, "*shape_or_less n"]
) -> Float[np.ndarray, "*shape"]:
    """Mean over the masked entries of the last axis; NaN where the mask is empty."""
    mask = np.broadcast_to(mask, value.shape)
    total, count = np.sum(value, axis=-1, where=mask), mask.sum(axis=-1)
    return np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
