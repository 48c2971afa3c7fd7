"""The families of random graphs: samplers of undirected edges, as data in one dict.

A sampler takes a stream of random numbers, how many graphs of how many nodes are wanted, and
`Options`. It returns `graph_id`, the graph each edge belongs to, and `ends`, its two nodes. Each
edge is listed once, in any order; labels are permuted and weights drawn afterwards, by
`sample_graphs`. A new family is one function and one line in `graphs/registry.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, localcontext

import numpy as np
from jaxtyping import Int

from algotransfer.errors import UserError
from algotransfer.graphs.streams import Stream

Edges = tuple[Int[np.ndarray, " pairs"], Int[np.ndarray, "2 pairs"]]
Sampler = Callable[[Stream, int, int, "Options"], Edges]

MAX_EDGES = 10**8  # in one sample; about 10 GB of memory
ANY_SHAPE_UP_TO = 100
DRAWS_AT_ONCE = 2**22  # bounds scratch memory; the numbers drawn do not depend on it


@dataclass(frozen=True)
class Options:
    """What a family can be told besides its size; each family reads what concerns it."""

    attachments: int = 4
    shape: str | None = None


def check_size(num_graphs: int, num_nodes: int, edges_per_graph: int | float) -> None:
    """Refuses a sample that would not fit into memory, before any of it is made."""
    edges = int(num_graphs * edges_per_graph)
    if edges > MAX_EDGES:
        raise UserError(
            f"{num_graphs} graphs of {num_nodes} nodes have about {edges:,} edges; at most "
            f"{MAX_EDGES:,} are sampled at once: ask for less, or for parts with different seeds"
        )


def erdos_renyi(stream: Stream, num_graphs: int, num_nodes: int, options: Options) -> Edges:
    """Every pair of nodes is an edge with probability min(log₂(n)/n, 0.5)."""
    pairs = num_nodes * (num_nodes - 1) // 2
    probability = edge_probability(num_nodes)
    check_size(num_graphs, num_nodes, pairs * probability)
    hits = successes(stream, probability, num_graphs * pairs)
    graph_id = hits // pairs
    return graph_id, nth_pair(hits - graph_id * pairs)


def edge_probability(num_nodes: int) -> float:
    """The Erdős–Rényi edge probability p = min(log₂(n)/n, 0.5), correctly rounded."""
    # decimal's logarithm is the same everywhere; the one of the C library is not.
    with localcontext() as context:
        context.prec = 50
        logarithm = Decimal(num_nodes).ln() / Decimal(2).ln()
        return min(float(logarithm / num_nodes), 0.5)


def successes(stream: Stream, probability: float, trials: int) -> Int[np.ndarray, " hits"]:
    """Which of many independent trials succeed, in time and memory of the successes alone.

    Each draw skips to the next success: it fails to come within k trials with probability
    (1 − p)ᵏ. These are tabulated for k = 1 … L by repeated multiplication. A draw that says
    "not within L" skips L trials, and the next draw goes on from there, for trials have no memory.
    """
    length = int(4 / probability)
    not_within = np.multiply.accumulate(np.full(length, 1 - probability))[::-1]  # ascending
    hits, done = [], 0
    while done < trials:
        expected = int((trials - done) * probability * 1.03)
        draws = stream.uniform(min(expected + 100, DRAWS_AT_ONCE))
        failures = length - np.searchsorted(not_within, draws, side="right")
        success = failures < length
        after = done + np.cumsum(failures + success)
        hits.append(after[success] - 1)
        done = int(after[-1])
    hits = np.concatenate(hits)
    return hits[: np.searchsorted(hits, trials)]


def nth_pair(index: Int[np.ndarray, " pairs"]) -> Int[np.ndarray, "2 pairs"]:
    """The pairs (i, j), i < j, in the order (0,1), (0,2), (1,2), (0,3) … at the given indices."""
    larger = ((1 + np.sqrt(8.0 * index + 1)) / 2).astype(np.int64)
    # Rounding can put the root on the wrong side of a whole number; integers put it right.
    larger -= larger * (larger - 1) // 2 > index
    larger += larger * (larger + 1) // 2 <= index
    return np.stack([index - larger * (larger - 1) // 2, larger])


def barabasi_albert(stream: Stream, num_graphs: int, num_nodes: int, options: Options) -> Edges:
    """Preferential attachment: a star on m + 1 nodes, then each node joins m others by degree."""
    attachments = options.attachments
    if attachments >= num_nodes:
        raise UserError(
            f"preferential attachment with attachments = {attachments} starts from "
            f"{attachments + 1} nodes, but num_nodes is {num_nodes}; ask for more nodes or set "
            "attachments lower"
        )
    rounds = num_nodes - attachments  # the star is the first
    check_size(num_graphs, num_nodes, rounds * attachments)

    # Both ends of every edge so far. A node stands here as often as it has edges, so that a
    # uniform draw from the list is a draw by degree.
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
    """Grids of r × c = n nodes: any shape with r ≥ 2, equally likely, or the most square one."""
    rule = options.shape or ("any" if num_nodes <= ANY_SHAPE_UP_TO else "square")
    shapes = SHAPE_RULES[rule](factor_pairs(num_nodes))
    check_size(num_graphs, num_nodes, 2 * num_nodes)
    templates = [grid_edges(rows, columns) for rows, columns in shapes]
    size = np.array([template.shape[1] for template in templates])

    shape = stream.integers(num_graphs, below=len(shapes))
    count = size[shape]
    graph_id = np.repeat(np.arange(num_graphs), count)
    # Edge k of the batch is edge k − start of its graph's template, which begins at `begin`.
    start, begin = np.cumsum(count) - count, np.cumsum(size) - size
    edge = np.arange(len(graph_id)) + np.repeat(begin[shape] - start, count)
    return graph_id, np.concatenate(templates, axis=1)[:, edge]


def factor_pairs(num_nodes: int) -> list[tuple[int, int]]:
    """All (r, c) with r · c = n and 2 ≤ r ≤ c, the most square one last."""
    rows = range(2, math.isqrt(num_nodes) + 1)
    pairs = [(row, num_nodes // row) for row in rows if num_nodes % row == 0]
    if not pairs:
        raise UserError(
            f"a grid of {num_nodes} nodes has no shape: {num_nodes} is prime, and both sides need "
            f"at least 2 nodes; take a product such as {max(4, num_nodes + num_nodes % 2)}"
        )
    return pairs


def grid_edges(rows: int, columns: int) -> Int[np.ndarray, "2 pairs"]:
    """The edges of one grid whose nodes are numbered row by row."""
    node = np.arange(rows * columns).reshape(rows, columns)
    right = np.stack([node[:, :-1].ravel(), node[:, 1:].ravel()])
    down = np.stack([node[:-1].ravel(), node[1:].ravel()])
    return np.concatenate([right, down], axis=1)


SHAPE_RULES: dict[str, Callable[[list[tuple[int, int]]], list[tuple[int, int]]]] = {
    "any": lambda pairs: pairs,
    "square": lambda pairs: pairs[-1:],
}
