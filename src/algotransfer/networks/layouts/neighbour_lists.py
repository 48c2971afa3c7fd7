"""Lists of neighbours and edges that GPU kernels iterate over."""

from __future__ import annotations

import dataclasses

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int


class NeighbourLists(eqx.Module):
    """The neighbours of every node of a small graph, and its edges, without padding in between.

    Neighbours of node i are valid up to `degree[i]`, edges up to `count`.
    """

    order: Int[Array, " n"]  # nodes by descending degree
    degree: Int[Array, " n"]  # [i], the node itself counted
    senders: Int[Array, "n n"]  # [k, i]: the k-th neighbour of i
    features: Float[Array, "f n n"]  # [f, k, i]
    ends: Int[Array, "3 e"]  # i, j, and the position of j among the neighbours of i
    end_features: Float[Array, "f e"]
    count: Int[Array, "1"]

    def with_features(self, rows: Int[Array, " _"]) -> NeighbourLists:
        """Return the same lists with only these rows of edge features."""
        kept = {"features": self.features[rows], "end_features": self.end_features[rows]}
        return dataclasses.replace(self, **kept)


def make_neighbour_lists(
    edges: Bool[Array, "n n"],
    features: Float[Array, "f n n"],
    i: Int[Array, " e"],
    j: Int[Array, " e"],
    list_features: Float[Array, "f e"],
) -> NeighbourLists:
    """Build the lists from the fields of a dense layout."""
    senders = jnp.argsort(~edges, axis=1, stable=True).astype(jnp.int32)
    degree = jnp.sum(edges, axis=1, dtype=jnp.int32)
    rank = jnp.cumsum(edges, axis=1, dtype=jnp.int32) - 1
    ends = jnp.stack([i, j, rank.at[i, j].get(mode="clip")])
    padding_last = jnp.argsort(i >= len(edges), stable=True)
    return NeighbourLists(
        order=jnp.argsort(-degree, stable=True).astype(jnp.int32),
        degree=degree,
        senders=senders.T,
        features=jnp.swapaxes(jnp.take_along_axis(features, senders[None], axis=2), 1, 2),
        ends=ends[:, padding_last],
        end_features=list_features[:, padding_last],
        count=jnp.sum(degree, keepdims=True),
    )
