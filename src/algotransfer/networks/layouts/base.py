"""What a network asks of a graph: the interface of all layouts, and what they share."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import jax
import jax.numpy as jnp
from jax import lax
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
        receiver: Float[Array, "n d"] | None,
        sender: Float[Array, "n d"],
        edge: Float[Array, "f d"],
    ) -> Float[Array, "e d"]:
        """receiver_i + sender_j + Σ_f feature_fij · edge_f, on a list of all edges.

        Without a receiver, the rest of the sum.
        """
        ...

    def max(self, values: Float[Array, "e d"]) -> Float[Array, "n d"]:
        """The maximum over j of values on that list, element by element."""
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


class EdgeList:
    """Every edge of a graph in both directions, then a self-loop at every node.

    Padding has i = j = n, out of range. A kind of edge feature is `weight` or `one`.
    """

    def __init__(self, graph: Graph, kinds: tuple[str, ...]):
        loops = jnp.arange(graph.num_nodes, dtype=jnp.int32)
        weights = jnp.asarray(graph.weights)
        rows = {"weight": weights, "one": jnp.asarray(graph.edge_mask(), weights.dtype)}
        self.i = jnp.concatenate([jnp.asarray(graph.senders), loops])
        self.j = jnp.concatenate([jnp.asarray(graph.receivers), loops])
        self.features = jnp.stack([jnp.pad(rows[kind], (0, graph.num_nodes)) for kind in kinds])


def at(values: Array, index: Int[Array, " e"]) -> Array:
    """Values of nodes at the ends of edges; padding reads some node."""
    return values.at[index].get(mode="clip")


def on_edges(features, edge):
    """Σ_f feature_f · edge_f, element by element, so that XLA fuses it into what reads it."""
    return sum(_product(row, weight) for row, weight in zip(features, edge, strict=True))


@jax.custom_jvp
def _product(row, weight):
    """Features of edges times a vector, each product without its last bit.

    Compilers join a product and the sum after it into one operation that rounds once, in one
    place and not in another; a backward pass that computes values again to see which was the
    largest would then find none, and lose its gradient.
    """
    bits = jnp.finfo(weight.dtype)
    return lax.reduce_precision(jnp.multiply.outer(row, weight), bits.nexp, bits.nmant - 1)


@_product.defjvp
def _product_jvp(primals, tangents):
    (row, weight), (_, d_weight) = primals, tangents  # features are data
    return _product(row, weight), jnp.multiply.outer(row, d_weight)  # a gradient needs no rounding
