"""A dense layout with the lists that GPU kernels go through."""

from __future__ import annotations

import dataclasses

import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from algotransfer.networks.layouts.dense import Dense

# Kernels are imported where they are called: Pallas takes long to import, and few need it.


class Listed(Dense):
    """A small graph whose maxima over neighbours are left to a kernel.

    Nodes stand in `order`, those with most neighbours first, themselves counted. Lists of
    neighbours are read up to a node's `degree`, those of edges up to their `count`.
    """

    order: Int[Array, " n"]
    degree: Int[Array, " n"]  # [i]
    sender: Int[Array, "n n"]  # [k, i]: the k-th neighbour
    along: Float[Array, "f n n"]  # [f, k, i]
    ends: Int[Array, "3 e"]  # i, j, and which of i's neighbours j is
    ends_along: Float[Array, "f e"]
    count: Int[Array, "1"]

    def with_features(self, kinds):
        rows = jnp.array(kinds)
        names = ("features", "listed", "along", "ends_along")
        return dataclasses.replace(self, **{name: getattr(self, name)[rows] for name in names})

    def max_plus(self, node, edge):
        from algotransfer.networks.layouts.edge_kernel import best_of_neighbours, fits
        from algotransfer.networks.layouts.edge_programs import Weights

        weights = Weights(edge)
        if fits(self.num_nodes, weights):
            return best_of_neighbours(node, self, weights)
        return super().max_plus(node, edge)

    def max_through(
        self,
        product: Float[Array, "n _"],
        along: Float[Array, "f h"],
        hidden_along: Float[Array, "f q"],
        second: Float[Array, "q h"],
        rounded: bool,
    ) -> Float[Array, "n h"] | None:
        """max_j (l_j + e_ij + S relu(r_i + s_j + e'_ij)), or nothing where no kernel can do it.

        **Arguments:**

        - `product`: in its first columns r, s and l, one after the other.
        - `rounded`: whether products may be rounded to tf32; then there is no gradient.
        """
        from algotransfer.networks.layouts.edge_kernel import best_of_neighbours, fits
        from algotransfer.networks.layouts.edge_programs import Weights

        weights = Weights(along, hidden_along, second)
        if not fits(self.num_nodes, weights):
            return None
        return best_of_neighbours(product, self, weights, learning=not rounded)


def with_neighbours(layout: Dense) -> Listed:
    """The same graph with lists of neighbours."""
    sender = jnp.argsort(~layout.edges, axis=1, stable=True).astype(jnp.int32)
    degree = jnp.sum(layout.edges, axis=1, dtype=jnp.int32)
    rank = jnp.cumsum(layout.edges, axis=1, dtype=jnp.int32) - 1
    ends = jnp.stack([layout.i, layout.j, rank.at[layout.i, layout.j].get(mode="clip")])
    first = jnp.argsort(layout.i >= layout.num_nodes, stable=True)
    return Listed(
        **vars(layout),
        order=jnp.argsort(-degree, stable=True).astype(jnp.int32),
        degree=degree,
        sender=sender.T,
        along=jnp.swapaxes(jnp.take_along_axis(layout.features, sender[None], axis=2), 1, 2),
        ends=ends[:, first],
        ends_along=layout.listed[:, first],
        count=jnp.sum(degree, keepdims=True),
    )
