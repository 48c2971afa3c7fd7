"""Pallas programs for maxima over neighbours.

The forward program holds some nodes in registers and loops over their neighbours, the k-th of every
node at once; it records the winners of each maximum, one bit per neighbour. The backward program
loops over the edges of a graph; products with one-hot matrices sum gradients at their ends.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton
from jaxtyping import Array, Float

from algotransfer.devices import default_platform

ROWS = 32  # of a program: nodes (forward) or edges (backward); and rows of a graph's gradients


class Weights(NamedTuple):
    """Weights of e, and with a hidden layer weights of e' and S, of all processors side by side."""

    edge: Float[Array, "f h"]
    hidden_edge: Float[Array, "f q"] | None = None
    second: Float[Array, "q h"] | None = None

    @property
    def units(self) -> int:
        """Width of the hidden layer; 0 if there is none."""
        return 0 if self.second is None else self.second.shape[-2]

    @property
    def outputs(self) -> int:
        return self.edge.shape[-1]

    @property
    def kinds(self) -> int:
        """Number of edge features."""
        return self.edge.shape[-2]

    @property
    def tile(self) -> int:
        """Columns of the hidden layer in one product."""
        return 16 if self.units % 32 else 32

    def edge_rows(self, tile) -> list[Array]:
        """Return the columns of one tile of the weights of e', for every feature."""
        assert self.hidden_edge is not None
        return [self.hidden_edge[kind, pl.ds(tile, self.tile)] for kind in range(self.kinds)]


def forward_program(copies, num_outputs, product, order, degree, senders, features, *rest):
    """Write the maxima, and with two outputs their winners, of g graphs × c copies × n nodes."""
    weights, (best, *winners) = _split_refs(rest, num_outputs)
    nodes, units, outputs, width = order.shape[1], weights.units, weights.outputs, weights.tile
    row = ROWS * pl.program_id(0) + jnp.arange(ROWS)
    row = jnp.minimum(row, product.shape[0] - 1)  # rows beyond the last repeat it
    # Nodes of similar degree share a program, so that few programs wait for one node.
    graph, place = row // (copies * nodes), row // copies % nodes
    node = triton.load(order.at[graph, place])
    first = (graph * copies + row % copies) * nodes
    row = first + node
    neighbours = triton.load(degree.at[graph, node])
    tiles = range(0, units, width)
    receiver = [_read(product, row, tile, width) for tile in tiles]
    seconds = [
        _split(_read(weights.second, tile + jnp.arange(width), 0, outputs)) for tile in tiles
    ]
    e = [weights.edge[kind, :] for kind in range(weights.kinds)]
    hidden_e = [weights.edge_rows(tile) for tile in tiles]

    def compare(k, found):
        again = jnp.minimum(k, neighbours - 1)  # nodes with fewer neighbours repeat their last
        neighbour = first + triton.load(senders.at[graph, again, node])
        feature = [triton.load(features.at[graph, f, again, node]) for f in range(weights.kinds)]
        total = plus_edge(_read(product, neighbour, 2 * units, outputs), feature, e)
        for tile, own, second, tile_e in zip(tiles, receiver, seconds, hidden_e, strict=True):
            layer = own + _read(product, neighbour, units + tile, width)
            layer = jnp.maximum(plus_edge(layer, feature, tile_e), 0.0)
            total += _precise_dot(_split(layer), second, (1, 0))
        best, *winners = found
        if winners:
            one = jnp.where(k < neighbours, lax.shift_left(1, k), 0)[:, None]
            tie = jnp.where(total == best, winners[0] | one, winners[0])
            winners = [jnp.where(total > best, one, tie)]
        return jnp.maximum(best, total), *winners

    shape = (ROWS, outputs)
    start = [jnp.full(shape, -jnp.inf, jnp.float32), jnp.zeros(shape, jnp.int32)]
    found = lax.fori_loop(0, jnp.max(neighbours), compare, tuple(start[:num_outputs]))
    for ref, values in zip((best, *winners), found, strict=True):
        triton.store(ref.at[row[:, None], jnp.arange(outputs)[None, :]], values)


