"""`Layout`: the interface of dense and sparse graph layouts, and the code they share."""

# No `from __future__ import annotations`: Equinox recognises `AbstractVar` only if it is evaluated.
import dataclasses
from abc import abstractmethod
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float, Int

from algotransfer.graphs.graph import Graph

KEPT = "kept"  # name of the arrays that `jax.checkpoint` of a step should store
Scores = Float[Array, "..."]  # a number per edge: a matrix [i, j] (dense) or a list (sparse)


class Layout(eqx.Module):
    """One graph as a network sees it: edge features, and aggregation over neighbours.

    In an edge (i, j), i receives and j sends. An undirected edge is held in both directions, and
    every node has a self-loop with features 0, so that a node is one of its own neighbours. Values
    of edges have one of two shapes:

    - vectors are rows of a list [e, d] in the order of `i` and `j`; padding has i = j = n;
    - single numbers (`Scores`) are a matrix [i, j] in the dense layout, a list in the sparse one.
    """

    num_nodes: eqx.AbstractVar[int]
    i: eqx.AbstractVar[Int[Array, " e"]]
    j: eqx.AbstractVar[Int[Array, " e"]]
    features: eqx.AbstractVar[Float[Array, "f ..."]]  # `Scores` for each kind of edge feature

    @abstractmethod
    def with_features(self, kinds: tuple[int, ...]) -> "Layout":
        """Return the same graph with only these rows of edge features."""

    # Vectors on edges.

    @abstractmethod
    def max_plus(self, node: Float[Array, "n h"], edge: Float[Array, "f h"]) -> Float[Array, "n h"]:
        """Return max_j (node_j + Σ_f feature_fij · edge_f), without an array of edges × h."""

    @abstractmethod
    def max_through_layer(
        self,
        product: Float[Array, "n _"],
        edge: Float[Array, "f h"],
        hidden_edge: Float[Array, "f q"],
        second: Float[Array, "q h"],
    ) -> Float[Array, "n h"] | None:
        """Return max_j (l_j + e_ij + S relu(r_i + s_j + e'_ij)), or None if there is no kernel.

        **Arguments:**

        - `product`: its first columns are r, s and l, side by side.
        - `edge`, `hidden_edge`, `second`: weights of e, weights of e', and S.
        """

    def pairs(
        self,
        receiver: Float[Array, "n d"] | None,
        sender: Float[Array, "n d"],
        edge: Float[Array, "f d"],
    ) -> Float[Array, "e d"]:
        """Return receiver_i + sender_j + Σ_f feature_fij · edge_f; the receiver is optional."""
        values = self.gather_senders(sender)
        if receiver is not None:
            values = self.gather_receivers(receiver) + values
        return values + self.edge_terms(edge)

    @abstractmethod
    def edge_terms(self, edge: Float[Array, "f d"]) -> Float[Array, "e d"]:
        """Return Σ_f feature_fij · edge_f."""

    def gather_receivers(self, node: Float[Array, "n d"]) -> Float[Array, "e d"]:
        """Return node_i on every edge (i, j)."""
        return _gather(self, "i", node)

    def gather_senders(self, node: Float[Array, "n d"]) -> Float[Array, "e d"]:
        """Return node_j on every edge (i, j)."""
        return _gather(self, "j", node)

    @abstractmethod
    def max(self, values: Float[Array, "e d"]) -> Float[Array, "n d"]:
        """Return the element-wise maximum over j; ties share its gradient equally."""

    def sum(self, values: Float[Array, "e d"]) -> Float[Array, "n d"]:
        """Return the sum over j."""
        return _sum(self, values)

    def mean(self, values: Float[Array, "e d"]) -> Float[Array, "n d"]:
        """Return the mean over j."""
        return self.sum(values) / self.sum(jnp.ones_like(values[:, :1]))

    def softmax(self, values: Float[Array, "e d"]) -> Float[Array, "e d"]:
        """Return the element-wise softmax over j; 0 on padding."""
        top = self.gather_receivers(lax.stop_gradient(self.max(values)))
        shares = jnp.exp(jnp.where(self._listed(), values - top, -jnp.inf))
        return shares / self.gather_receivers(self.sum(shares))

    @abstractmethod
    def sum_at(self, end: str, values: Float[Array, "e d"]) -> Float[Array, "n d"]:
        """Return the sum over all edges with a node at this end, `i` or `j`; not differentiable."""

    def _listed(self) -> Bool[Array, "e 1"]:
        """Whether a row of the list is an edge, and not padding."""
        return (self.i < self.num_nodes)[:, None]

    # Single numbers on edges.

    @property
    @abstractmethod
    def is_edge(self) -> Bool[Array, "..."]:
        """Whether there is an edge; self-loops included."""

    @property
    @abstractmethod
    def is_loop(self) -> Bool[Array, "..."]:
        """Whether an edge is a self-loop."""

    @abstractmethod
    def receiver_scores(self, node: Array) -> Array:
        """Return node_i, of a shape that broadcasts to `Scores`."""

    @abstractmethod
    def sender_scores(self, node: Array) -> Array:
        """Return node_j, of a shape that broadcasts to `Scores`."""

    @abstractmethod
    def sum_scores(self, scores: Scores) -> Float[Array, " n"]:
        """Return the sum over j."""

    @abstractmethod
    def max_scores(self, scores: Scores, where: Bool[Array, "..."]) -> Float[Array, " n"]:
        """Return the maximum over the edges in `where`; −∞ for a node without any."""

    def softmax_scores(self, scores: Scores) -> Scores:
        """Return the softmax over j."""
        top = self.receiver_scores(self.max_scores(scores, self.is_edge))
        shares = jnp.where(self.is_edge, jnp.exp(scores - top), 0.0)
        return shares / self.receiver_scores(self.sum_scores(shares))

    @abstractmethod
    def scores(self, sender: Float[Array, " n"], edge: Float[Array, " f"]) -> Scores:
        """Return sender_j + Σ_f feature_fij · edge_f."""

    @abstractmethod
    def log_softmax_at(
        self, scores: Scores, index: Int[Array, " n"], allowed: Bool[Array, " n"] | None = None
    ) -> Float[Array, " n"]:
        """Return log softmax_j of each node's scores at j = index_i; `allowed` masks senders."""

    @abstractmethod
    def argmax(self, scores: Scores, allowed: Bool[Array, " n"] | None = None) -> Int[Array, " n"]:
        """Return the neighbour (or the node itself) with the best score; ties: lowest index."""

    @abstractmethod
    def reach(self, nodes: Bool[Array, " n"]) -> Bool[Array, " n"]:
        """Return the given nodes and all their neighbours."""


