"""`Graph`: a pytree of weighted graphs, as sorted edge lists or dense matrices."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int, Integer

from algotransfer.errors import UserError, shown
from algotransfer.limits import MAX_NODES

Array = jax.Array | np.ndarray

BLOCK_ENTRIES = 2**17  # entries of the graphs whose edges are sorted together
EACH_ONCE = "an edge is listed twice, or joins a node to itself; list each edge once"
PACKED_BITS = 32  # of both nodes of an entry, up to which its weight fits beside them


class Graph(eqx.Module):
    """A simple, weighted graph, or a batch of them with the same number of nodes.

    Edges go from sender to receiver and are sorted by sender, then receiver. Those of an undirected
    graph are stored in both directions with equal weights, so that the entries whose *sender* is v
    are also the edges that arrive at v. Segment reductions rely on this and on the order; of a
    directed graph they read `reverse()`. In a batch, graphs with fewer edges are padded at the end
    by entries from node `num_nodes` to node `num_nodes` with weight 0. That index is out of range,
    so JAX drops the entries when it scatters.
    """

    senders: Int[Array, "*batch edges"]
    receivers: Int[Array, "*batch edges"]
    weights: Float[Array, "*batch edges"]
    source: Int[Array, "*batch"]
    num_nodes: int = eqx.field(static=True)
    directed: bool = eqx.field(static=True, default=False)

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """Shape of the batch: `()` for a single graph."""
        return self.source.shape

    def __len__(self) -> int:
        """Number of graphs in the batch."""
        if not self.batch_shape:
            raise UserError("a single graph has no length; use graph.num_nodes for its nodes")
        return self.batch_shape[0]

    def __getitem__(self, index) -> Graph:
        """Return the graphs at an integer, a slice or an array; `graph[None]` is a batch of one."""
        # With the ellipsis, the source of a single graph stays an array instead of a scalar.
        return jax.tree.map(lambda leaf: leaf[index, ...], self)

    @staticmethod
    def conversion_hint(value: Any) -> str:
        """Return which function makes a `Graph` of another object, for type errors."""
        if isinstance(value, str | os.PathLike):
            return "read_graph(path).graph reads one from a file"
        if isinstance(getattr(value, "graph", None), Graph):
            return "take its .graph"
        if hasattr(value, "adjacency"):
            return "from_networkx(graph).graph makes one"
        if hasattr(value, "tocoo"):
            return "from_scipy(matrix).graph makes one"
        if hasattr(value, "edge_index"):
            return "from_pyg(data).graph makes one"
        if isinstance(value, Sequence):
            return "algotransfer.graphs.concatenate(graphs) makes one batch of several"
        return ""

    def edge_mask(self) -> Bool[Array, "*batch edges"]:
        """Return True at edges and False at padding."""
        return self.senders < self.num_nodes

    def num_edges(self) -> Int[np.ndarray, "*batch"]:
        """Return the number of edges of each graph; an undirected edge counts once."""
        entries = np.asarray(self.edge_mask()).sum(-1)
        return np.asarray(entries if self.directed else entries // 2)

    def reverse(self) -> Graph:
        """Return the graph with its edges turned round; an undirected graph is its own reverse."""
        if not self.directed:
            return self
        order = jnp.lexsort((self.senders, self.receivers), axis=-1)

        def sort(leaf):
            return jnp.take_along_axis(jnp.asarray(leaf), order, axis=-1)

        return dataclasses.replace(
            self,
            senders=sort(self.receivers),
            receivers=sort(self.senders),
            weights=sort(self.weights),
        )

    def weight_matrix(self) -> Float[jax.Array, "*batch nodes nodes"]:
        """Return the weights [sender, receiver], 0 where there is no edge."""
        return self._scatter(jnp.asarray(self.weights))

    def adjacency(self) -> Bool[jax.Array, "*batch nodes nodes"]:
        """Return the adjacency matrix [sender, receiver]: True where there is an edge."""
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
    directed: bool = False,
) -> Graph:
    """Build a batch from edges, each listed once, in any order.

    **Arguments:**

    - `graph_id`: the graph of each edge, an index into the batch.
    - `ends`: the two nodes of each edge, as indices within its graph.
    - `directed`: whether edges go from the first to the second node only.

    **Returns:** a batch of graphs as NumPy arrays.
    """
    if not 1 <= num_nodes <= MAX_NODES or num_graphs != len(source):
        raise UserError(
            f"got {num_graphs} graphs of {num_nodes} nodes and {len(source)} sources; expected one "
            f"source per graph and 1 to {MAX_NODES:,} nodes"
        )
    if not len(graph_id) == ends.shape[1] == len(weights):
        raise UserError(
            f"graph_id, ends and weights list {len(graph_id)}, {ends.shape[1]} and {len(weights)} "
            "edges; expected equal numbers"
        )
    graph_id, ends = np.asarray(graph_id, np.int64), np.asarray(ends)
    weights = np.asarray(weights, np.float32)
    if (graph_id[1:] < graph_id[:-1]).any():
        order = np.argsort(graph_id, kind="stable")
        graph_id, ends, weights = graph_id[order], ends.take(order, axis=1), weights[order]
    check_range("graph_id", graph_id, num_graphs)
    check_range("ends", ends, num_nodes)
    check_range("source", source, num_nodes)
    count = np.bincount(graph_id, minlength=num_graphs)
    per_edge = 1 if directed else 2  # entries
    shape = (num_graphs, per_edge * int(count.max(initial=0)))
    graph = Graph(
        senders=np.empty(shape, np.int32),
        receivers=np.empty(shape, np.int32),
        weights=np.empty(shape, np.float32),
        source=np.asarray(source, np.int32),
        num_nodes=num_nodes,
        directed=directed,
    )
    # Blocks of graphs, so that temporary arrays fit into the cache of the processor.
    block = max(1, BLOCK_ENTRIES // max(1, shape[1]))
    last = np.append(0, np.cumsum(count))
    bits = num_nodes.bit_length()
    padding = num_nodes << bits | num_nodes  # sorts behind all entries

    def fill(start: int) -> None:
        rows = slice(start, min(start + block, num_graphs))
        edges = slice(last[rows.start], last[rows.stop])
        first, second = ends[:, edges].astype(np.uint64)
        if (first == second).any():
            raise UserError(EACH_ONCE)
        entry = np.full((rows.stop - rows.start, shape[1]), padding, np.uint64)
        value = np.zeros(entry.shape, np.float32)
        place = np.flatnonzero(np.arange(shape[1]) < count[rows, None])
        for sender, receiver in [(first, second), (second, first)][:per_edge]:
            entry.ravel()[place] = sender << np.uint64(bits) | receiver
            value.ravel()[place] = weights[edges]
            place += shape[1] // 2
        entry, value = _sort_entries(entry, value, packed=2 * bits <= PACKED_BITS)
        if ((entry[:, 1:] == entry[:, :-1]) & (entry[:, 1:] < padding)).any():
            raise UserError(EACH_ONCE)
        graph.senders[rows] = entry >> np.uint64(bits)
        graph.receivers[rows] = entry & np.uint64(2**bits - 1)
        graph.weights[rows] = value

    # Threads help, since NumPy releases the interpreter lock; blocks write to different graphs.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(fill, range(0, num_graphs, block)))  # `list` re-raises errors
    return graph


def check_graph(graph: Graph) -> None:
    """Raise a `UserError` unless the arrays of a graph or batch are consistent."""
    for name in ("senders", "receivers", "source"):
        if (dtype := getattr(graph, name).dtype).kind not in "iu":
            raise UserError(f"{name} has dtype {dtype}; expected integers")
    shapes = [np.shape(leaf) for leaf in (graph.senders, graph.receivers, graph.weights)]
    if len(set(shapes)) > 1 or shapes[0][:-1] != graph.batch_shape or not shapes[0]:
        raise UserError(
            f"senders, receivers and weights have shapes {', '.join(map(str, shapes))} and source "
            f"has shape {graph.batch_shape}; expected equal shapes, one axis longer than source"
        )
    check_range("senders", np.asarray(graph.senders), graph.num_nodes + 1)  # padding included
    check_range("receivers", np.asarray(graph.receivers), graph.num_nodes + 1)
    check_range("source", np.asarray(graph.source), graph.num_nodes)


def check_range(name: str, indices: Integer[np.ndarray, "..."], count: int) -> None:
    """Raise a `UserError` unless all indices are in 0 … count − 1."""
    if indices.size and (indices.min() < 0 or indices.max() >= count):
        raise UserError(
            f"{name} has values in {indices.min()}…{indices.max()}; expected 0…{count - 1}"
        )


def _sort_entries(entry, weights, packed: bool):
    """Sort the entries of each graph, and their weights with them."""
    if packed:
        # Sorting numbers is several times as fast as `argsort`.
        both = entry << np.uint64(32) | weights.view(np.uint32)
        both.sort(axis=-1)
        return both >> np.uint64(32), both.astype(np.uint32).view(np.float32)
    order = np.argsort(entry, axis=-1)
    return np.take_along_axis(entry, order, -1), np.take_along_axis(weights, order, -1)


def concatenate(graphs: Sequence[Graph]) -> Graph:
    """Concatenate graphs and batches with equal numbers of nodes into one batch.

    The batch is directed if one of them is.
    """
    for graph in graphs:
        if not isinstance(graph, Graph):
            raise UserError(
                f"graphs has {shown(graph)} (of type {type(graph).__name__}); expected Graphs: "
                f"{Graph.conversion_hint(graph) or 'convert it first'}"
            )
    sizes = {graph.num_nodes for graph in graphs}
    if not sizes:
        raise UserError("graphs is empty; give at least one graph")
    if len(sizes) > 1:
        raise UserError(
            f"the graphs have {', '.join(map(str, sorted(sizes)))} nodes; expected one size: "
            "from_graphs(graphs) pads smaller graphs with isolated nodes"
        )
    width = max(graph.senders.shape[-1] for graph in graphs)
    directed = any(graph.directed for graph in graphs)
    batches = [pad_edges(graph if graph.batch_shape else graph[None], width) for graph in graphs]
    batches = [dataclasses.replace(batch, directed=directed) for batch in batches]
    return jax.tree.map(lambda *leaves: np.concatenate(leaves), *batches)


def pad_edges(graphs: Graph, width: int) -> Graph:
    """Pad the edge lists of a batch to a width."""

    def padded(leaf, fill):
        return np.pad(leaf, [(0, 0), (0, width - leaf.shape[1])], constant_values=fill)

    return dataclasses.replace(
        graphs,
        senders=padded(graphs.senders, graphs.num_nodes),
        receivers=padded(graphs.receivers, graphs.num_nodes),
        weights=padded(graphs.weights, 0),
    )


def resize_graphs(graphs: Graph, num_nodes: int) -> Graph:
    """Add isolated nodes at the end of a graph or of each of a batch, or remove them there."""

    def renumber(ends):
        return np.where(ends >= graphs.num_nodes, num_nodes, ends).astype(ends.dtype)

    return dataclasses.replace(
        jax.tree.map(np.asarray, graphs),
        senders=renumber(np.asarray(graphs.senders)),
        receivers=renumber(np.asarray(graphs.receivers)),
        num_nodes=num_nodes,
    )
