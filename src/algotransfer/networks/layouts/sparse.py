"""The sparse layout: edge lists sorted by receiver, reduced in short pieces."""

from collections.abc import Callable
from functools import reduce

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float, Int

from algotransfer.graphs.graph import Graph
from algotransfer.networks.layouts.base import Layout, at, edge_list, on_edges

PIECE = 8  # edges per piece


class Pieces(eqx.Module):
    """Pieces of a list of edges that is sorted by node; see `Sparse`."""

    slots: Int[Array, "pieces width"]
    owner: Int[Array, " pieces"]
    num_nodes: int = eqx.field(static=True)
    num_edges: int = eqx.field(static=True)  # with padding


class Sparse(Layout):
    """Edge lists sorted by receiving node: memory and time linear in the number of edges.

    Padding of a batch is at the end, with i = j = n. `max_plus` writes no vector per edge: the
    edges of every node are cut into pieces of a few edges, each piece is reduced to one vector in
    a single expression, and then pieces are reduced to nodes. A piece is a row of `slots`, indices
    into the list; indices beyond its end fill up the row.
    """

    features: Float[Array, "f e"]
    i: Int[Array, " e"]
    j: Int[Array, " e"]
    back: Int[Array, " e"]  # edges by sending node; undirected: index of the reversed edge
    slots: Int[Array, "pieces width"]
    owner: Int[Array, " pieces"]  # the receiving node of a piece, or n
    num_nodes: int = eqx.field(static=True)
    leaving: Pieces | None = None  # of `back`, for directed graphs; others have the same pieces

    @property
    def num_edges(self) -> int:
        """Length of the list, with padding."""
        return len(self.i)

    def with_features(self, kinds):
        return eqx.tree_at(lambda self: self.features, self, self.features[jnp.array(kinds)])

    def max_plus(self, node, edge):
        return _max_plus(self, node, edge)

    def max_through_layer(self, product, edge, hidden_edge, second):
        return None  # kernels are for small graphs

    def edge_terms(self, edge):
        return on_edges(self.features, edge)

    def max(self, values):
        return _list_max(self, values)

    def sum_at(self, end, values):
        pieces = self
        if end == "j":
            values, pieces = at(values, self.back), self.leaving or self
        return _total(pieces, lambda slot: at(values, slot))

    @property
    def is_edge(self):
        return self.i < self.num_nodes

    @property
    def is_loop(self):
        return self.is_edge & (self.i == self.j)

    def receiver_scores(self, node):
        return at(node, self.i)

    def sender_scores(self, node):
        return at(node, self.j)

    def sum_scores(self, scores):
        return self._segment(jax.ops.segment_sum, jnp.where(self.is_edge, scores, 0.0))

    def max_scores(self, scores, where):
        return self._segment(jax.ops.segment_max, jnp.where(where, scores, -jnp.inf))

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
        edges = self.is_edge
        if allowed is not None:
            edges = edges & (at(allowed, self.j) | (self.i == self.j))
        return jnp.where(edges, scores, -jnp.inf)


def sparse_layout(graph: Graph, kinds: tuple[str, ...]) -> Sparse:
    """Return the sparse layout of one graph with these kinds of edge features."""
    nodes, (i, j, features) = graph.num_nodes, edge_list(graph, kinds)
    order = jnp.lexsort((j, i))
    i, j = i[order], j[order]
    # An undirected edge is there in both directions: sorting by sender gives the reversed edges.
    back = jnp.argsort(j, stable=True).astype(jnp.int32)
    pieces = _cut(i, nodes)
    return Sparse(
        features=features[:, order],
        i=i,
        j=j,
        back=back,
        slots=pieces.slots,
        owner=pieces.owner,
        num_nodes=nodes,
        leaving=_cut(j[back], nodes) if graph.directed else None,
    )


