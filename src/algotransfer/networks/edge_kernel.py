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

ROWS = 64  # nodes of a program, of one or several copies of a graph
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
    edges = (layout.sender, layout.along, layout.most)
    return _on_copies(product[None], edges, (along, hidden_along, second))[0]


@jax.custom_batching.custom_vmap
def _on_copies(product: Float[Array, "c n _"], edges, weights) -> Float[Array, "c n h"]:
    return _call(product, edges, weights)


@_on_copies.def_vmap
def _more_copies(axis_size, batched, product, edges, weights):
    """Trajectories on one graph are more copies of it; other axes get programs of their own."""
    if not any(jax.tree.leaves(batched[1:])):
        best = _on_copies(product.reshape(-1, *product.shape[2:]), edges, weights)
        return best.reshape(axis_size, -1, *best.shape[1:]), True
    axes = jax.tree.map(lambda is_batched: 0 if is_batched else None, tuple(batched))
    return jax.vmap(_call, axes, axis_size=axis_size)(product, edges, weights), True


def _call(product, edges, weights):
    copies, nodes, width = product.shape
    outputs, interpreted = weights[-1].shape[1], jax.default_backend() != "gpu"
    call = pl.pallas_call(
        partial(_program, interpreted),
        grid=(-(-copies * nodes // ROWS),),
        in_specs=[pl.BlockSpec(memory_space=pl.ANY)] * 7,
        out_specs=pl.BlockSpec(memory_space=pl.ANY),
        out_shape=jax.ShapeDtypeStruct((copies * nodes, outputs), product.dtype),
        compiler_params=triton.CompilerParams(num_warps=WARPS, num_stages=1),
        interpret=interpreted,
        name="best_through_hidden_layer",
    )
    best = call(product.reshape(copies * nodes, width), *edges, *weights)
    return best.reshape(copies, nodes, outputs)


def _program(interpreted, product, sender, features, most, along, hidden_along, second, best):
    nodes, (units, outputs) = sender.shape[-1], second.shape
    kinds = range(features.shape[0])
    tiles = [slice(k, k + COLUMNS) for k in range(0, units, COLUMNS)]
    row = ROWS * pl.program_id(0) + jnp.arange(ROWS)
    row = jnp.minimum(row, product.shape[0] - 1)  # rows beyond the last do the same as it
    node = row % nodes

    def read(rows, first, width):
        columns = first + jnp.arange(width)
        return triton.load(product.at[rows[:, None], columns[None, :]])

    receiver = [read(row, tile.start, COLUMNS) for tile in tiles]
    matrices = [second[tile, :] for tile in tiles]
    precision = None if interpreted else lax.DotAlgorithmPreset.TF32_TF32_F32

    def look_at(k, best):
        neighbour = row - node + triton.load(sender.at[k, node])
        feature = [triton.load(features.at[kind, k, node])[:, None] for kind in kinds]

        def arriving(first, weights, columns):
            values = read(neighbour, first + columns.start, columns.stop - columns.start)
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
    triton.store(best.at[row[:, None], jnp.arange(outputs)[None, :]], found)