def backward_program(product, ends, end_features, count, winners, share, *rest):
    """Write the gradients of r, s and l of one graph, below them of edge features, and of S."""
    weights, (d_columns, d_second) = _split_refs(rest, 2)
    units, outputs, width = weights.units, weights.outputs, weights.tile
    tile = width * pl.program_id(0)
    node, kinds = jnp.arange(ROWS), range(weights.kinds)
    if units:
        second = _split(_read(weights.second, tile + jnp.arange(width), 0, outputs))
        e = weights.edge_rows(tile)

    def add_chunk(chunk, sums):
        edge = chunk * ROWS + jnp.arange(ROWS)
        exists = edge < count[0]
        edge = jnp.minimum(edge, count[0] - 1)
        receiver, sender, rank = (triton.load(ends.at[end, edge]) for end in range(3))
        feature = [triton.load(end_features.at[kind, edge]) for kind in kinds]
        bits = _read(winners, receiver, 0, outputs)
        won = (lax.shift_right_logical(bits, jnp.broadcast_to(rank[:, None], bits.shape)) & 1) == 1
        got = jnp.where(exists[:, None] & won, _read(share, receiver, 0, outputs), 0.0)
        got = _split(got)
        # One-hot rows sum gradients at senders; the last rows sum those of edge features.
        to_senders = _one_hot(node, sender)
        for kind in kinds:
            for part, values in enumerate(_split(feature[kind])):
                last = ROWS - 2 * weights.kinds + 2 * kind + part
                to_senders = jnp.where((node == last)[:, None], values[None, :], to_senders)
        to_linear, *hidden = sums
        to_linear += _exact_dot(to_senders, got)
        if hidden:
            to_receiver, to_sender, to_second = hidden
            layer = _read(product, receiver, tile, width)
            layer += _read(product, sender, units + tile, width)
            layer = plus_edge(layer, feature, e)
            flow = _split(jnp.where(layer > 0, _precise_dot(got, second, (1, 1)), 0.0))
            to_receiver += _exact_dot(_one_hot(node, receiver), flow)
            to_sender += _exact_dot(to_senders, flow)
            to_second += _precise_dot(_split(jnp.maximum(layer, 0.0)), got, (0, 0))
            hidden = to_receiver, to_sender, to_second
        return to_linear, *hidden

    sums = [jnp.zeros((ROWS, outputs), jnp.float32)]
    if units:
        sums += [jnp.zeros((ROWS, width), jnp.float32)] * 2
        sums += [jnp.zeros((width, outputs), jnp.float32)]
    to_linear, *hidden = lax.fori_loop(0, pl.cdiv(count[0], ROWS), add_chunk, tuple(sums))

    def write(ref, rows, first, values):
        columns = (first + jnp.arange(values.shape[1]))[None, :]
        triton.store(ref.at[rows[:, None], columns], values)

    write(d_columns, node, 2 * units, to_linear)  # the same for every tile
    if hidden:
        to_receiver, to_sender, to_second = hidden
        write(d_columns, node, tile, to_receiver)
        write(d_columns, node, units + tile, to_sender)
        write(d_second, tile + jnp.arange(width), 0, to_second)


def interpreted() -> bool:
    """Return whether Pallas interprets programs, as it does without a GPU."""
    return default_platform() != "gpu"


def _split_refs(refs, num_outputs: int):
    return Weights(*refs[:-num_outputs]), refs[-num_outputs:]


def _read(ref, rows, first, width: int):
    """Read rows of a matrix, `width` columns starting at `first`."""
    return triton.load(ref.at[rows[:, None], (first + jnp.arange(width))[None, :]])


def plus_edge(values, features, weights):
    """Add edge features times their weights, a row of values per edge."""
    for feature, weight in zip(features, weights, strict=True):
        values += feature[:, None] * weight[None, :]
    return values


def _one_hot(node, end):
    """Return the matrix that sums values of edges at one of their ends."""
    return jnp.where(node[:, None] == end[None, :], 1.0, 0.0)


# Tensor cores multiply tf32, 11 bits of a float32. Split in two parts, products keep its precision.


def _split(values):
    bits = lax.bitcast_convert_type(values, jnp.int32) & jnp.int32(-(2**13))
    high = lax.bitcast_convert_type(bits, jnp.float32)
    return high, values - high


def _tf32_dot(a, b, contract):
    dimensions = (((contract[0],), (contract[1],)), ((), ()))
    precision = lax.Precision.HIGHEST if interpreted() else lax.DotAlgorithmPreset.TF32_TF32_F32
    return lax.dot_general(a, b, dimensions, precision, preferred_element_type=jnp.float32)


def _precise_dot(a, b, contract):
    small = _tf32_dot(a[0], b[1], contract) + _tf32_dot(a[1], b[0], contract)
    return small + _tf32_dot(a[0], b[0], contract)


def _exact_dot(matrix, values):
    """Multiply a matrix that is exact in tf32 by values split in two parts."""
    return _tf32_dot(matrix, values[0], (1, 0)) + _tf32_dot(matrix, values[1], (1, 0))
