"""One graph as the network sees it, dense or sparse: the two layouts of one interface.

Both hold every edge in both directions plus a self-loop at every node, with one row of edge
features per kind of feature. `i` is the node that receives, `j` the neighbour (or itself) that
sends. Values on edges have shape [n, n, …] in the dense layout and [edges + n, …] in the sparse
one; code written with the methods below does not notice.
"""

from __future__ import annotations

from functools import partial
from typing import Literal, Protocol, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from algotransfer.graphs.graph import Graph

Scores = Float[Array, "..."]  # one number per edge, in the layout's own shape


@runtime_checkable
class Layout(Protocol):
    """What a network asks of a graph."""

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""
        ...

    def with_features(self, kinds: tuple[int, ...]) -> Layout:
        """The same graph with only these rows of edge features."""
        ...

    def max_plus(self, node: Float[Array, "n h"], edge: Float[Array, "f h"]) -> Float[Array, "n h"]:
        """max_j (node_j + Σ_f feature_fij · edge_f), without an array of size edges × h."""
        ...

    def pairs(
        self,
        receiver: Float[Array, "n d"],
        sender: Float[Array, "n d"],
        edge: Float[Array, "f d"],
    ) -> Float[Array, "... d"]:
        """receiver_i + sender_j + Σ_f feature_fij · edge_f, on every edge."""
        ...

    def max(self, values: Float[Array, "... d"]) -> Float[Array, "n d"]:
        """The maximum over j, element by element."""
        ...

    def scores(self, sender: Float[Array, " n"], edge: Float[Array, " f"]) -> Scores:
        """sender_j + Σ_f feature_fij · edge_f, on every edge."""
        ...

    def log_softmax_at(
        self, scores: Scores, index: Int[Array, " n"], allowed: Bool[Array, " n"] | None = None
    ) -> Float[Array, " n"]:
        """log softmax_j of each node's scores, read at j = index_i; `allowed` masks senders."""
        ...

    def argmax(self, scores: Scores, allowed: Bool[Array, " n"] | None = None) -> Int[Array, " n"]:
        """The neighbour with the best score (ties: lowest index), or the node itself."""
        ...

    def reach(self, nodes: Bool[Array, " n"]) -> Bool[Array, " n"]:
        """The given nodes and all their neighbours."""
        ...


class Dense(eqx.Module):
    """Adjacency matrices: fast for graphs of up to a few hundred nodes."""

    features: Float[Array, "f n n"]
    edges: Bool[Array, "n n"]  # with the diagonal

    @property
    def num_nodes(self) -> int:
        return self.edges.shape[-1]

    def with_features(self, kinds: tuple[int, ...]) -> Dense:
        return Dense(self.features[jnp.array(kinds)], self.edges)

    def max_plus(self, node, edge):
        return _dense_max_plus(self.features, self.edges, node, edge)

    def pairs(self, receiver, sender, edge):
        return receiver[:, None] + sender[None, :] + _on_edges(self.features, edge)

    def max(self, values):
        return jnp.max(jnp.where(self.edges[..., None], values, -jnp.inf), axis=1)

    def scores(self, sender, edge):
        return sender[None, :] + _on_edges(self.features, edge)

    def log_softmax_at(self, scores, index, allowed=None):
        scores = self._masked(scores, allowed)
        at = jnp.take_along_axis(scores, index[:, None], axis=1)[:, 0]
        return at - jax.nn.logsumexp(scores, axis=1)

    def argmax(self, scores, allowed=None):
        return jnp.argmax(self._masked(scores, allowed), axis=1).astype(jnp.int32)

    def reach(self, nodes):
        return jnp.any(self.edges & nodes[None, :], axis=1)

    def _masked(self, scores, allowed):
        edges = self.edges
        if allowed is not None:  # self is always an allowed predecessor
            edges = edges & (allowed[None, :] | jnp.eye(self.num_nodes, dtype=bool))
        return jnp.where(edges, scores, -jnp.inf)