# Gathering and summing are each other's transpose. Layouts sum without scatters, which are slow.


@partial(jax.custom_vjp, nondiff_argnums=(1,))
def _gather(layout: Layout, end: str, node):
    return at(node, getattr(layout, end))


def _gather_forward(layout: Layout, end: str, node):
    return _gather(layout, end, node), layout


def _gather_backward(end: str, layout: Layout, gradient):
    return None, layout.sum_at(end, gradient)


_gather.defvjp(_gather_forward, _gather_backward)


@jax.custom_vjp
def _sum(layout: Layout, values):
    return layout.sum_at("i", values)


def _sum_forward(layout: Layout, values):
    return _sum(layout, values), layout


def _sum_backward(layout: Layout, gradient):
    return None, jnp.where(layout._listed(), at(gradient, layout.i), 0.0)


_sum.defvjp(_sum_forward, _sum_backward)


class NeighbourLists(eqx.Module):
    """Lists for GPU kernels: neighbours of every node, and edges, without padding in between.

    Neighbours of node i are valid up to `degree[i]`, edges up to `count`.
    """

    order: Int[Array, " n"]  # nodes by descending degree
    degree: Int[Array, " n"]  # [i], the node itself counted
    senders: Int[Array, "n n"]  # [k, i]: the k-th neighbour of i
    features: Float[Array, "f n n"]  # [f, k, i]
    ends: Int[Array, "3 e"]  # i, j, and the position of j among the neighbours of i
    end_features: Float[Array, "f e"]
    count: Int[Array, "1"]

    def with_features(self, rows: Int[Array, " _"]) -> "NeighbourLists":
        """Return the same lists with only these rows of edge features."""
        kept = {"features": self.features[rows], "end_features": self.end_features[rows]}
        return dataclasses.replace(self, **kept)


def edge_list(
    graph: Graph, kinds: tuple[str, ...]
) -> tuple[Int[Array, " e"], Int[Array, " e"], Float[Array, "f e"]]:
    """Return i, j and features of every edge of a graph, then of a self-loop at every node.

    Padding has i = j = n, out of range. A kind of edge feature is `weight` or `one`.
    """
    graph = graph.reverse()  # its senders are the nodes at which edges arrive
    loops = jnp.arange(graph.num_nodes, dtype=jnp.int32)
    weights = jnp.asarray(graph.weights)
    rows = {"weight": weights, "one": jnp.asarray(graph.edge_mask(), weights.dtype)}
    i = jnp.concatenate([jnp.asarray(graph.senders), loops])
    j = jnp.concatenate([jnp.asarray(graph.receivers), loops])
    return i, j, jnp.stack([jnp.pad(rows[kind], (0, graph.num_nodes)) for kind in kinds])


def at(values: Array, index: Int[Array, " e"]) -> Array:
    """Return rows of an array; indices of padding are clipped and read an arbitrary row."""
    return values.at[index].get(mode="clip")


def on_edges(features, edge):
    """Return Σ_f feature_f · edge_f, element-wise, so that XLA fuses it with its consumer."""
    return sum(_product(row, weight) for row, weight in zip(features, edge, strict=True))


@jax.custom_jvp
def _product(row, weight):
    """Multiply edge features by a vector and drop the last bit of every product.

    XLA may fuse a product and a following sum into one operation that rounds once, in one place
    and not in another. A backward pass that recomputes values to find the maximum would then find
    no equal value, and lose its gradient.
    """
    bits = jnp.finfo(weight.dtype)
    return lax.reduce_precision(jnp.multiply.outer(row, weight), bits.nexp, bits.nmant - 1)


@_product.defjvp
def _product_jvp(primals, tangents):
    (row, weight), (_, d_weight) = primals, tangents  # features are data
    return _product(row, weight), jnp.multiply.outer(row, d_weight)  # a gradient needs no rounding
