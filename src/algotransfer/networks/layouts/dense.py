"""The dense layout: adjacency matrices, and a list of the edges that exist."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax
from jax.ad_checkpoint import checkpoint_name
from jaxtyping import Array, Bool, Float, Int

from algotransfer.graphs.graph import Graph
from algotransfer.networks.layouts.base import KEPT, EdgeList, Layout, NeighbourLists, at, on_edges


class Dense(Layout):
    """Adjacency matrices: fast for graphs of up to a few hundred nodes.

    `max_plus` runs over the matrix, where XLA fuses everything into one reduction. Vectors on
    edges use the list, which is several times shorter than the matrix; `slots` maps pairs of nodes
    to their row of the list, and to its end where there is no edge. With `neighbours`, GPU kernels
    compute the maxima.
    """

    features: Float[Array, "f n n"]
    edges: Bool[Array, "n n"]  # with the diagonal
    list_features: Float[Array, "f e"]
    i: Int[Array, " e"]
    j: Int[Array, " e"]
    slots: Int[Array, "n n"]
    num_nodes: int = eqx.field(static=True)
    neighbours: NeighbourLists | None = None

    def with_features(self, kinds):
        rows = jnp.array(kinds)
        lists = self.neighbours
        return dataclasses.replace(
            self,
            features=self.features[rows],
            list_features=self.list_features[rows],
            neighbours=None if lists is None else lists.with_features(rows),
        )

    def with_neighbours(self) -> "Dense":
        """Return the same graph with the lists that GPU kernels need."""
        senders = jnp.argsort(~self.edges, axis=1, stable=True).astype(jnp.int32)
        degree = jnp.sum(self.edges, axis=1, dtype=jnp.int32)
        rank = jnp.cumsum(self.edges, axis=1, dtype=jnp.int32) - 1
        ends = jnp.stack([self.i, self.j, rank.at[self.i, self.j].get(mode="clip")])
        padding_last = jnp.argsort(self.i >= self.num_nodes, stable=True)
        features = jnp.take_along_axis(self.features, senders[None], axis=2)
        lists = NeighbourLists(
            order=jnp.argsort(-degree, stable=True).astype(jnp.int32),
            degree=degree,
            senders=senders.T,
            features=jnp.swapaxes(features, 1, 2),
            ends=ends[:, padding_last],
            end_features=self.list_features[:, padding_last],
            count=jnp.sum(degree, keepdims=True),
        )
        return dataclasses.replace(self, neighbours=lists)

    def max_plus(self, node, edge):
        best = self._max_by_kernel(node, edge)
        return _dense_max_plus(self.features, self.edges, node, edge) if best is None else best

    def max_through_layer(self, product, edge, hidden_edge, second, rounded):
        return self._max_by_kernel(product, edge, hidden_edge, second, rounded=rounded)

    def _max_by_kernel(self, product, *weights, rounded: bool = False):
        if self.neighbours is None:
            return None
        # Imported here because Pallas takes long to import, and only GPUs need it.
        from algotransfer.networks.layouts.edge_kernel import Weights, fits, max_over_neighbours

        kernel_weights = Weights(*weights)
        if not fits(self.num_nodes, kernel_weights):
            return None
        return max_over_neighbours(product, self.neighbours, kernel_weights, learning=not rounded)

    def edge_terms(self, edge):
        return on_edges(self.list_features, edge)

    def max(self, values):
        return _list_max(values, self.i, self.slots)

    def sum_at(self, end, values):
        return _list_sum(values, getattr(self, end), self.slots, axis={"i": 1, "j": 0}[end])

    @property
    def is_edge(self):
        return self.edges

    @property
    def is_loop(self):
        return jnp.eye(self.num_nodes, dtype=bool)

    def receiver_scores(self, node):
        return node[:, None]

    def sender_scores(self, node):
        return node[None, :]

    def sum_scores(self, scores):
        return jnp.sum(jnp.where(self.edges, scores, 0.0), axis=1)

    def max_scores(self, scores, where):
        return jnp.max(jnp.where(where, scores, -jnp.inf), axis=1)

    def scores(self, sender, edge):
        return sender[None, :] + on_edges(self.features, edge)

    def log_softmax_at(self, scores, index, allowed=None):
        scores = self._masked(scores, allowed)
        at_index = jnp.take_along_axis(scores, index[:, None], axis=1)[:, 0]
        return at_index - jax.nn.logsumexp(scores, axis=1)

    def argmax(self, scores, allowed=None):
        return jnp.argmax(self._masked(scores, allowed), axis=1).astype(jnp.int32)

    def reach(self, nodes):
        return jnp.any(self.edges & nodes[None, :], axis=1)

    def _masked(self, scores, allowed):
        edges = self.edges
        if allowed is not None:  # self is always an allowed predecessor
            edges = edges & (allowed[None, :] | self.is_loop)
        return jnp.where(edges, scores, -jnp.inf)


def dense_layout(graph: Graph, kinds: tuple[str, ...]) -> "Dense":
    """Return the dense layout of one graph with these kinds of edge features."""
    arriving = graph.reverse()
    weights, adjacency = arriving.weight_matrix(), arriving.adjacency()
    features = {"weight": weights, "one": adjacency.astype(weights.dtype)}
    edges = EdgeList(graph, kinds)
    count = len(edges.i)
    no_edge = jnp.full((graph.num_nodes, graph.num_nodes), count, jnp.int32)
    return Dense(
        features=jnp.stack([features[kind] for kind in kinds]),
        edges=adjacency | jnp.eye(graph.num_nodes, dtype=bool),
        list_features=edges.features,
        i=edges.i,
        j=edges.j,
        slots=no_edge.at[edges.i, edges.j].set(jnp.arange(count), mode="drop"),
        num_nodes=graph.num_nodes,
    )


# The gradient of a max reaches only the winning neighbour, so the backward pass recomputes the
# comparison instead of storing arrays of size n × n × h. Ties share it equally, as in JAX.
# XLA fuses everything into one reduction on a GPU. On a CPU it would write the matrix out and read
# it again; a loop over neighbours moves only n × h numbers per iteration.


@jax.custom_vjp
def _dense_max_plus(features, edges, node, edge):
    return lax.platform_dependent(
        features, edges, node, edge, cpu=_max_in_loop, default=_max_at_once
    )


def _max_at_once(features, edges, node, edge):
    return jnp.max(_allowed(edges, node[None, :, :] + on_edges(features, edge)), axis=1)


def _max_in_loop(features, edges, node, edge):
    def compare(best, neighbour):
        row, mask, value = neighbour
        return jnp.maximum(best, _allowed(mask, value + on_edges(row, edge))), None

    best, _ = lax.scan(compare, jnp.full_like(node, -jnp.inf), _columns(features, edges, node))
    return best


def _columns(features, edges, node):
    """Return for each neighbour j: features [f, i], a mask [i], a value [h]."""
    return jnp.moveaxis(features, 2, 0), edges.T, node


def _allowed(edges, values):
    return jnp.where(edges[..., None], values, -jnp.inf)


def _dense_max_plus_forward(features, edges, node, edge):
    best = _dense_max_plus(features, edges, node, edge)
    return best, (features, edges, node, edge, best)


def _dense_max_plus_backward(saved, gradient):
    gradients = lax.platform_dependent(
        *saved, gradient, cpu=_gradient_in_loop, default=_gradient_at_once
    )
    return None, None, *gradients


def _gradient_at_once(features, edges, node, edge, best, gradient):
    values = node[None, :, :] + on_edges(features, edge)
    hit = edges[..., None] & (values == best[:, None, :])
    share = gradient / jnp.maximum(1, jnp.sum(hit, axis=1))
    flow = jnp.where(hit, share[:, None, :], 0.0)  # [i, j, h], fused into the sums that read it
    return jnp.sum(flow, axis=0), jnp.stack(
        [jnp.sum(flow * row[..., None], axis=(0, 1)) for row in features]
    )


def _gradient_in_loop(features, edges, node, edge, best, gradient):
    zeros = jnp.zeros_like(node)

    def count(ties, neighbour):
        row, mask, value = neighbour
        hit = _allowed(mask, value + on_edges(row, edge)) == best
        return ties + jnp.where(hit, 1.0, 0.0), None

    ties, _ = lax.scan(count, zeros, _columns(features, edges, node))

    def send_back(sums, receiver):
        row, mask, best, share = receiver
        flow = jnp.where(_allowed(mask, node + on_edges(row, edge)) == best, share, 0.0)  # [j, h]
        to_node, to_edge = sums
        to_edge = tuple(a + flow * b[:, None] for a, b in zip(to_edge, row, strict=True))
        return (to_node + flow, to_edge), None

    receivers = (jnp.moveaxis(features, 1, 0), edges, best, gradient / jnp.maximum(1, ties))
    sums, _ = lax.scan(send_back, (zeros, (zeros,) * len(features)), receivers)
    to_node, to_edge = sums
    return to_node, jnp.stack([jnp.sum(each, axis=0) for each in to_edge])


_dense_max_plus.defvjp(_dense_max_plus_forward, _dense_max_plus_backward)


# The list of edges is reduced to nodes by scatters on a CPU. On a GPU scatters would add in any
# order, so the list is gathered into a matrix: edges that arrive at a node are its row of `slots`,
# edges that leave it are its column.


def _matrix(values: Float[Array, "e d"], slots: Int[Array, "n n"], missing: float):
    """Return values on the list as a matrix [i, j, d]."""
    return values.at[slots].get(mode="fill", fill_value=missing)


def _list_sum(values, end, slots, axis: int):
    return lax.platform_dependent(
        values,
        end,
        slots,
        cpu=lambda values, end, slots: jax.ops.segment_sum(values, end, len(slots)),
        default=lambda values, end, slots: jnp.sum(_matrix(values, slots, 0.0), axis=axis),
    )


@jax.custom_vjp
def _list_max(values, i, slots):
    return lax.platform_dependent(
        values,
        i,
        slots,
        cpu=lambda values, i, slots: jax.ops.segment_max(values, i, len(slots)),
        default=lambda values, i, slots: jnp.max(_matrix(values, slots, -jnp.inf), axis=1),
    )


def _list_max_forward(values, i, slots):
    best = _list_max(values, i, slots)
    hit = (values == at(best, i)) & (i < len(best))[:, None]
    ties = _list_sum(hit.astype(values.dtype), i, slots, axis=1)
    return best, (checkpoint_name(hit, KEPT), checkpoint_name(ties, KEPT), i)


def _list_max_backward(saved, gradient):
    hit, ties, i = saved
    return jnp.where(hit, at(gradient / jnp.maximum(1, ties), i), 0.0), None, None


_list_max.defvjp(_list_max_forward, _list_max_backward)
