"""What NE and NE++ do on edges as GPU kernels that write nothing per edge.

XLA writes NE++'s hidden layer out, 3h numbers for every edge, and reads it again. Forwards, a
program holds some nodes in registers and goes through their neighbours, the k-th of every node at
once, and notes who won each maximum, a bit per neighbour. Backwards, a program goes through the
edges of a graph, and products with matrices of zeros and ones bring what flows back to their ends.
"""

from __future__ import annotations

import math
from functools import cache, partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton
from jaxtyping import Array, Float

from algotransfer.networks.layouts.listed import Listed

ROWS = 32  # of a program: nodes forwards, edges backwards; and rows of a graph's own gradients
WARPS = 2


class Weights(NamedTuple):
    """E, and with a hidden layer E' and S, of all processors side by side."""

    along: Float[Array, "f h"]
    hidden_along: Float[Array, "f q"] | None = None
    second: Float[Array, "q h"] | None = None

    @property
    def units(self) -> int:
        """Width of the hidden layer, 0 without one."""
        return 0 if self.second is None else self.second.shape[-2]

    @property
    def outputs(self) -> int:
        return self.along.shape[-1]

    @property
    def kinds(self) -> int:
        """Number of edge features."""
        return self.along.shape[-2]

    @property
    def tile(self) -> int:
        """How many columns of the hidden layer are multiplied at once."""
        return 16 if self.units % 32 else 32

    def edge_rows(self, tile) -> list[Array]:
        """E' in the columns of one tile, for every feature."""
        assert self.hidden_along is not None
        return [self.hidden_along[kind, pl.ds(tile, self.tile)] for kind in range(self.kinds)]


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
        program = partial(_forward_program, product.shape[1], precise, len(shapes))
        arguments = (product.reshape(rows, -1), *lists, *_there(weights))
        found = _call(program, (pl.cdiv(rows, ROWS),), shapes, *arguments)
        return [each.reshape(shape) for each in found]

    @look.def_vmap
    def batched(axis_size, batched, product, lists, weights):
        on_product, on_lists, on_weights = (any(jax.tree.leaves(each)) for each in batched)
        if on_product and not on_weights:
            if on_lists:  # more graphs
                merged = [product, *lists]
                flat = [each.reshape(-1, *each.shape[2:]) for each in merged]
                found = look(flat[0], tuple(flat[1:]), weights)
                split = [each.reshape(axis_size, -1, *each.shape[1:]) for each in found]
                return split, [True] * len(split)
            # more copies: [new, g, c, …] → [g, new c, …]
            moved = jnp.moveaxis(product, 0, 1)
            found = look(moved.reshape(len(moved), -1, *moved.shape[3:]), lists, weights)
            split = [
                jnp.moveaxis(each.reshape(len(each), axis_size, -1, *each.shape[2:]), 1, 0)
                for each in found
            ]
            return split, [True] * len(split)
        axes = jax.tree.map(lambda is_batched: 0 if is_batched else None, tuple(batched))
        found = jax.vmap(look.fun, axes, axis_size=axis_size)(product, lists, weights)
        return found, [True] * len(found)

    return look


def _there(weights: Weights) -> list[Array]:
    return [each for each in weights if each is not None]


