"""`Graph`: weighted undirected graphs of one size, as a pytree with a sparse and a dense view."""

from __future__ import annotations

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int

Array = jax.Array | np.ndarray


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
        return jax.tree.map(lambda leaf: leaf[index], self)

    def edge_mask(self) -> Bool[Array, "*batch edges"]:
        """True at edges, False at padding."""
        return self.senders < self.num_nodes

    def num_edges(self) -> Int[np.ndarray, "*batch"]:
        """Number of undirected edges of each graph."""
        return np.asarray(self.edge_mask()).sum(-1) // 2

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
    graph_id = np.concatenate([graph_id, graph_id])
    senders = np.concatenate([ends[0], ends[1]])
    receivers = np.concatenate([ends[1], ends[0]])
    weights = np.concatenate([weights, weights]).astype(np.float32)
    order = np.argsort((graph_id * num_nodes + senders) * num_nodes + receivers, kind="stable")
    graph_id = graph_id[order]

    count = np.bincount(graph_id, minlength=num_graphs)
    width = int(count.max(initial=0))
    column = np.arange(len(graph_id)) - (np.cumsum(count) - count)[graph_id]

    def padded(values, fill, dtype):
        out = np.full((num_graphs, width), fill, dtype)
        out[graph_id, column] = values[order]
        return out

    return Graph(
        senders=padded(senders, num_nodes, np.int32),
        receivers=padded(receivers, num_nodes, np.int32),
        weights=padded(weights, 0.0, np.float32),
        source=np.asarray(source, np.int32),
        num_nodes=num_nodes,
    )


def concatenate(graphs: Sequence[Graph]) -> Graph:
    """Joins batches of graphs of one size into one batch, padded to the most edges."""
    sizes = {graph.num_nodes for graph in graphs}
    if len(sizes) != 1:
        raise ValueError(
            f"graphs of different sizes ({sorted(sizes)} nodes) cannot share a batch; "
            "make one dataset per size"
        )
    num_nodes = sizes.pop()
    width = max(graph.senders.shape[-1] for graph in graphs)

    def padded(leaf, fill):
        leaf = np.asarray(leaf)
        pad = [(0, 0)] * (leaf.ndim - 1) + [(0, width - leaf.shape[-1])]
        return np.pad(leaf, pad, constant_values=fill)

    return Graph(
        senders=np.concatenate([padded(g.senders, num_nodes) for g in graphs]),
        receivers=np.concatenate([padded(g.receivers, num_nodes) for g in graphs]),
        weights=np.concatenate([padded(g.weights, 0) for g in graphs]),
        source=np.concatenate([np.asarray(g.source) for g in graphs]),
        num_nodes=num_nodes,
    )
