"""Numbers on edges, in a layout's own shape: where they come from, and what a node makes of them.

`i` receives, `j` sends, and a self-loop stands beside the neighbours. Code written with `Edges`
does not notice whether the layout is dense (a matrix) or sparse (a list).
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from algotransfer.networks.layouts import Dense, Layout, Scores, Sparse
from algotransfer.networks.layouts.base import at


class Edges(NamedTuple):
    """The edges of a graph, self-loops included: a matrix [i, j], or a list."""

    layout: Dense | Sparse
    weight: Scores
    exists: Bool[Array, "..."]
    loop: Bool[Array, "..."]  # i = j

    @classmethod
    def of(cls, layout: Layout) -> Edges:
        """The edges of a layout that has one kind of edge feature."""
        if isinstance(layout, Dense):
            loop = jnp.eye(layout.num_nodes, dtype=bool)
            return cls(layout, layout.features[0], layout.edges, loop)
        assert isinstance(layout, Sparse), f"a layout of type {type(layout).__name__}"
        exists = layout.i < layout.num_nodes
        return cls(layout, layout.features[0], exists, exists & (layout.i == layout.j))

    def receiver(self, node: Array) -> Array:
        """Values of nodes where edges arrive."""
        return node[:, None] if isinstance(self.layout, Dense) else at(node, self.layout.i)

    def sender(self, node: Array) -> Array:
        """Values of nodes where edges start."""
        return node[None, :] if isinstance(self.layout, Dense) else at(node, self.layout.j)

    def sum(self, values: Scores) -> Float[Array, " n"]:
        """The sum over j."""
        values = jnp.where(self.exists, values, 0.0)
        if isinstance(self.layout, Dense):
            return jnp.sum(values, axis=1)
        layout = self.layout
        return jax.ops.segment_sum(values, layout.i, layout.num_nodes, indices_are_sorted=True)

    def max(self, values: Scores, where: Bool[Array, "..."]) -> Float[Array, " n"]:
        """The maximum over those j; −∞ for a node that has none."""
        values = jnp.where(where, values, -jnp.inf)
        if isinstance(self.layout, Dense):
            return jnp.max(values, axis=1)
        layout = self.layout
        return jax.ops.segment_max(values, layout.i, layout.num_nodes, indices_are_sorted=True)

    def softmax(self, scores: Scores) -> Scores:
        """Over j."""
        top = self.receiver(self.max(scores, self.exists))
        parts = jnp.where(self.exists, jnp.exp(scores - top), 0.0)
        return parts / self.receiver(self.sum(parts))

    def argmax(self, scores: Scores) -> Scores:
        """1 where j is the arg-max over i's scores (ties: lowest index), 0 elsewhere."""
        pointer = self.layout.argmax(scores)
        hit = self.receiver(pointer) == self.sender(jnp.arange(self.layout.num_nodes))
        return (self.exists & hit).astype(scores.dtype)


@jax.custom_vjp
def read_at_pointer(
    edges: Edges, scores: Scores, values: Scores, sharp: Bool[Array, ""]
) -> Float[Array, " n"]:
    """values_{i, pointer(i)}, where pointer(i) is the arg-max over j of scores_ij.

    Straight-through: backwards the pointer is the softmax of the scores.

    **Arguments:**

    - `sharp`: otherwise the mean under the softmax is read instead.
    """
    shares = jnp.where(sharp, edges.argmax(scores), edges.softmax(scores))
    return edges.sum(shares * values)


def _forward(edges, scores, values, sharp):
    return read_at_pointer(edges, scores, values, sharp), (edges, scores, values, sharp)


def _backward(saved, gradient):
    edges, scores, values, sharp = saved
    soft, flow = edges.softmax(scores), edges.receiver(gradient)
    mean = edges.receiver(edges.sum(soft * values))
    to_scores = jnp.where(edges.exists, flow * soft * (values - mean), 0.0)
    to_values = flow * jnp.where(sharp, edges.argmax(scores), soft)
    return None, to_scores, to_values, None


read_at_pointer.defvjp(_forward, _backward)
