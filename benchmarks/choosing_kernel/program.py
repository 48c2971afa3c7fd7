"""A Pallas program that samples trajectories of one graph, with all steps in one launch.

A step is that of `algotransfer.networks.folded.Folded`, with its names (NE has no r, s and S):
[r, s, l, k] = first[x, h];  b_i = max_j (l_j + e_ij + S relu(r_i + s_j + e'_ij));
[h', y] = k + update b. Then the next node is chosen from y, as in `Sequential.advance`.

A row is a node in a trajectory, and one product multiplies rows of several trajectories. s and l,
which neighbours read, are written to scratch memory that fits the caches of a multiprocessor.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton
from jaxtyping import Array, Float, Int

from algotransfer.networks.layouts.edge_programs import Weights, interpreted

COLUMNS = 32  # columns of s and l in one product


class Tiling(NamedTuple):
    """Division of trajectories into programs and of rows into tiles, and the product with S."""

    copies: int = 5  # trajectories of a program
    rows: int = 64  # rows of a tile
    warps: int = 4
    edge_product: str = "f16"  # or bf16x3: three products of bfloat16 parts

    def num_rows(self, num_nodes: int) -> int:
        return self.rows * pl.cdiv(self.copies * num_nodes, self.rows)


class Graph(NamedTuple):
    """A graph, its initial node features, and the noise and number of its steps."""

    order: Int[Array, " n"]
    degree: Int[Array, " n"]
    senders: Int[Array, "n n"]
    features: Float[Array, "f n n"]
    start: Float[Array, "2 n"]
    noise: Float[Array, "k steps n"]
    steps: Int[Array, "1"]


class Matrices(NamedTuple):
    """Weights of a folded step. A leading 2 means that bfloat16 parts add up to the matrix."""

    hidden: Float[Array, "2 h _rslk"]  # from h to r, s, l and k
    hidden_y: Float[Array, "y h"]
    x: Float[Array, "x _rslky"]
    update: Float[Array, "2 h h"]  # from b to h'
    update_y: Float[Array, "y h"]
    edge: Float[Array, "f h"]
    hidden_edge: Float[Array, "f q"] | None = None
    second: Float[Array, "_ q h"] | None = None  # S: one part of float16, or two of bfloat16


class Memory(NamedTuple):
    """Outputs and scratch memory. Steps read one half of `hidden` and `x` and write the other.

    The last entry of `x` and `y` is padding, written for nodes and trajectories beyond the last.
    """

    hidden: Float[Array, "programs 2 rows h"]
    x: Float[Array, "programs 2 x rows+1"]
    messages: Float[Array, "programs rows _sl"]
    y: Float[Array, "programs y rows+1"]


def rollout_program(tiling: Tiling, num_matrices: int, *refs):
    """Run all steps of some trajectories of one graph."""
    graph, refs = Graph(*refs[: len(Graph._fields)]), refs[len(Graph._fields) :]
    matrices, memory = Matrices(*refs[:num_matrices]), Memory(*refs[num_matrices:])
    step = _Step(tiling, graph, matrices, memory)
    step.for_tiles(step.initialise)

    def body(t, carry):
        step.for_tiles(lambda rows: step.send(rows, t & 1))
        step.for_tiles(lambda rows: step.receive(rows, t & 1))
        step.visit(t)
        _barrier()
        return carry

    lax.fori_loop(0, graph.steps[0], body, 0)


class _Rows(NamedTuple):
    node: Int[Array, " rows"]
    copy: Int[Array, " rows"]
    place: Int[Array, " rows"]  # index into the rows of `Memory`


class _Step:
    """The parts of a step: `send`, `receive`, `visit`, with a barrier after each."""

    def __init__(self, tiling: Tiling, graph: Graph, matrices: Matrices, memory: Memory):
        self.tiling, self.graph, self.matrices, self.memory = tiling, graph, matrices, memory
        self.program, self.nodes = pl.program_id(0), graph.order.shape[0]
        self.weights = Weights(matrices.edge, matrices.hidden_edge, matrices.second)
        self.units, self.outputs = self.weights.units, self.weights.outputs

    def for_tiles(self, part):
        """Run a part for every tile of rows, then wait. Nodes of similar degree share a tile."""
        size, copies = self.tiling.rows, self.tiling.copies

        def one(tile, carry):
            row = tile * size + jnp.arange(size)
            rank = jnp.minimum(lax.div(row, jnp.full_like(row, copies)), self.nodes - 1)
            copy = lax.rem(row, jnp.full_like(row, copies))
            node = triton.load(self.graph.order.at[rank])
            # Results of rows beyond the last node are not read.
            exists = row < copies * self.nodes
            part(_Rows(node, copy, jnp.where(exists, node * copies + copy, row)))
            return carry

        lax.fori_loop(0, self.tiling.num_rows(self.nodes) // size, one, 0)
        _barrier()

    def initialise(self, rows: _Rows):
        zeros = jnp.zeros((self.tiling.rows, self.memory.hidden.shape[-1]), jnp.float32)
        self._write(self.memory.hidden, (0,), rows, 0, zeros)
        for kind in range(self.memory.x.shape[2]):
            start = triton.load(self.graph.start.at[kind, rows.node])
            for half in range(2):  # `visit` does not write rows beyond the last
                triton.store(self.memory.x.at[self.program, half, kind, rows.place], start)

    def send(self, rows: _Rows, half):
        """Write s and l."""
        hidden, x = self._state(rows, half)
        parts = _bfloat16_parts(hidden)
        for first in range(0, self.units + self.outputs, COLUMNS):
            values = self._linear(parts, x, self.units + first, COLUMNS)
            self._write(self.memory.messages, (), rows, first, values)

    def receive(self, rows: _Rows, half):
        """Write h' and y."""
        hidden, x = self._state(rows, half)
        parts = _bfloat16_parts(hidden)
        best = self._max_over_neighbours(rows, parts, x)
        keep, width = 2 * self.units + self.outputs, hidden.shape[1]
        update = [self.matrices.update[part] for part in range(2)]
        after = self._linear(parts, x, keep, width) + _product(_bfloat16_parts(best), update)
        self._write(self.memory.hidden, (1 - half,), rows, 0, after)
        for output in range(self.memory.y.shape[1]):
            y = jnp.sum(hidden * self.matrices.hidden_y[output][None, :], axis=1)
            y += jnp.sum(best * self.matrices.update_y[output][None, :], axis=1)
            for kind, values in enumerate(x):
                y += values * self.matrices.x[kind, keep + width + output]
            triton.store(self.memory.y.at[self.program, output, rows.place], y)

    def _max_over_neighbours(self, rows: _Rows, parts, x):
        weights, kinds, width = self.weights, range(self.weights.kinds), self.weights.tile
        tiles = range(0, self.units, width)
        receiver = [self._linear(parts, x, tile, width) for tile in tiles]
        seconds = [
            [weights.second[part, pl.ds(tile, width), :] for part in range(len(weights.second))]
            for tile in tiles
        ]
        e = [weights.edge[kind, :] for kind in kinds]
        hidden_e = [weights.edge_rows(tile) for tile in tiles]
        degree = triton.load(self.graph.degree.at[rows.node])

        def compare(k, best):
            again = jnp.minimum(k, degree - 1)  # nodes with fewer neighbours repeat the last one
            sender = triton.load(self.graph.senders.at[again, rows.node])
            place = sender * self.tiling.copies + rows.copy
            feature = [triton.load(self.graph.features.at[f, again, rows.node]) for f in kinds]
            total = self._read(self.memory.messages, (), place, self.units, self.outputs)
            for each, weight in zip(feature, e, strict=True):
                total += each[:, None] * weight[None, :]
            for tile, own, second, tile_e in zip(tiles, receiver, seconds, hidden_e, strict=True):
                for each, weight in zip(feature, tile_e, strict=True):
                    own += each[:, None] * weight[None, :]
                layer = own + self._read(self.memory.messages, (), place, tile, width)
                total += self._second_product(jnp.maximum(layer, 0.0), second)
            return jnp.maximum(best, total)

        start = jnp.full((self.tiling.rows, self.outputs), -jnp.inf, jnp.float32)
        return lax.fori_loop(0, jnp.max(degree), compare, start)

    def visit(self, t):
        """Sample the next node of every trajectory, as `Sequential.advance` with `carry_all`."""
        copies, half = self.tiling.copies, t & 1
        copy = jnp.arange(pl.next_power_of_2(copies))[:, None]
        node = jnp.arange(pl.next_power_of_2(self.nodes))[None, :]
        exists = (copy < copies) & (node < self.nodes)
        place = jnp.where(exists, node * copies + copy, self.memory.x.shape[-1] - 1)
        trajectory = jnp.minimum(self.program * copies + copy, self.graph.noise.shape[0] - 1)
        noise = triton.load(self.graph.noise.at[trajectory, t, jnp.minimum(node, self.nodes - 1)])
        visited, key = (self._load(self.memory.x, half, kind, place) for kind in range(2))
        logit, new_key = (self._load(self.memory.y, output, place) for output in range(2))
        is_open = exists & (visited < 0.5)
        some = jnp.max(jnp.where(is_open, 1, 0), axis=1)[:, None] > 0
        logit = jnp.where(is_open, logit + noise, -jnp.inf)
        top = jnp.max(logit, axis=1)[:, None]
        chosen = jnp.min(jnp.where(is_open & (logit == top), node, node.shape[1]), axis=1)[:, None]
        visited = jnp.where(node == chosen, visited + 1.0, visited)
        for kind, values in enumerate((visited, jnp.where(some, new_key, key))):
            triton.store(self.memory.x.at[self.program, 1 - half, kind, place], values)

    def _state(self, rows: _Rows, half):
        width, kinds = self.memory.hidden.shape[-1], range(self.memory.x.shape[2])
        hidden = self._read(self.memory.hidden, (half,), rows.place, 0, width)
        return hidden, [self._load(self.memory.x, half, kind, rows.place) for kind in kinds]

    def _linear(self, parts, x, first, width: int):
        """Return columns of first[x, h]."""
        columns = pl.ds(first, width)
        values = _product(parts, [self.matrices.hidden[part, :, columns] for part in range(2)])
        for kind, each in enumerate(x):
            values += each[:, None] * self.matrices.x[kind, columns][None, :]
        return values

    def _second_product(self, layer, second):
        if self.tiling.edge_product == "bf16x3":
            return _product(_bfloat16_parts(layer), second)
        return _dot(layer.astype(jnp.float16), second[0])

    def _load(self, ref, *index):
        return triton.load(ref.at[(self.program, *index)])

    def _read(self, ref, half, place, first, width: int):
        columns = first + jnp.arange(width)
        return self._load(ref, *half, place[:, None], columns[None, :])

    def _write(self, ref, half, rows: _Rows, first, values):
        columns = first + jnp.arange(values.shape[1])
        triton.store(ref.at[(self.program, *half, rows.place[:, None], columns[None, :])], values)


def _bfloat16_parts(values):
    high = values.astype(jnp.bfloat16)
    return high, (values - high.astype(jnp.float32)).astype(jnp.bfloat16)


def _product(a, b):
    """Multiply matrices in two parts each, as `DotAlgorithmPreset.BF16_BF16_F32_X3` does."""
    return _dot(a[1], b[0]) + _dot(a[0], b[1]) + _dot(a[0], b[0])


def _dot(a, b):
    # Without an explicit precision, JAX takes that of `jax.default_matmul_precision`, under which
    # training chooses trajectories, and makes three products of each.
    dimensions = (((1,), (0,)), ((), ()))
    return lax.dot_general(a, b, dimensions, lax.Precision.DEFAULT, jnp.float32)


def _barrier():
    """Wait for all threads of the program, so that they read what others wrote."""
    if not interpreted():
        triton.debug_barrier()
