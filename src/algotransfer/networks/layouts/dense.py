"""The dense layout: adjacency matrices, and a list of the edges that exist."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.ad_checkpoint import checkpoint_name
from jaxtyping import Array, Bool, Float, Int

from algotransfer.graphs.graph import Graph
from algotransfer.networks.layouts.base import KEPT, Layout, NeighbourLists, at, edge_list, on_edges


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

    def max_through_layer(self, product, edge, hidden_edge, second):
        return self._max_by_kernel(product, edge, hidden_edge, second)

    def _max_by_kernel(self, product, *weights):
        if self.neighbours is None:
            return None
        # Imported here because Pallas takes long to import, and only GPUs need it.
        from algotransfer.networks.layouts.edge_kernel import Weights, fits, max_over_neighbours

        kernel_weights = Weights(*weights)
        if not fits(self.num_nodes, kernel_weights):
            return None
        return max_over_neighbours(product, self.neighbours, kernel_weights)

    def edge_terms(self, edge):
        return on_edges(self.list_features, edge)

    def max(self, values):
        return _list_max(values, self.i, self.slots)

    def sum_at(self, end, values):
        return jnp.sum(_matrix(values, self.slots, 0.0), axis={"i": 1, "j": 0}[end])

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
    i, j, list_features = edge_list(graph, kinds)
    count = len(i)
    no_edge = jnp.full((graph.num_nodes, graph.num_nodes), count, jnp.int32)
    return Dense(
        features=jnp.stack([features[kind] for kind in kinds]),
        edges=adjacency | jnp.eye(graph.num_nodes, dtype=bool),
        list_features=list_features,
        i=i,
        j=j,
        slots=no_edge.at[i, j].set(jnp.arange(count), mode="drop"),
        num_nodes=graph.num_nodes,
    )


# The gradient of a max reaches only the winning neighbour, so the backward pass recomputes the
# comparison instead of storing arrays of size n × n × h. Ties share it equally, as in JAX.


@jax.custom_vjp
def _dense_max_plus(features, edges, node, edge):
    values = node[None, :, :] + on_edges(features, edge)
    return jnp.max(jnp.where(edges[..., None], values, -jnp.inf), axis=1)


def _dense_max_plus_forward(features, edges, node, edge):
    best = _dense_max_plus(features, edges, node, edge)
    return best, (features, edges, node, edge, best)


def _dense_max_plus_backward(saved, gradient):
    features, edges, node, edge, best = saved
    values = node[None, :, :] + on_edges(features, edge)
    hit = edges[..., None] & (values == best[:, None, :])
    share = gradient / jnp.maximum(1, jnp.sum(hit, axis=1))
    flow = jnp.where(hit, share[:, None, :], 0.0)  # [i, j, h], fused into the sums that read it
    d_edge = jnp.stack([jnp.sum(flow * row[..., None], axis=(0, 1)) for row in features])
    return None, None, jnp.sum(flow, axis=0), d_edge


_dense_max_plus.defvjp(_dense_max_plus_forward, _dense_max_plus_backward)


# Values move between nodes and the list of edges by gathers in both directions: edges that arrive
# at a node are its row of `slots`, edges that leave it are its column. Scatters would add in any
# order on a GPU.


def _matrix(values: Float[Array, "e d"], slots: Int[Array, "n n"], missing: float):
    """Return values on the list as a matrix [i, j, d]."""
    return values.at[slots].get(mode="fill", fill_value=missing)


@jax.custom_vjp
def _list_max(values, i, slots):
    return jnp.max(_matrix(values, slots, -jnp.inf), axis=1)


def _list_max_forward(values, i, slots):
    matrix = _matrix(values, slots, -jnp.inf)
    best = jnp.max(matrix, axis=1)
    ties = jnp.sum(matrix == best[:, None], axis=1)
    hit = (values == at(best, i)) & (i < len(best))[:, None]
    return best, (checkpoint_name(hit, KEPT), checkpoint_name(ties, KEPT), i)


def _list_max_backward(saved, gradient):
    hit, ties, i = saved
    return jnp.where(hit, at(gradient / jnp.maximum(1, ties), i), 0.0), None, None


_list_max.defvjp(_list_max_forward, _list_max_backward)
