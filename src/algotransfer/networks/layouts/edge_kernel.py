"""What NE and NE++ do on edges, by GPU kernels that write nothing per edge.

XLA writes NE++'s hidden layer out, 3h numbers for every edge, and reads it again. The programs in
`edge_programs.py` do not. Here they are called, given a gradient, and batched.
"""

from __future__ import annotations

import math
from functools import cache, partial

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton
from jaxtyping import Array, Float

from algotransfer.networks.layouts.edge_programs import (
    ROWS,
    Weights,
    backward_program,
    forward_program,
    interpreted,
)
from algotransfer.networks.layouts.listed import Listed

WARPS = 2


def fits(num_nodes: int, weights: Weights) -> bool:
    """Whether everything can be cut into tiles of the sizes that programs multiply."""
    power_of_two = weights.outputs & (weights.outputs - 1) == 0
    small = num_nodes + 2 * weights.kinds <= ROWS  # backwards, a feature has two rows
    return weights.units % 16 == 0 and weights.outputs >= 16 and power_of_two and small


def best_of_neighbours(
    product: Float[Array, "n _"], lists: Listed, weights: Weights, learning: bool = True
) -> Float[Array, "n h"]:
    """max_j (l_j + e_ij + S relu(r_i + s_j + e'_ij)) at every node.

    **Arguments:**

    - `product`: in its first columns r, s and l, one after the other; l alone without a hidden
        layer.
    - `learning`: whether there will be a gradient. Without, products are rounded to tf32.
    """
    if learning:
        return _learned(product, lists, weights)
    return _look(product, lists, weights, precise=False)[0]


@jax.custom_vjp
def _learned(product, lists, weights):
    return _look(product, lists, weights)[0]


def _forward(product, lists, weights):
    best, winners = _look(product, lists, weights, winners=True)
    return best, (product, lists, weights, winners)


def _backward(saved, gradient):
    product, lists, weights, winners = saved
    share = gradient / jnp.maximum(1, lax.population_count(winners))
    d_columns, d_second = _send_back(product, lists, weights, winners, share)
    # The last rows are what flowed back to edge features, each in two parts.
    features = d_columns[ROWS - 2 * weights.kinds :].reshape(weights.kinds, 2, -1).sum(1)
    d_along = features[:, 2 * weights.units :]
    d_weights = Weights(d_along)
    if weights.units:
        d_weights = Weights(d_along, features[:, weights.units : 2 * weights.units], d_second)
    width = product.shape[-1] - d_columns.shape[-1]
    return jnp.pad(d_columns[: len(product)], [(0, 0), (0, width)]), None, d_weights


_learned.defvjp(_forward, _backward)


# Forwards. Programs do not care whose nodes they hold: those of several trajectories on one graph
# (copies), and of all graphs that share weights, are cut into programs together.


def _look(product, lists: Listed, weights: Weights, *, precise=True, winners=False):
    read = lists.order, lists.degree, lists.sender, lists.along
    one_graph = jax.tree.map(lambda each: each[None], read)
    found = _on_copies(precise, winners)(product[None, None], one_graph, weights)
    return [each[0, 0] for each in found]


@cache
def _on_copies(precise: bool, winners: bool):
    @jax.custom_batching.custom_vmap
    def look(product: Float[Array, "g c n _"], lists, weights: Weights):
        shape = (*product.shape[:3], weights.outputs)
        rows = math.prod(shape[:3])
        kinds = (jnp.float32, jnp.int32) if winners else (jnp.float32,)
        shapes = [jax.ShapeDtypeStruct((rows, weights.outputs), kind) for kind in kinds]
        program = partial(forward_program, product.shape[1], precise, len(shapes))
        arguments = (product.reshape(rows, -1), *lists, *_there(weights))
        found = _call(program, (pl.cdiv(rows, ROWS),), shapes, *arguments)
        return [each.reshape(shape) for each in found]

    @look.def_vmap
    def rule(axis_size, batched, product, lists, weights):
        of_product, of_lists, of_weights = (jax.tree.leaves(each) for each in batched)
        if of_product[0] and not any(of_weights + of_lists):
            found = _more_copies(look, product, lists, weights)
        elif of_product[0] and all(of_lists) and not any(of_weights):
            found = _more_graphs(look, product, lists, weights)
        else:
            axes = jax.tree.map(lambda is_batched: 0 if is_batched else None, tuple(batched))
            found = jax.vmap(look.fun, axes, axis_size=axis_size)(product, lists, weights)
        return found, [True] * len(found)

    return look


def _more_copies(look, product: Float[Array, "new g c n _"], lists, weights):
    new, graphs = product.shape[:2]
    merged = jnp.moveaxis(product, 0, 1).reshape(graphs, -1, *product.shape[3:])
    found = look(merged, lists, weights)
    return [jnp.moveaxis(each.reshape(graphs, new, -1, *each.shape[2:]), 1, 0) for each in found]


def _more_graphs(look, product: Float[Array, "new g c n _"], lists, weights):
    new = len(product)
    product, *lists = (each.reshape(-1, *each.shape[2:]) for each in (product, *lists))
    found = look(product, tuple(lists), weights)
    return [each.reshape(new, -1, *each.shape[1:]) for each in found]


def _send_back(product, lists: Listed, weights: Weights, winners, share):
    shapes = [
        jax.ShapeDtypeStruct((ROWS, 2 * weights.units + weights.outputs), jnp.float32),
        jax.ShapeDtypeStruct((max(1, weights.units), weights.outputs), jnp.float32),
    ]
    grid = (max(1, weights.units // weights.tile),)  # a program for each tile of the hidden layer
    read = lists.ends, lists.ends_along, lists.count
    arguments = (product, *read, winners, share, *_there(weights))
    return _call(backward_program, grid, shapes, *arguments)


def _there(weights: Weights) -> list[Array]:
    return [each for each in weights if each is not None]


def _call(program, grid, shapes, *arguments):
    anywhere = pl.BlockSpec(memory_space=pl.ANY)
    return pl.pallas_call(
        program,
        grid=grid,
        in_specs=[anywhere] * len(arguments),
        out_specs=[anywhere] * len(shapes),
        out_shape=shapes,
        compiler_params=triton.CompilerParams(num_warps=WARPS, num_stages=1),
        interpret=interpreted(),
        name=getattr(program, "func", program).__name__,
    )(*arguments)