class Sparse(eqx.Module):
    """Edge lists sorted by receiving node: memory and time linear in the number of edges.

    Padding of a batch sits at the end with i = j = n, out of range.
    """

    features: Float[Array, "f e"]
    i: Int[Array, " e"]
    j: Int[Array, " e"]
    num_nodes: int = eqx.field(static=True)

    def with_features(self, kinds: tuple[int, ...]) -> Sparse:
        return eqx.tree_at(lambda self: self.features, self, self.features[jnp.array(kinds)])

    def max_plus(self, node, edge):
        return _sparse_max_plus(self.num_nodes, self.features, self.i, self.j, node, edge)

    def pairs(self, receiver, sender, edge):
        return _at(receiver, self.i) + _at(sender, self.j) + _on_edges(self.features, edge)

    def max(self, values):
        return _segment_max(self.num_nodes, values, self.i)

    def scores(self, sender, edge):
        return _at(sender, self.j) + _on_edges(self.features, edge)

    def log_softmax_at(self, scores, index, allowed=None):
        scores = self._masked(scores, allowed)
        top = jax.lax.stop_gradient(self._segment(jax.ops.segment_max, scores))
        total = self._segment(jax.ops.segment_sum, jnp.exp(scores - _at(top, self.i)))
        hit = self.j == _at(index, self.i)
        at = self._segment(jax.ops.segment_sum, jnp.where(hit, scores, 0.0))
        # A masked target has probability 0, as in the dense layout.
        seen = self._segment(jax.ops.segment_max, hit.astype(jnp.int32)) > 0
        return jnp.where(seen, at, -jnp.inf) - top - jnp.log(total)

    def argmax(self, scores, allowed=None):
        scores = self._masked(scores, allowed)
        best = self._segment(jax.ops.segment_max, scores)
        winner = jnp.where(scores == _at(best, self.i), self.j, self.num_nodes)
        return self._segment(jax.ops.segment_min, winner).astype(jnp.int32)

    def reach(self, nodes):
        return self._segment(jax.ops.segment_max, _at(nodes.astype(jnp.int32), self.j)) > 0

    def _segment(self, reduce, values):
        return reduce(values, self.i, self.num_nodes, indices_are_sorted=True)

    def _masked(self, scores, allowed):
        edges = self.i < self.num_nodes
        if allowed is not None:
            edges = edges & (_at(allowed, self.j) | (self.i == self.j))
        return jnp.where(edges, scores, -jnp.inf)


def _at(values, index):
    return values.at[index].get(mode="clip")


def _on_edges(features, edge):
    """Σ_f feature_f · edge_f as a chain of multiply-adds, which XLA fuses into what reads it."""
    return sum(jnp.multiply.outer(row, weight) for row, weight in zip(features, edge, strict=True))


def dense_layout(graph: Graph, kinds: tuple[str, ...]) -> Dense:
    """The dense layout of one graph; a kind of edge feature is `weight` or `one`."""
    weights, adjacency = graph.weight_matrix(), graph.adjacency()
    features = {"weight": weights, "one": adjacency.astype(weights.dtype)}
    diagonal = jnp.eye(graph.num_nodes, dtype=bool)
    return Dense(jnp.stack([features[kind] for kind in kinds]), adjacency | diagonal)


def sparse_layout(graph: Graph, kinds: tuple[str, ...]) -> Sparse:
    """The sparse layout of one graph; a kind of edge feature is `weight` or `one`."""
    loops = jnp.arange(graph.num_nodes, dtype=jnp.int32)
    i = jnp.concatenate([jnp.asarray(graph.senders), loops])
    j = jnp.concatenate([jnp.asarray(graph.receivers), loops])
    weights = jnp.asarray(graph.weights)
    features = {"weight": weights, "one": jnp.asarray(graph.edge_mask(), weights.dtype)}
    rows = jnp.stack([jnp.pad(features[kind], (0, graph.num_nodes)) for kind in kinds])
    order = jnp.argsort(i, stable=True)
    return Sparse(rows[:, order], i[order], j[order], graph.num_nodes)