def _forward_program(copies, precise, num_outputs, product, order, degree, sender, along, *rest):
    weights, (best, *winners) = _weights_first(rest, num_outputs)
    nodes, units, outputs, width = order.shape[1], weights.units, weights.outputs, weights.tile
    row = ROWS * pl.program_id(0) + jnp.arange(ROWS)
    row = jnp.minimum(row, product.shape[0] - 1)  # rows beyond the last do the same as it
    # Nodes with equally many neighbours are together, so that few programs wait for one node.
    graph, place = row // (copies * nodes), row // copies % nodes
    node = triton.load(order.at[graph, place])
    first = (graph * copies + row % copies) * nodes
    row = first + node
    neighbours = triton.load(degree.at[graph, node])
    tiles = range(0, units, width)
    mine = [_read(product, row, tile, width) for tile in tiles]
    seconds = [_read(weights.second, tile + jnp.arange(width), 0, outputs) for tile in tiles]
    e = [weights.along[kind, :] for kind in range(weights.kinds)]
    hidden_e = [weights.edge_rows(tile) for tile in tiles]

    def look_at(k, found):
        again = jnp.minimum(k, neighbours - 1)  # nodes with fewer neighbours see the last again
        neighbour = first + triton.load(sender.at[graph, again, node])
        feature = [
            triton.load(along.at[graph, kind, again, node])[:, None]
            for kind in range(weights.kinds)
        ]
        total = _plus(_read(product, neighbour, 2 * units, outputs), feature, e)
        for tile, own, second, mine_e in zip(tiles, mine, seconds, hidden_e, strict=True):
            layer = own + _read(product, neighbour, units + tile, width)
            layer = jnp.maximum(_plus(layer, feature, mine_e), 0.0)
            total += _dot(layer, second, (1, 0), precise=precise)
        best, *winners = found
        if winners:
            one = jnp.where(k < neighbours, lax.shift_left(1, k), 0)[:, None]
            tie = jnp.where(total == best, winners[0] | one, winners[0])
            winners = [jnp.where(total > best, one, tie)]
        return jnp.maximum(best, total), *winners

    shape = (ROWS, outputs)
    nothing = [jnp.full(shape, -jnp.inf, jnp.float32), jnp.zeros(shape, jnp.int32)]
    found = lax.fori_loop(0, jnp.max(neighbours), look_at, tuple(nothing[:num_outputs]))
    for ref, values in zip((best, *winners), found, strict=True):
        triton.store(ref.at[row[:, None], jnp.arange(outputs)[None, :]], values)


# Backwards.


