"""NE++'s hidden layer on edges as one GPU kernel, for rollouts that nothing is learned from.

XLA writes the layer out, 3h numbers for every edge, and reads it again. Here a program holds some
nodes of a graph in registers and goes through their neighbours, the k-th of every node at once.
Products are rounded to tf32.
"""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton
from jaxtyping import Array, Float

from algotransfer.networks.layouts.listed import Listed

ROWS = 32  # nodes of a program
COLUMNS = 32  # of the hidden layer that are multiplied at once
WARPS = 4


def fits(second: Float[Array, "q h"]) -> bool:
    """Whether a hidden layer can be cut into tiles of the sizes that a program multiplies."""
    units, outputs = second.shape
    return units % COLUMNS == 0 and outputs >= 16 and outputs & (outputs - 1) == 0


def best_through_hidden_layer(
    product: Float[Array, "n _"],
    layout: Listed,
    along: Float[Array, "f h"],
    hidden_along: Float[Array, "f q"],
    second: Float[Array, "q h"],
) -> Float[Array, "n h"]:
    """max_j (l_j + e_ij + S relu(r_i + s_j + e'_ij)) at every node, without a gradient.

    **Arguments:**

    - `product`: in its first columns r, s and l, one after the other.
    """
    nodes, outputs = layout.num_nodes, second.shape[1]
    interpreted = jax.default_backend() != "gpu"
    call = pl.pallas_call(
        partial(_program, interpreted),
        grid=(-(-nodes // ROWS),),
        in_specs=[pl.BlockSpec(memory_space=pl.ANY)] * 7,
        out_specs=pl.BlockSpec(memory_space=pl.ANY),
        out_shape=jax.ShapeDtypeStruct((nodes, outputs), product.dtype),
        compiler_params=triton.CompilerParams(num_warps=WARPS, num_stages=1),
        interpret=interpreted,
        name="best_through_hidden_layer",
    )
    return call(product, layout.sender, layout.along, layout.most, along, hidden_along, second)


def _program(interpreted, product, sender, features, most, along, hidden_along, second, best):
    nodes, (units, outputs) = product.shape[0], second.shape
    kinds = range(features.shape[0])
    tiles = [slice(k, k + COLUMNS) for k in range(0, units, COLUMNS)]
    row = ROWS * pl.program_id(0) + jnp.arange(ROWS)
    own = jnp.minimum(row, nodes - 1)  # rows beyond the last node do the same as it

    def read(nodes, first, width):
        columns = first + jnp.arange(width)
        return triton.load(product.at[nodes[:, None], columns[None, :]])

    receiver = [read(own, tile.start, COLUMNS) for tile in tiles]
    matrices = [second[tile, :] for tile in tiles]
    precision = None if interpreted else lax.DotAlgorithmPreset.TF32_TF32_F32

    def look_at(k, best):
        j = triton.load(sender.at[k, own])
        feature = [triton.load(features.at[kind, k, own])[:, None] for kind in kinds]

        def arriving(first, weights, columns):
            values = read(j, first + columns.start, columns.stop - columns.start)
            for kind in kinds:
                values += feature[kind] * weights[kind, columns][None, :]
            return values

        total = arriving(2 * units, along, slice(0, outputs))
        for tile, mine, matrix in zip(tiles, receiver, matrices, strict=True):
            layer = jnp.maximum(mine + arriving(units, hidden_along, tile), 0.0)
            total += jnp.dot(layer, matrix, precision=precision, preferred_element_type=jnp.float32)
        return jnp.maximum(best, total)

    nothing = jnp.full((ROWS, outputs), -jnp.inf, jnp.float32)
    found = lax.fori_loop(0, most[0], look_at, nothing)
    triton.store(best.at[own[:, None], jnp.arange(outputs)[None, :]], found)
