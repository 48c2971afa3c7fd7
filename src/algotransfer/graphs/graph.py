"""`Graph`: weighted undirected graphs of one size, as a pytree with a sparse and a dense view."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int

from algotransfer.errors import UserError

Array = jax.Array | np.ndarray

MAX_NODES = 10**6  # per graph; far below what 32-bit node numbers can count
BLOCK_CELLS = 2**18  # cells of the matrices whose edges are sorted at once
DENSE_SORT_MAX_CELLS = 2**26  # cells of a matrix whose edges are sorted without comparing them


class Graph(eqx.Module):
    """One simple, undirected, weighted graph, or a batch of them with the same number of nodes.

    The stored form is the sparse view: every edge in both directions, sorted by sender, then
    receiver. Since each edge stands there twice with one weight, the entries whose *sender* is v
    are also the edges that arrive at v; segment reductions rely on this and on the order.
    Graphs of a batch with fewer edges are padded at the end by entries from node `num_nodes` to
    node `num_nodes` with weight 0: out of range, so that JAX's scatters drop them.
    """

    senders: Int[Array, "*batch edges"]
    receivers: Int[Array, "*batch edges"]
    weights: Float[Array, "*batch edges"]
    source: Int[Array, "*batch"]
    num_nodes: int = eqx.field(static=True)

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """Shape of the batch: `()` for a single graph."""
        return self.source.shape

    def __len__(self) -> int:
        """Number of graphs in the batch."""
        if not self.batch_shape:
            raise TypeError("a single graph has no length; graph.num_nodes counts its nodes")
        return self.batch_shape[0]

    def __getitem__(self, index) -> Graph:
        """The graphs at `index` of the batch (an integer, a slice or an index array)."""
        # The ellipsis keeps the source of a single graph an array; NumPy would return a scalar.
        return jax.tree.map(lambda leaf: leaf[index, ...], self)

    @staticmethod
    def conversion_hint(value: Any) -> str:
        """Return which function makes a `Graph` of another object, for type errors."""
        if isinstance(value, str | os.PathLike):
            return "read_graph(path).graph reads one from a file"
        if isinstance(getattr(value, "graph", None), Graph):
            return "take its .graph"
        if hasattr(value, "adjacency"):
            return "algotransfer.graphs.from_networkx(graph).graph makes one"
        if hasattr(value, "tocoo"):
            return "algotransfer.graphs.from_scipy(matrix).graph makes one"
        if isinstance(value, Sequence):
            return "algotransfer.graphs.concatenate(graphs) makes one batch of several"
        return ""

    def edge_mask(self) -> Bool[Array, "*batch edges"]:
        """True at edges, False at padding."""
        return self.senders < self.num_nodes

    def num_edges(self) -> Int[np.ndarray, "*batch"]:
        """Number of undirected edges of each graph."""
        return np.asarray(np.asarray(self.edge_mask()).sum(-1) // 2)

    def weight_matrix(self) -> Float[jax.Array, "*batch nodes nodes"]:
        """The dense view: weights as a symmetric matrix, 0 where there is no edge."""
        return self._scatter(jnp.asarray(self.weights))

    def adjacency(self) -> Bool[jax.Array, "*batch nodes nodes"]:
        """The dense view: True where there is an edge."""
        return self._scatter(jnp.asarray(self.edge_mask()))

    def _scatter(self, values):
        def one(senders, receivers, values):
            empty = jnp.zeros((self.num_nodes, self.num_nodes), values.dtype)
            return empty.at[senders, receivers].set(values, mode="drop")

        for _ in self.batch_shape:
            one = jax.vmap(one)
        return one(jnp.asarray(self.senders), jnp.asarray(self.receivers), values)


def from_edges(
    num_nodes: int,
    num_graphs: int,
    graph_id: Int[np.ndarray, " pairs"],
    ends: Int[np.ndarray, "2 pairs"],
    weights: Float[np.ndarray, " pairs"],
    source: Int[np.ndarray, " graphs"],
) -> Graph:
    """Builds a batch from undirected edges, each listed once, in any order.

    **Arguments:**

    - `graph_id`: which graph of the batch an edge belongs to.
    - `ends`: the two nodes of each edge, numbered within their graph.

    **Returns:** the graphs, as NumPy arrays on the host.
    """
    if not 1 <= num_nodes <= MAX_NODES or num_graphs != len(source):
        raise UserError(
            f"{num_graphs} graphs of {num_nodes} nodes with {len(source)} sources; expected one "
            f"source for each graph, and 1 to {MAX_NODES:,} nodes"
        )
    if not len(graph_id) == ends.shape[1] == len(weights):
        raise UserError(
            f"{len(graph_id)} numbers of graphs, {ends.shape[1]} pairs of nodes and "
            f"{len(weights)} weights; expected one of each for every edge"
        )
    graph_id, ends = np.asarray(graph_id, np.int64), np.asarray(ends, np.int64)
    weights = np.asarray(weights, np.float32)
    if (graph_id[1:] < graph_id[:-1]).any():
        order = np.argsort(graph_id, kind="stable")
        graph_id, ends, weights = graph_id[order], ends[:, order], weights[order]
    _check_range(
        "the number of a graph", graph_id[[0, -1]] if len(graph_id) else graph_id, num_graphs
    )
    _check_range("a node of an edge", ends, num_nodes)
    _check_range("a source", source, num_nodes)
    count = np.bincount(graph_id, minlength=num_graphs)
    shape = (num_graphs, 2 * int(count.max(initial=0)))
    graph = Graph(
        senders=np.full(shape, num_nodes, np.int32),
        receivers=np.full(shape, num_nodes, np.int32),
        weights=np.zeros(shape, np.float32),
        source=np.asarray(source, np.int32),
        num_nodes=num_nodes,
    )
    # A block of graphs at a time, as one tall matrix that stays in the processor's cache.
    block = max(1, BLOCK_CELLS // num_nodes**2)
    last = np.append(0, np.cumsum(count))

    def fill(start: int) -> None:
        stop = min(start + block, num_graphs)
        edges = slice(last[start], last[stop])
        row = (graph_id[edges] - start) * num_nodes
        first, second = ends[:, edges]
        cell, values = _sorted(
            np.concatenate(
                [(row + first) * num_nodes + second, (row + second) * num_nodes + first]
            ),
            np.concatenate([weights[edges]] * 2),
            num_cells=(stop - start) * num_nodes**2,
        )
        sender = cell // num_nodes
        filled = np.arange(shape[1]) < 2 * count[start:stop, None]
        graph.senders[start:stop][filled] = sender - sender // num_nodes * num_nodes
        graph.receivers[start:stop][filled] = cell - sender * num_nodes
        graph.weights[start:stop][filled] = values

    # Blocks touch different graphs, and NumPy lets go of the interpreter while it works.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for _ in pool.map(fill, range(0, num_graphs, block)):
            pass  # raises what a block raised
    return graph


def check_graph(graph: Graph) -> None:
    """Raises a `ValueError` unless the arrays of a graph or batch fit together."""
    for numbers in (graph.senders, graph.receivers, graph.source):
        if numbers.dtype.kind not in "iu":
            raise UserError(f"nodes are numbered by {numbers.dtype}; expected whole numbers")
    edges = [np.shape(leaf) for leaf in (graph.senders, graph.receivers, graph.weights)]
    if len(set(edges)) > 1 or edges[0][:-1] != graph.batch_shape or not edges[0]:
        raise UserError(
            f"senders, receivers and weights of shapes {', '.join(map(str, edges))} with sources "
            f"of shape {graph.batch_shape}; expected equal shapes, one axis longer than the sources"
        )
    for ends in (graph.senders, graph.receivers):  # `num_nodes` itself is padding
        _check_range("a node of an edge", np.asarray(ends), graph.num_nodes + 1)
    _check_range("a source", np.asarray(graph.source), graph.num_nodes)


def _check_range(what: str, numbers: Int[np.ndarray, "..."], count: int) -> None:
    """All numbers must be counted from 0 to below `count`."""
    if not numbers.size:
        return
    low, high = numbers.min(), numbers.max()
    if low < 0 or high >= count:
        raise UserError(f"{what} lies outside the graph: got {low}…{high}, expected 0…{count - 1}")


def _sorted(cell, weights, num_cells):
    """Sorts entries of a matrix with `num_cells` cells, none of which may have two entries."""
    if num_cells <= min(DENSE_SORT_MAX_CELLS, 64 * len(cell)):
        # Small graphs: marking cells and reading the marks in order is faster than sorting.
        marked, value = np.zeros(num_cells, bool), np.empty(num_cells, np.float32)
        marked[cell] = True
        value[cell] = weights
        unique = np.flatnonzero(marked)
        weights = value[unique]
    else:
        order = np.argsort(cell, kind="stable")
        unique, weights = cell[order], weights[order]
        unique = unique[np.diff(unique, prepend=-1) > 0]
    if len(unique) < len(cell):
        raise UserError("an edge is listed twice, or joins a node to itself; list each edge once")
    return unique, weights


def concatenate(graphs: Sequence[Graph]) -> Graph:
    """Joins graphs and batches of graphs of one size into one batch, padded to the most edges."""
    sizes = {graph.num_nodes for graph in graphs}
    if not sizes:
        raise UserError("there is no graph to concatenate; give at least one")
    if len(sizes) > 1:
        raise UserError(
            f"graphs of different sizes ({sorted(sizes)} nodes) cannot share a batch; "
            "make one dataset per size"
        )
    num_nodes = sizes.pop()
    width = max(graph.senders.shape[-1] for graph in graphs)

    def padded(leaf, fill):
        leaf = np.atleast_2d(leaf)  # a single graph becomes a batch of one
        return np.pad(leaf, [(0, 0), (0, width - leaf.shape[1])], constant_values=fill)

    return Graph(
        senders=np.concatenate([padded(g.senders, num_nodes) for g in graphs]),
        receivers=np.concatenate([padded(g.receivers, num_nodes) for g in graphs]),
        weights=np.concatenate([padded(g.weights, 0) for g in graphs]),
        source=np.concatenate([np.atleast_1d(g.source) for g in graphs]),
        num_nodes=num_nodes,
    )