def _send_back(product, lists: Listed, weights: Weights, winners, share):
    shapes = [
        jax.ShapeDtypeStruct((ROWS, 2 * weights.units + weights.outputs), jnp.float32),
        jax.ShapeDtypeStruct((max(1, weights.units), weights.outputs), jnp.float32),
    ]
    grid = (max(1, weights.units // weights.tile),)  # a program for each tile of the hidden layer
    read = lists.ends, lists.ends_along, lists.count
    arguments = (product, *read, winners, share, *_there(weights))
    return _call(_backward_program, grid, shapes, *arguments)


def _backward_program(product, ends, along, count, winners, share, *rest):
    weights, (d_columns, d_second) = _weights_first(rest, 2)
    units, outputs, width = weights.units, weights.outputs, weights.tile
    tile = width * pl.program_id(0)
    node, kinds = jnp.arange(ROWS), range(weights.kinds)
    if units:
        second = _split(_read(weights.second, tile + jnp.arange(width), 0, outputs))
        e = weights.edge_rows(tile)

    def look_at(chunk, sums):
        edge = chunk * ROWS + jnp.arange(ROWS)
        there = edge < count[0]
        edge = jnp.minimum(edge, count[0] - 1)
        receiver, sender, rank = (triton.load(ends.at[end, edge]) for end in range(3))
        feature = [triton.load(along.at[kind, edge]) for kind in kinds]
        bits = _read(winners, receiver, 0, outputs)
        won = (lax.shift_right_logical(bits, jnp.broadcast_to(rank[:, None], bits.shape)) & 1) == 1
        got = jnp.where(there[:, None] & won, _read(share, receiver, 0, outputs), 0.0)
        got = _split(got)
        # What comes back to senders; in the last rows, to the edge features.
        to_senders = _one_hot(node, sender)
        for kind in kinds:
            for part, values in enumerate(_split(feature[kind])):
                last = ROWS - 2 * weights.kinds + 2 * kind + part
                to_senders = jnp.where((node == last)[:, None], values[None, :], to_senders)
        to_linear, *hidden = sums
        to_linear += _bring(to_senders, got)
        if hidden:
            to_receiver, to_sender, to_second = hidden
            layer = _read(product, receiver, tile, width)
            layer += _read(product, sender, units + tile, width)
            layer = _plus(layer, [each[:, None] for each in feature], e)
            flow = _split(jnp.where(layer > 0, _precise_dot(got, second, (1, 1)), 0.0))
            to_receiver += _bring(_one_hot(node, receiver), flow)
            to_sender += _bring(to_senders, flow)
            to_second += _precise_dot(_split(jnp.maximum(layer, 0.0)), got, (0, 0))
            hidden = to_receiver, to_sender, to_second
        return to_linear, *hidden

    sums = [jnp.zeros((ROWS, outputs), jnp.float32)]
    if units:
        sums += [jnp.zeros((ROWS, width), jnp.float32)] * 2
        sums += [jnp.zeros((width, outputs), jnp.float32)]
    to_linear, *hidden = lax.fori_loop(0, pl.cdiv(count[0], ROWS), look_at, tuple(sums))

    def write(ref, rows, first, values):
        columns = (first + jnp.arange(values.shape[1]))[None, :]
        triton.store(ref.at[rows[:, None], columns], values)

    write(d_columns, node, 2 * units, to_linear)  # every tile finds the same
    if hidden:
        to_receiver, to_sender, to_second = hidden
        write(d_columns, node, tile, to_receiver)
        write(d_columns, node, units + tile, to_sender)
        write(d_second, tile + jnp.arange(width), 0, to_second)


# What both have in common.


def _call(program, grid, shapes, *arguments):
    anywhere = pl.BlockSpec(memory_space=pl.ANY)
    return pl.pallas_call(
        program,
        grid=grid,
        in_specs=[anywhere] * len(arguments),
        out_specs=[anywhere] * len(shapes),
        out_shape=shapes,
        compiler_params=triton.CompilerParams(num_warps=WARPS, num_stages=1),
        interpret=_interpreted(),
        name=getattr(program, "func", program).__name__.strip("_"),
    )(*arguments)


def _interpreted() -> bool:
    return jax.default_backend() != "gpu"


def _weights_first(refs, num_outputs: int):
    return Weights(*refs[:-num_outputs]), refs[-num_outputs:]


def _read(ref, rows, first, width: int):
    """Rows of a matrix, `width` columns from `first` on."""
    return triton.load(ref.at[rows[:, None], (first + jnp.arange(width))[None, :]])


def _plus(values, feature, weights):
    for each, weight in zip(feature, weights, strict=True):
        values += each * weight[None, :]
    return values


def _one_hot(node, end):
    """A matrix that adds up what edges have at one of their ends."""
    return jnp.where(node[:, None] == end[None, :], 1.0, 0.0)


# Tensor cores multiply tf32, 11 bits of a float. Two parts hold what a product in float32 needs.


def _split(values):
    bits = lax.bitcast_convert_type(values, jnp.int32) & jnp.int32(-(2**13))
    high = lax.bitcast_convert_type(bits, jnp.float32)
    return high, values - high


def _tf32_dot(a, b, contract):
    dimensions = (((contract[0],), (contract[1],)), ((), ()))
    precision = lax.Precision.HIGHEST if _interpreted() else lax.DotAlgorithmPreset.TF32_TF32_F32
    return lax.dot_general(a, b, dimensions, precision, preferred_element_type=jnp.float32)


def _precise_dot(a, b, contract):
    small = _tf32_dot(a[0], b[1], contract) + _tf32_dot(a[1], b[0], contract)
    return small + _tf32_dot(a[0], b[0], contract)


def _dot(values, matrix, contract, *, precise: bool):
    if precise:
        return _precise_dot(_split(values), _split(matrix), contract)
    return _tf32_dot(values, matrix, contract)


def _bring(matrix, values):
    """A matrix of tf32 numbers times values in two parts."""
    return _tf32_dot(matrix, values[0], (1, 0)) + _tf32_dot(matrix, values[1], (1, 0))
