"""The sparse layout: sorted edge lists and segment reductions."""

from __future__ import annotations

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from algotransfer.graphs.graph import Graph
from algotransfer.networks.layouts.base import EdgeList, at, on_edges


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
        return at(receiver, self.i) + at(sender, self.j) + on_edges(self.features, edge)

    def max(self, values):
        return _segment_max(self.num_nodes, values, self.i)

    def scores(self, sender, edge):
        return at(sender, self.j) + on_edges(self.features, edge)

    def log_softmax_at(self, scores, index, allowed=None):
        scores = self._masked(scores, allowed)
        top = jax.lax.stop_gradient(self._segment(jax.ops.segment_max, scores))
        total = self._segment(jax.ops.segment_sum, jnp.exp(scores - at(top, self.i)))
        hit = self.j == at(index, self.i)
        own = self._segment(jax.ops.segment_sum, jnp.where(hit, scores, 0.0))
        # A masked target has probability 0, as in the dense layout.
        seen = self._segment(jax.ops.segment_max, hit.astype(jnp.int32)) > 0
        return jnp.where(seen, own, -jnp.inf) - top - jnp.log(total)

    def argmax(self, scores, allowed=None):
        scores = self._masked(scores, allowed)
        best = self._segment(jax.ops.segment_max, scores)
        winner = jnp.where(scores == at(best, self.i), self.j, self.num_nodes)
        return self._segment(jax.ops.segment_min, winner).astype(jnp.int32)

    def reach(self, nodes):
        return self._segment(jax.ops.segment_max, at(nodes.astype(jnp.int32), self.j)) > 0

    def _segment(self, reduce, values):
        return reduce(values, self.i, self.num_nodes, indices_are_sorted=True)

    def _masked(self, scores, allowed):
        edges = self.i < self.num_nodes
        if allowed is not None:
            edges = edges & (at(allowed, self.j) | (self.i == self.j))
        return jnp.where(edges, scores, -jnp.inf)


def sparse_layout(graph: Graph, kinds: tuple[str, ...]) -> Sparse:
    """The sparse layout of one graph with these kinds of edge features."""
    edges = EdgeList(graph, kinds)
    order = jnp.argsort(edges.i, stable=True)
    return Sparse(edges.features[:, order], edges.i[order], edges.j[order], graph.num_nodes)


# As in the dense layout, the backward pass compares again instead of storing who won.


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
    hit = (values == at(best, i)) & (i < num_nodes)[:, None]
    ties = jax.ops.segment_sum(hit.astype(values.dtype), i, num_nodes, indices_are_sorted=True)
    return jnp.where(hit, at(gradient / jnp.maximum(1, ties), i), 0.0)


_segment_max.defvjp(_segment_max_forward, _segment_max_backward)


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _sparse_max_plus(num_nodes, features, i, j, node, edge):
    return _segment_max(num_nodes, at(node, j) + on_edges(features, edge), i)


def _sparse_max_plus_forward(num_nodes, features, i, j, node, edge):
    best = _sparse_max_plus(num_nodes, features, i, j, node, edge)
    return best, (features, i, j, node, edge, best)


def _sparse_max_plus_backward(num_nodes, saved, gradient):
    features, i, j, node, edge, best = saved
    values = at(node, j) + on_edges(features, edge)
    flow = _winners(num_nodes, values, i, best, gradient)
    d_node = jax.ops.segment_sum(flow, j, num_nodes)
    return None, None, None, d_node, features @ flow


_sparse_max_plus.defvjp(_sparse_max_plus_forward, _sparse_max_plus_backward)
