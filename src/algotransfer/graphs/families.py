"""Families of random graphs: Erdős–Rényi, Barabási–Albert and grids.

A sampler takes a stream of random numbers, how many graphs of how many nodes are wanted, and
`Options`. It returns `graph_id`, the graph each edge belongs to, and `ends`, its two nodes. Each
edge is listed once, in any order; labels are permuted and weights drawn afterwards, by
`sample_graphs`. A new family is one function and one line in `graphs/registry.py`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, localcontext

import numpy as np
from jaxtyping import Float, Int

from algotransfer.errors import UserError
from algotransfer.graphs.streams import Stream

Edges = tuple[Int[np.ndarray, " pairs"], Int[np.ndarray, "2 pairs"]]
Sampler = Callable[[Stream, int, int, "Options"], Edges]

MAX_EDGES = 10**8  # in one sample; about 10 GB of memory
ANY_SHAPE_MAX_NODES = 100
PAIR_TABLE_MAX = 2**16  # pairs of nodes up to which a table of all of them is faster
BUCKETS = 2**12  # of the interval [0, 1), in which draws are looked up before they are searched
DRAWS_PER_BLOCK = 2**22  # bounds temporary memory; the numbers drawn do not depend on it


@dataclass(frozen=True)
class Options:
    """Options of the families; see `sample_graphs`. Each family ignores those of the others."""

    attachments: int = 4
    shape: str | None = None


def check_size(num_graphs: int, num_nodes: int, edges_per_graph: int | float) -> None:
    """Raise a `UserError` if a sample would not fit into memory."""
    edges = int(num_graphs * edges_per_graph)
    if edges > MAX_EDGES:
        raise UserError(
            f"{num_graphs} graphs of {num_nodes} nodes have about {edges:,} edges; at most "
            f"{MAX_EDGES:,} can be sampled at once: lower num_graphs, or use several seeds"
        )


def erdos_renyi(stream: Stream, num_graphs: int, num_nodes: int, options: Options) -> Edges:
    """Sample Erdős–Rényi graphs: each pair of nodes is an edge with p = min(log₂(n)/n, 0.5)."""
    pairs = num_nodes * (num_nodes - 1) // 2
    probability = edge_probability(num_nodes)
    check_size(num_graphs, num_nodes, pairs * probability)
    hits = successes(stream, probability, num_graphs * pairs)
    graph_id = hits // pairs
    hits -= graph_id * pairs
    if pairs > min(PAIR_TABLE_MAX, len(hits)):
        return graph_id, nth_pair(hits)
    return graph_id, np.take(nth_pair(np.arange(pairs)), hits, axis=1)


def edge_probability(num_nodes: int) -> float:
    """Return the Erdős–Rényi edge probability p = min(log₂(n)/n, 0.5), correctly rounded."""
    # The logarithm of `decimal` is the same on every machine, that of the C library is not.
    with localcontext() as context:
        context.prec = 50
        logarithm = Decimal(num_nodes).ln() / Decimal(2).ln()
        return min(float(logarithm / num_nodes), 0.5)


def successes(stream: Stream, probability: float, trials: int) -> Int[np.ndarray, " hits"]:
    """Return the indices of successes among Bernoulli trials, in O(successes) time and memory.

    Each draw skips to the next success. There is none within k trials with probability (1 − p)ᵏ,
    tabulated for k = 1 … L by repeated multiplication. A draw beyond the table skips L trials, and
    the next draw continues from there, since trials are independent.
    """
    length = int(4 / probability)
    not_within = np.multiply.accumulate(np.full(length, 1 - probability))[::-1]  # ascending
    hits, done = [], 0
    while done < trials:
        expected = int((trials - done) * probability * 1.03)
        draws = stream.uniform(min(expected + 100, DRAWS_PER_BLOCK))
        failures = length - _search(not_within, draws)
        success = failures < length
        after = done + np.cumsum(failures + success)
        hits.append(after[success] - 1)
        done = int(after[-1])
    hits = np.concatenate(hits)
    return hits[: np.searchsorted(hits, trials)]


def _search(
    ascending: Float[np.ndarray, " k"], draws: Float[np.ndarray, " d"]
) -> Int[np.ndarray, " d"]:
    """Return `np.searchsorted(ascending, draws, side="right")`, faster for many draws in [0, 1).

    All draws of a bucket that no element falls into have the same place.
    """
    bucket = (draws * BUCKETS).astype(np.int64)  # exact, since BUCKETS is a power of two
    first = np.searchsorted(ascending, np.arange(BUCKETS + 1) / BUCKETS, side="right")
    place = first[bucket]
    mixed = np.flatnonzero((first[1:] > first[:-1])[bucket])
    place[mixed] = np.searchsorted(ascending, draws[mixed], side="right")
    return place


def nth_pair(index: Int[np.ndarray, " pairs"]) -> Int[np.ndarray, "2 pairs"]:
    """Return the pairs (i, j), i < j, at the given indices of (0,1), (0,2), (1,2), (0,3) …"""
    larger = ((1 + np.sqrt(8.0 * index + 1)) / 2).astype(np.int64)
    # The square root may be rounded across an integer; correct it with integer arithmetic.
    larger -= larger * (larger - 1) // 2 > index
    larger += larger * (larger + 1) // 2 <= index
    return np.stack([index - larger * (larger - 1) // 2, larger])


def barabasi_albert(stream: Stream, num_graphs: int, num_nodes: int, options: Options) -> Edges:
    """Sample Barabási–Albert graphs: a star on m + 1 nodes; each new node joins m by degree."""
    attachments = options.attachments
    if attachments >= num_nodes:
        raise UserError(
            f"attachments is {attachments} and num_nodes is {num_nodes}; family ba needs at least "
            f"{attachments + 1} nodes: raise num_nodes, choose another family, or in Python lower "
            "attachments"
        )
    rounds = num_nodes - attachments  # the first makes the star
    check_size(num_graphs, num_nodes, rounds * attachments)

    # Both ends of every edge so far. Each node occurs once per edge, so that a uniform draw from
    # the list is a draw proportional to degree.
    ends = np.empty((num_graphs, rounds, 2, attachments), np.int32)
    old, new = ends[:, :, 0], ends[:, :, 1]  # graphs × rounds × attachments
    old[:, 0] = np.arange(1, attachments + 1)
    new[:] = np.r_[0, attachments + 1 : num_nodes][:, None]

    listed, first = ends.reshape(-1), np.arange(num_graphs) * ends[0].size
    for step in range(1, rounds):
        known = 2 * attachments * step
        chosen = listed[stream.integers(attachments, num_graphs, below=known) + first]
        for slot in range(1, attachments):
            repeated = np.flatnonzero(np.logical_or.reduce(chosen[:slot] == chosen[slot]))
            while repeated.size:
                again = stream.integers(repeated.size, below=known) + first[repeated]
                chosen[slot, repeated] = listed[again]
                still = chosen[:slot, repeated] == chosen[slot, repeated]
                repeated = repeated[np.logical_or.reduce(still)]
        old[:, step] = chosen.T

    graph_id = np.repeat(np.arange(num_graphs), rounds * attachments)
    return graph_id, np.stack([old.reshape(-1), new.reshape(-1)])


def grid(stream: Stream, num_graphs: int, num_nodes: int, options: Options) -> Edges:
    """Sample grids of r × c = n nodes: a uniform shape with r ≥ 2, or the most square one."""
    rule = options.shape or ("any" if num_nodes <= ANY_SHAPE_MAX_NODES else "square")
    shapes = SHAPE_RULES[rule](factor_pairs(num_nodes))
    check_size(num_graphs, num_nodes, 2 * num_nodes)
    templates = [grid_edges(rows, columns) for rows, columns in shapes]
    size = np.array([template.shape[1] for template in templates])

    shape = stream.integers(num_graphs, below=len(shapes))
    count = size[shape]
    graph_id = np.repeat(np.arange(num_graphs), count)
    # Edge k of the batch is edge k − start of its graph's template, whose first edge is `begin`.
    start, begin = np.cumsum(count) - count, np.cumsum(size) - size
    edge = np.arange(len(graph_id)) + np.repeat(begin[shape] - start, count)
    return graph_id, np.concatenate(templates, axis=1)[:, edge]


def factor_pairs(num_nodes: int) -> list[tuple[int, int]]:
    """Return all (r, c) with r · c = n and 2 ≤ r ≤ c, the most square one last."""
    rows = range(2, math.isqrt(num_nodes) + 1)
    pairs = [(row, num_nodes // row) for row in rows if num_nodes % row == 0]
    if not pairs:
        raise UserError(
            f"num_nodes is {num_nodes}; expected a product of two numbers of at least 2 for a "
            f"grid, such as {max(4, num_nodes + num_nodes % 2)}"
        )
    return pairs


def grid_edges(rows: int, columns: int) -> Int[np.ndarray, "2 pairs"]:
    """Return the edges of a grid whose nodes are numbered row by row."""
    node = np.arange(rows * columns).reshape(rows, columns)
    right = np.stack([node[:, :-1].ravel(), node[:, 1:].ravel()])
    down = np.stack([node[:-1].ravel(), node[1:].ravel()])
    return np.concatenate([right, down], axis=1)


SHAPE_RULES: dict[str, Callable[[list[tuple[int, int]]], list[tuple[int, int]]]] = {
    "any": lambda pairs: pairs,
    "square": lambda pairs: pairs[-1:],
}