def _cut(end: Int[Array, " e"], nodes: int) -> Pieces:
    """Cut a list of edges, sorted by the node at one end, into the pieces of every node."""
    count = len(end)
    first = jnp.searchsorted(end, jnp.arange(nodes + 1)).astype(jnp.int32)
    pieces = -(-jnp.diff(first) // PIECE)
    until = jnp.cumsum(pieces)
    most = (count + (PIECE - 1) * nodes) // PIECE  # a self-loop each: no list is empty
    piece = jnp.arange(most, dtype=jnp.int32)
    owner = jnp.searchsorted(until, piece, side="right").astype(jnp.int32)
    begin = at(first, owner) + PIECE * (piece - at(until - pieces, owner))
    slots = begin[:, None] + jnp.arange(PIECE, dtype=jnp.int32)
    inside = (slots < at(first, owner + 1)[:, None]) & (owner < nodes)[:, None]
    return Pieces(jnp.where(inside, slots, count), owner, nodes, count)


def _reduce_in_pieces(
    layout: Sparse | Pieces,
    values: Callable[[Int[Array, " pieces"]], Float[Array, "pieces d"]],
    within: Callable,
    to_nodes: Callable,
    missing: float,
) -> Float[Array, "n d"]:
    """Reduce `values(indices of edges)` to nodes, first within pieces and then over pieces.

    XLA fuses the one expression for the edges of a piece into a loop without intermediate arrays;
    the reduction of pieces to nodes then reads several times fewer rows.
    """

    def column(slot):
        return jnp.where((slot < layout.num_edges)[:, None], values(slot), missing)

    columns = [column(layout.slots[:, k]) for k in range(PIECE)]
    rows = reduce(within, columns)
    return to_nodes(rows, layout.owner, layout.num_nodes, indices_are_sorted=True)


def _maximum(layout: Sparse, values) -> Float[Array, "n d"]:
    return _reduce_in_pieces(layout, values, jnp.maximum, jax.ops.segment_max, -jnp.inf)


def _total(layout: Sparse | Pieces, values) -> Float[Array, "n d"]:
    return _reduce_in_pieces(layout, values, jnp.add, jax.ops.segment_sum, 0.0)


# As in the dense layout, the backward pass recomputes the comparison instead of storing winners.
# The gradient of a sender is summed over its own list, which holds the same edges in the other
# direction with the same features, so that there is no random scatter.


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
    sums = []
    for row in (jnp.ones_like(layout.features[0]), *layout.features):
        # Behind a barrier XLA compares again, instead of storing the comparisons of the forward
        # pass or of the sum before.
        node_again, best_again, *_ = lax.optimization_barrier((node, best, *sums))
        sums.append(_sum_over_winners(layout, node_again, edge, best_again, row))
    ties, *features = sums
    share = gradient / jnp.maximum(1, ties)
    owner_node, arriving = at(node, layout.owner), _arriving(layout, node, edge)

    def leaving(slot):
        receiver = at(layout.j, slot)
        hit = owner_node + on_edges(_features(layout, slot), edge) == at(best, receiver)
        return jnp.where(hit, at(share, receiver), 0.0)

    def leaving_directed(slot):
        slot = at(layout.back, slot)
        receiver, value = at(layout.i, slot), arriving(slot)
        return jnp.where(value == at(best, receiver), at(share, receiver), 0.0)

    d_edge = jnp.stack([jnp.sum(share * each, axis=0) for each in features])
    if layout.leaving is not None:
        return None, _total(layout.leaving, leaving_directed), d_edge
    return None, _total(layout, leaving), d_edge


_max_plus.defvjp(_max_plus_forward, _max_plus_backward)


def _sum_over_winners(layout: Sparse, node, edge, best, row):
    """Return the sum over j of a number per edge, where j attains the maximum."""
    values, owner_best = _arriving(layout, node, edge), at(best, layout.owner)

    def on_winners(slot):
        return jnp.where(values(slot) == owner_best, at(row, slot)[:, None], 0.0)

    return _total(layout, on_winners)


@jax.custom_vjp
def _list_max(layout: Sparse, values):
    return _maximum(layout, lambda slot: at(values, slot))


def _list_max_forward(layout: Sparse, values):
    best = _list_max(layout, values)
    return best, (layout, values, best)


def _list_max_backward(saved, gradient):
    layout, values, best = saved
    owner_best = at(best, layout.owner)
    ties = _total(layout, lambda slot: jnp.where(at(values, slot) == owner_best, 1.0, 0.0))
    hit = (values == at(best, layout.i)) & layout.is_edge[:, None]
    return None, jnp.where(hit, at(gradient / jnp.maximum(1, ties), layout.i), 0.0)


_list_max.defvjp(_list_max_forward, _list_max_backward)
