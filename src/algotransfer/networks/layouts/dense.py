"""The dense layout: adjacency matrices, and a list of the edges that exist."""

from __future__ import annotations

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float, Int

from algotransfer.graphs.graph import Graph
from algotransfer.networks.layouts.base import EdgeList, at, on_edges


class Dense(eqx.Module):
    """Adjacency matrices: fast for graphs of up to a few hundred nodes.

    A maximum of sums runs over the matrix, where XLA fuses everything into one reduction. What
    costs a small network per edge runs over the list of edges, several times shorter than the
    matrix; `slots` says where in the list each pair of nodes stands, and at its end if nowhere.
    """

    features: Float[Array, "f n n"]
    edges: Bool[Array, "n n"]  # with the diagonal
    listed: Float[Array, "f e"]  # the same features, on the list
    i: Int[Array, " e"]
    j: Int[Array, " e"]
    slots: Int[Array, "n n"]

    @property
    def num_nodes(self) -> int:
        return self.edges.shape[-1]

    def with_features(self, kinds: tuple[int, ...]) -> Dense:
        rows = jnp.array(kinds)
        return Dense(self.features[rows], self.edges, self.listed[rows], self.i, self.j, self.slots)

    def max_plus(self, node, edge):
        return _dense_max_plus(self.features, self.edges, node, edge)

    def pairs(self, receiver, sender, edge):
        values: Array = _spread(0, sender, self.j, self.slots)
        if receiver is not None:
            own: Array = _spread(1, receiver, self.i, self.slots)
            values = own + values
        return values + on_edges(self.listed, edge)

    def max(self, values):
        return _slot_max(values, self.i, self.slots)

    def scores(self, sender, edge):
        return sender[None, :] + on_edges(self.features, edge)

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


def dense_layout(graph: Graph, kinds: tuple[str, ...]) -> Dense:
    """The dense layout of one graph with these kinds of edge features."""
    weights, adjacency = graph.weight_matrix(), graph.adjacency()
    features = {"weight": weights, "one": adjacency.astype(weights.dtype)}
    edges = EdgeList(graph, kinds)
    count = len(edges.i)
    nowhere = jnp.full((graph.num_nodes, graph.num_nodes), count, jnp.int32)
    return Dense(
        features=jnp.stack([features[kind] for kind in kinds]),
        edges=adjacency | jnp.eye(graph.num_nodes, dtype=bool),
        listed=edges.features,
        i=edges.i,
        j=edges.j,
        slots=nowhere.at[edges.i, edges.j].set(jnp.arange(count), mode="drop"),
    )


# The gradient of a max touches only the winning neighbour, so the backward pass compares again
# instead of storing anything of size n × n × h; it is shared equally among ties, as JAX does.
# A GPU fuses everything into one reduction. On a CPU XLA would write the matrix out and read it
# again, so that there neighbours are gone through one by one, and only n × h numbers move.


@jax.custom_vjp
def _dense_max_plus(features, edges, node, edge):
    return lax.platform_dependent(
        features, edges, node, edge, cpu=_best_one_by_one, default=_best_at_once
    )


def _best_at_once(features, edges, node, edge):
    return jnp.max(_allowed(edges, node[None, :, :] + on_edges(features, edge)), axis=1)


def _best_one_by_one(features, edges, node, edge):
    def look_at(best, neighbour):
        row, mask, value = neighbour
        return jnp.maximum(best, _allowed(mask, value + on_edges(row, edge))), None

    best, _ = lax.scan(look_at, jnp.full_like(node, -jnp.inf), _columns(features, edges, node))
    return best


def _columns(features, edges, node):
    """What arrives from each neighbour j: features [f, i], a mask [i], a value [h]."""
    return jnp.moveaxis(features, 2, 0), edges.T, node


def _allowed(edges, values):
    return jnp.where(edges[..., None], values, -jnp.inf)


def _dense_max_plus_forward(features, edges, node, edge):
    best = _dense_max_plus(features, edges, node, edge)
    return best, (features, edges, node, edge, best)


def _dense_max_plus_backward(saved, gradient):
    flows = lax.platform_dependent(*saved, gradient, cpu=_flows_one_by_one, default=_flows_at_once)
    return None, None, *flows


def _flows_at_once(features, edges, node, edge, best, gradient):
    values = node[None, :, :] + on_edges(features, edge)
    hit = edges[..., None] & (values == best[:, None, :])
    share = gradient / jnp.maximum(1, jnp.sum(hit, axis=1))
    flow = jnp.where(hit, share[:, None, :], 0.0)  # [i, j, h], fused into the sums that read it
    return jnp.sum(flow, axis=0), jnp.stack(
        [jnp.sum(flow * row[..., None], axis=(0, 1)) for row in features]
    )


def _flows_one_by_one(features, edges, node, edge, best, gradient):
    nothing = jnp.zeros_like(node)

    def count(ties, neighbour):
        row, mask, value = neighbour
        hit = _allowed(mask, value + on_edges(row, edge)) == best
        return ties + jnp.where(hit, 1.0, 0.0), None

    ties, _ = lax.scan(count, nothing, _columns(features, edges, node))

    def send_back(sums, receiver):
        row, mask, best, share = receiver
        flow = jnp.where(_allowed(mask, node + on_edges(row, edge)) == best, share, 0.0)  # [j, h]
        to_node, to_edge = sums
        to_edge = tuple(a + flow * b[:, None] for a, b in zip(to_edge, row, strict=True))
        return (to_node + flow, to_edge), None

    receivers = (jnp.moveaxis(features, 1, 0), edges, best, gradient / jnp.maximum(1, ties))
    sums, _ = lax.scan(send_back, (nothing, (nothing,) * len(features)), receivers)
    to_node, to_edge = sums
    return to_node, jnp.stack([jnp.sum(each, axis=0) for each in to_edge])


_dense_max_plus.defvjp(_dense_max_plus_forward, _dense_max_plus_backward)


# Between nodes and the list of edges everything moves by gathers, in both directions: what arrives
# at a node stands in its row of `slots`, what it sends in its column. Scatters would be slower.


def _matrix(values: Float[Array, "e d"], slots: Int[Array, "n n"], missing: float):
    """Values on the list as a matrix [i, j, d]."""
    return values.at[slots].get(mode="fill", fill_value=missing)


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _spread(axis, values, index, slots):
    return at(values, index)


def _spread_forward(axis, values, index, slots):
    return at(values, index), slots


def _spread_backward(axis, slots, gradient):
    return jnp.sum(_matrix(gradient, slots, 0.0), axis=axis), None, None


_spread.defvjp(_spread_forward, _spread_backward)


@jax.custom_vjp
def _slot_max(values, i, slots):
    return jnp.max(_matrix(values, slots, -jnp.inf), axis=1)


def _slot_max_forward(values, i, slots):
    best = _slot_max(values, i, slots)
    return best, (values, i, slots, best)


def _slot_max_backward(saved, gradient):
    values, i, slots, best = saved
    equal = _matrix(values, slots, -jnp.inf) == best[:, None]
    ties = jnp.sum(jnp.where(equal, 1.0, 0.0), axis=1)  # XLA:CPU adds floats several at once
    hit = (values == at(best, i)) & (i < len(best))[:, None]
    return jnp.where(hit, at(gradient / jnp.maximum(1, ties), i), 0.0), None, None


_slot_max.defvjp(_slot_max_forward, _slot_max_backward)
