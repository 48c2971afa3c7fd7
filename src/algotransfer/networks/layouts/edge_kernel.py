"""Maxima over neighbours by GPU kernels that write nothing per edge.

XLA writes NE++'s hidden layer to memory, 3h numbers for every edge, and reads it again. The
programs in `edge_programs.py` keep it in registers. This module calls them and defines their
gradient and their batching. `run_program` also runs the kernel for trajectories.
"""

import math
from functools import cache, partial

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton
from jaxtyping import Array, Float

from algotransfer.networks.layouts.base import NeighbourLists
from algotransfer.networks.layouts.edge_programs import (
    ROWS,
    Weights,
    backward_program,
    forward_program,
    interpreted,
)

WARPS = 2


def fits(num_nodes: int, weights: Weights) -> bool:
    """Return whether all arrays can be cut into tiles of the sizes that programs multiply."""
    power_of_two = weights.outputs & (weights.outputs - 1) == 0
    small = num_nodes + 2 * weights.kinds <= ROWS  # backwards, a feature has two rows
    return weights.units % 16 == 0 and weights.outputs >= 16 and power_of_two and small


@jax.custom_vjp
def max_over_neighbours(
    product: Float[Array, "n _"], lists: NeighbourLists, weights: Weights
) -> Float[Array, "n h"]:
    """Return max_j (l_j + e_ij + S relu(r_i + s_j + e'_ij)) at every node.

    The first columns of `product` are r, s and l, or l alone without a hidden layer.
    """
    return _run_forward(product, lists, weights)[0]


def _forward(product, lists, weights):
    best, winners = _run_forward(product, lists, weights, winners=True)
    return best, (product, lists, weights, winners)


def _backward(saved, gradient):
    product, lists, weights, winners = saved
    share = gradient / jnp.maximum(1, lax.population_count(winners))
    d_columns, d_second = _run_backward(product, lists, weights, winners, share)
    # The last rows are gradients of edge features, each in two parts.
    features = d_columns[ROWS - 2 * weights.kinds :].reshape(weights.kinds, 2, -1).sum(1)
    d_edge = features[:, 2 * weights.units :]
    d_weights = Weights(d_edge)
    if weights.units:
        d_weights = Weights(d_edge, features[:, weights.units : 2 * weights.units], d_second)
    width = product.shape[-1] - d_columns.shape[-1]
    return jnp.pad(d_columns[: len(product)], [(0, 0), (0, width)]), None, d_weights


max_over_neighbours.defvjp(_forward, _backward)


# Forward pass. One program may hold nodes of several trajectories on one graph (copies) and of
# several graphs, as long as they share weights; the batching rules below merge them.


def _run_forward(product, lists: NeighbourLists, weights: Weights, winners: bool = False):
    read = lists.order, lists.degree, lists.senders, lists.features
    one_graph = product[None, None], tuple(each[None] for each in read), weights
    return [found[0, 0] for found in _batched_forward(winners)(*one_graph)]


@cache
def _batched_forward(winners: bool):
    @jax.custom_batching.custom_vmap
    def forward(product: Float[Array, "g c n _"], lists, weights: Weights):
        shape = (*product.shape[:3], weights.outputs)
        rows = math.prod(shape[:3])
        kinds = (jnp.float32, jnp.int32) if winners else (jnp.float32,)
        shapes = [jax.ShapeDtypeStruct((rows, weights.outputs), kind) for kind in kinds]
        program = partial(forward_program, product.shape[1], len(shapes))
        arguments = product.reshape(rows, -1), lists, weights
        found = run_program(program, (pl.cdiv(rows, ROWS),), shapes, arguments, WARPS)
        return [each.reshape(shape) for each in found]

    @forward.def_vmap
    def rule(axis_size, batched, product, lists, weights):
        of_product, of_lists, of_weights = (jax.tree.leaves(each) for each in batched)
        if of_product[0] and not any(of_weights + of_lists):
            found = _more_copies(forward, product, lists, weights)
        elif of_product[0] and all(of_lists) and not any(of_weights):
            found = _more_graphs(forward, product, lists, weights)
        else:
            axes = jax.tree.map(lambda is_batched: 0 if is_batched else None, tuple(batched))
            found = jax.vmap(forward.fun, axes, axis_size=axis_size)(product, lists, weights)
        return found, [True] * len(found)

    return forward


def _more_copies(forward, product: Float[Array, "new g c n _"], lists, weights):
    new, graphs = product.shape[:2]
    merged = jnp.moveaxis(product, 0, 1).reshape(graphs, -1, *product.shape[3:])
    found = forward(merged, lists, weights)
    return [jnp.moveaxis(each.reshape(graphs, new, -1, *each.shape[2:]), 1, 0) for each in found]


def _more_graphs(forward, product: Float[Array, "new g c n _"], lists, weights):
    new = len(product)
    product, *lists = (each.reshape(-1, *each.shape[2:]) for each in (product, *lists))
    found = forward(product, tuple(lists), weights)
    return [each.reshape(new, -1, *each.shape[1:]) for each in found]


def _run_backward(product, lists: NeighbourLists, weights: Weights, winners, share):
    shapes = [
        jax.ShapeDtypeStruct((ROWS, 2 * weights.units + weights.outputs), jnp.float32),
        jax.ShapeDtypeStruct((max(1, weights.units), weights.outputs), jnp.float32),
    ]
    grid = (max(1, weights.units // weights.tile),)  # a program for each tile of the hidden layer
    read = lists.ends, lists.end_features, lists.count
    arguments = product, read, winners, share, weights
    return run_program(backward_program, grid, shapes, arguments, WARPS)


def run_program(
    program, grid: tuple[int, ...], shapes: list[jax.ShapeDtypeStruct], arguments, warps: int
):
    """Run a program for every index of `grid`; arguments that are None are left out."""
    arguments, anywhere = jax.tree.leaves(arguments), pl.BlockSpec(memory_space=pl.ANY)
    return pl.pallas_call(
        program,
        grid=grid,
        in_specs=[anywhere] * len(arguments),
        out_specs=[anywhere] * len(shapes),
        out_shape=shapes,
        compiler_params=triton.CompilerParams(num_warps=warps, num_stages=1),
        interpret=interpreted(),
        name=getattr(program, "func", program).__name__,
    )(*arguments)
