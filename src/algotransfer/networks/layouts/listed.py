"""A dense layout with the lists of neighbours that a GPU kernel goes through."""

from __future__ import annotations

import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from algotransfer.networks.layouts.dense import Dense


class Listed(Dense):
    """The k-th neighbour of every node; nodes with fewer see themselves again."""

    sender: Int[Array, "n n"]  # [k, i]
    along: Float[Array, "f n n"]  # [f, k, i]
    most: Int[Array, "1"]  # neighbours of a node, itself counted


def with_neighbours(layout: Dense) -> Listed:
    """The same graph with lists of neighbours."""
    own = jnp.arange(layout.num_nodes)[:, None]
    order = jnp.argsort(~layout.edges, axis=1, stable=True)
    there = jnp.take_along_axis(layout.edges, order, axis=1)
    sender = jnp.where(there, order, own).astype(jnp.int32)
    return Listed(
        **vars(layout),
        sender=sender.T,
        along=jnp.swapaxes(jnp.take_along_axis(layout.features, sender[None], axis=2), 1, 2),
        most=jnp.max(jnp.sum(layout.edges, axis=1, dtype=jnp.int32), keepdims=True),
    )