DENSE_UP_TO = 256  # nodes up to which the dense layout is the faster one


def make_layouts(
    graphs: Graph, kinds: tuple[str, ...], layout: Literal["dense", "sparse"] | None = None
) -> Dense | Sparse:
    """The layouts of a batch of graphs, as one pytree with the batch in front."""
    dense = graphs.num_nodes <= DENSE_UP_TO if layout is None else layout == "dense"
    make = dense_layout if dense else sparse_layout
    return _make_layouts(make, kinds, jax.tree.map(jnp.asarray, graphs))


@partial(jax.jit, static_argnums=(0, 1))
def _make_layouts(make, kinds, graphs):
    return jax.vmap(lambda graph: make(graph, kinds))(graphs)


# The gradient of a max touches only the winning neighbour, so the backward pass compares again
# instead of storing anything of size edges × h; it is shared equally among ties, as JAX does.


@jax.custom_vjp
def _dense_max_plus(features, edges, node, edge):
    values = node[None, :, :] + _on_edges(features, edge)
    return jnp.max(jnp.where(edges[..., None], values, -jnp.inf), axis=1)


def _dense_max_plus_forward(features, edges, node, edge):
    best = _dense_max_plus(features, edges, node, edge)
    return best, (features, edges, node, edge, best)


def _dense_max_plus_backward(saved, gradient):
    features, edges, node, edge, best = saved
    values = node[None, :, :] + _on_edges(features, edge)
    hit = edges[..., None] & (values == best[:, None, :])
    share = gradient / jnp.maximum(1, jnp.sum(hit, axis=1))
    flow = jnp.where(hit, share[:, None, :], 0.0)  # [i, j, h], fused into the sums that read it
    d_edge = jnp.stack([jnp.sum(flow * row[..., None], axis=(0, 1)) for row in features])
    return None, None, jnp.sum(flow, axis=0), d_edge


_dense_max_plus.defvjp(_dense_max_plus_forward, _dense_max_plus_backward)


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _segment_max(num_nodes, values, i):
    return jax.ops.segment_max(values, i, num_nodes, indices_are_sorted=True)


def _segment_max_forward(num_nodes, values, i):
    best = _segment_max(num_nodes, values, i)
    return best, (values, i, best)


def _segment_max_backward(num_nodes, saved, gradient):
    values, i, best = saved
    return _winners(num_nodes, values, i, best, gradient), None


def _winners(num_nodes, values, i, best, gradient):
    hit = (values == _at(best, i)) & (i < num_nodes)[:, None]
    ties = jax.ops.segment_sum(hit.astype(values.dtype), i, num_nodes, indices_are_sorted=True)
    return jnp.where(hit, _at(gradient / jnp.maximum(1, ties), i), 0.0)


_segment_max.defvjp(_segment_max_forward, _segment_max_backward)


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _sparse_max_plus(num_nodes, features, i, j, node, edge):
    return _segment_max(num_nodes, _at(node, j) + _on_edges(features, edge), i)


def _sparse_max_plus_forward(num_nodes, features, i, j, node, edge):
    best = _sparse_max_plus(num_nodes, features, i, j, node, edge)
    return best, (features, i, j, node, edge, best)


def _sparse_max_plus_backward(num_nodes, saved, gradient):
    features, i, j, node, edge, best = saved
    values = _at(node, j) + _on_edges(features, edge)
    flow = _winners(num_nodes, values, i, best, gradient)
    d_node = jax.ops.segment_sum(flow, j, num_nodes)
    return None, None, None, d_node, features @ flow


_sparse_max_plus.defvjp(_sparse_max_plus_forward, _sparse_max_plus_backward)
