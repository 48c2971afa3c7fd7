"""The sparse layout: sorted edge lists, cut into short pieces for what is wide."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float, Int

from algotransfer.graphs.graph import Graph
from algotransfer.networks.layouts.base import EdgeList, at, on_edges

PIECE = 8  # edges that are looked at together


class Sparse(eqx.Module):
    """Edge lists sorted by receiving node: memory and time linear in the number of edges.

    Padding of a batch sits at the end with i = j = n, out of range. Numbers per edge live on the
    list. A hidden vector per edge is not written: the list of every node is cut into pieces of a
    few edges, a piece is reduced to one vector at once, and only pieces are reduced to nodes.
    A piece is a row of `slots`: places on the list, and places beyond its end to fill the row.
    """

    features: Float[Array, "f e"]
    i: Int[Array, " e"]
    j: Int[Array, " e"]
    back: Int[Array, " e"]  # where the same edge stands in the other direction
    slots: Int[Array, "pieces width"]
    owner: Int[Array, " pieces"]  # the node that a piece belongs to, or n
    num_nodes: int = eqx.field(static=True)

    def with_features(self, kinds: tuple[int, ...]) -> Sparse:
        return eqx.tree_at(lambda self: self.features, self, self.features[jnp.array(kinds)])

    def max_plus(self, node, edge):
        return _max_plus(self, node, edge)

    def pairs(self, receiver, sender, edge):
        values: Array = _spread(self, "j", sender)
        if receiver is not None:
            own: Array = _spread(self, "i", receiver)
            values = own + values
        return values + on_edges(self.features, edge)

    def max(self, values):
        return _list_max(self, values)

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
    edges, nodes = EdgeList(graph, kinds), graph.num_nodes
    order = jnp.lexsort((edges.j, edges.i))
    i, j = edges.i[order], edges.j[order]
    count = len(i)
    # The list holds every edge in both directions: sorted by its other end, it stands reversed.
    back = jnp.argsort(j, stable=True).astype(jnp.int32)

    first = jnp.searchsorted(i, jnp.arange(nodes + 1)).astype(jnp.int32)
    pieces = -(-jnp.diff(first) // PIECE)
    until = jnp.cumsum(pieces)
    most = (count + (PIECE - 1) * nodes) // PIECE  # a self-loop each: no list is empty
    piece = jnp.arange(most, dtype=jnp.int32)
    owner = jnp.searchsorted(until, piece, side="right").astype(jnp.int32)
    begin = at(first, owner) + PIECE * (piece - at(until - pieces, owner))
    slots = begin[:, None] + jnp.arange(PIECE, dtype=jnp.int32)
    inside = (slots < at(first, owner + 1)[:, None]) & (owner < nodes)[:, None]
    return Sparse(
        features=edges.features[:, order],
        i=i,
        j=j,
        back=back,
        slots=jnp.where(inside, slots, count),
        owner=owner,
        num_nodes=nodes,
    )


def _in_pieces(
    layout: Sparse,
    over: Callable[[Int[Array, " pieces"]], Float[Array, "pieces d"]],
    together: Callable,
    to_nodes: Callable,
    missing: float,
) -> Float[Array, "n d"]:
    """Reduces what `over` says of edges, given by their places on the list, to nodes.

    The edges of a piece stand in one expression, which XLA turns into one loop without arrays in
    between; the reduction of pieces to nodes then has several times fewer rows to read.
    """

    def column(slot):
        return jnp.where((slot < len(layout.i))[:, None], over(slot), missing)

    columns = [column(layout.slots[:, k]) for k in range(PIECE)]
    return _to_nodes(layout, to_nodes, reduce(together, columns))


def _to_nodes(layout: Sparse, to_nodes: Callable, rows: Float[Array, "pieces d"]):
    return to_nodes(rows, layout.owner, layout.num_nodes, indices_are_sorted=True)


def _maximum(layout: Sparse, over) -> Float[Array, "n d"]:
    return _in_pieces(layout, over, jnp.maximum, jax.ops.segment_max, -jnp.inf)


def _total(layout: Sparse, over) -> Float[Array, "n d"]:
    return _in_pieces(layout, over, jnp.add, jax.ops.segment_sum, 0.0)


# As in the dense layout, the backward pass compares again instead of storing who won. What flows
# back from receivers to a sender is summed over the sender's own edges, which lead to the same
# nodes with the same features: nothing is scattered at random.


@jax.custom_vjp
def _max_plus(layout: Sparse, node, edge):
    return _maximum(layout, _arriving(layout, node, edge))


def _arriving(layout: Sparse, node, edge):
    def values(slot):
        return at(node, at(layout.j, slot)) + on_edges(_features(layout, slot), edge)

    return values


def _features(layout: Sparse, slot):
    return [at(row, slot) for row in layout.features]


def _max_plus_forward(layout: Sparse, node, edge):
    best = _max_plus(layout, node, edge)
    return best, (layout, node, edge, best)


def _max_plus_backward(saved, gradient):
    layout, node, edge, best = saved
    own_best, own_node = (at(values, layout.owner) for values in (best, node))
    arriving = _arriving(layout, node, edge)

    def count(sums, slot):  # winners, and the sums of their features
        hit = (arriving(slot) == own_best) & (slot < len(layout.i))[:, None]
        rows = [1.0, *(row[:, None] for row in _features(layout, slot))]
        return [
            total + jnp.where(hit, row, 0.0) for total, row in zip(sums, rows, strict=True)
        ], None

    # A loop, so that XLA does not keep what arrives for two sums, and not from the forward pass.
    sums, _ = lax.scan(
        count, [jnp.zeros_like(own_best)] * (1 + len(layout.features)), layout.slots.T
    )
    ties, *along = (_to_nodes(layout, jax.ops.segment_sum, total) for total in sums)
    share = gradient / jnp.maximum(1, ties)

    def leaving(slot):
        receiver = at(layout.j, slot)
        hit = own_node + on_edges(_features(layout, slot), edge) == at(best, receiver)
        return jnp.where(hit, at(share, receiver), 0.0)

    d_edge = jnp.stack([jnp.sum(share * each, axis=0) for each in along])
    return None, _total(layout, leaving), d_edge


_max_plus.defvjp(_max_plus_forward, _max_plus_backward)


@partial(jax.custom_vjp, nondiff_argnums=(1,))
def _spread(layout: Sparse, end: str, values):
    """Values of nodes at one end of every edge of the list, `i` or `j`."""
    return at(values, getattr(layout, end))


def _spread_forward(layout: Sparse, end: str, values):
    return _spread(layout, end, values), layout


def _spread_backward(end: str, layout: Sparse, gradient):
    if end == "j":
        gradient = at(gradient, layout.back)
    return None, _total(layout, lambda slot: at(gradient, slot))


_spread.defvjp(_spread_forward, _spread_backward)


@jax.custom_vjp
def _list_max(layout: Sparse, values):
    return _maximum(layout, lambda slot: at(values, slot))


def _list_max_forward(layout: Sparse, values):
    best = _list_max(layout, values)
    return best, (layout, values, best)


def _list_max_backward(saved, gradient):
    layout, values, best = saved
    own_best = at(best, layout.owner)
    ties = _total(layout, lambda slot: jnp.where(at(values, slot) == own_best, 1.0, 0.0))
    hit = (values == at(best, layout.i)) & (layout.i < layout.num_nodes)[:, None]
    return None, jnp.where(hit, at(gradient / jnp.maximum(1, ties), layout.i), 0.0)


_list_max.defvjp(_list_max_forward, _list_max_backward)
