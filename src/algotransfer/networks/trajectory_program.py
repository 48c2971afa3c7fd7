"""A Pallas program that samples trajectories of one graph, with all steps in one launch.

A step is that of `Folded`, with its names (NE has no r, s and S):
[r, s, l, k] = first[x, h];  b_i = max_j (l_j + e_ij + S relu(r_i + s_j + e'_ij));
[h', y] = k + update b. Then the next node is chosen from y, as in `Sequential.advance`.

A row is a node in a trajectory, and one product multiplies rows of several trajectories. s and l,
which neighbours read, are written to scratch memory that fits the caches of a multiprocessor.
"""

from typing import Any, NamedTuple

import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton
from jaxtyping import Array, Int

from algotransfer.networks.layouts.edge_programs import interpreted, plus_edge

COPIES = 5  # trajectories of a program
ROWS = 64  # rows of a tile
# The hidden layer is computed times this power of two, so that float16 holds values up to 16
# million, with as many bits as tf32 above 0.02.
HALF_SCALE = 2.0**-8


Ref = Any  # of a Pallas program, or the array that it refers to


class Graph(NamedTuple):
    """A graph, its initial node features, and the noise and number of its steps."""

    order: Ref  # [n]
    degree: Ref  # [n]
    senders: Ref  # [n, n]
    features: Ref  # [f, n, n]
    start: Ref  # [2, n]
    noise: Ref  # [trajectories, steps, n]
    steps: Ref  # [1]


class Matrices(NamedTuple):
    """Weights of a folded step. A leading 2 means that bfloat16 parts add up to the matrix."""

    hidden: Ref  # [2, h, columns] from h to r, s, l and k
    hidden_y: Ref  # [2, h] from h to both outputs
    x: Ref  # [2, columns] from x to r, s, l, k and both outputs
    update: Ref  # [2, p, h] from b to h'; p is h times the number of processors
    update_y: Ref  # [2, p]
    edge: Ref  # [f, p]
    hidden_edge: Ref = None  # [f, q] float16
    second: Ref = None  # [q, p] S divided by HALF_SCALE, float16

    @property
    def units(self) -> int:
        """Width of the hidden layer; 0 if there is none."""
        return 0 if self.second is None else self.second.shape[0]

    @property
    def outputs(self) -> int:
        return self.edge.shape[1]


class Memory(NamedTuple):
    """Outputs and scratch memory. Steps read one half of `hidden` and `x` and write the other.

    The last entry of `x` and `y` is padding, written for nodes and trajectories beyond the last.
    """

    hidden: Ref  # [programs, 2, rows, h]
    x: Ref  # [programs, 2, 2, rows+1]
    layer: Ref  # [programs, rows, q] float16: s
    linear: Ref  # [programs, rows, p]: l
    y: Ref  # [programs, 2, rows+1]


def num_rows(num_nodes: int) -> int:
    """Return the rows of a program: nodes times trajectories, padded to whole tiles."""
    return ROWS * pl.cdiv(COPIES * num_nodes, ROWS)


def trajectory_program(num_matrices: int, *refs):
    """Run all steps of some trajectories of one graph."""
    graph, refs = Graph(*refs[: len(Graph._fields)]), refs[len(Graph._fields) :]
    step = _Step(graph, Matrices(*refs[:num_matrices]), Memory(*refs[num_matrices:]))
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

    def __init__(self, graph: Graph, matrices: Matrices, memory: Memory):
        self.graph, self.matrices, self.memory = graph, matrices, memory
        self.program, self.nodes = pl.program_id(0), graph.order.shape[0]
        self.units, self.outputs = matrices.units, matrices.outputs
        self.hidden = memory.hidden.shape[-1]
        self.tile = min(32, self.hidden)  # columns in one product

    def for_tiles(self, part):
        """Run a part for every tile of rows, then wait. Nodes of similar degree share a tile."""

        def one(tile, carry):
            row = tile * ROWS + jnp.arange(ROWS)
            rank = jnp.minimum(lax.div(row, jnp.full_like(row, COPIES)), self.nodes - 1)
            copy = lax.rem(row, jnp.full_like(row, COPIES))
            node = triton.load(self.graph.order.at[rank])
            # Results of rows beyond the last node are not read.
            exists = row < COPIES * self.nodes
            part(_Rows(node, copy, jnp.where(exists, node * COPIES + copy, row)))
            return carry

        lax.fori_loop(0, num_rows(self.nodes) // ROWS, one, 0)
        _barrier()

    def initialise(self, rows: _Rows):
        zeros = jnp.zeros((ROWS, self.hidden), jnp.float32)
        self._write(self.memory.hidden, zeros, rows.place[:, None], 0, 0)
        for kind in range(2):
            start = triton.load(self.graph.start.at[kind, rows.node])
            for half in range(2):  # `visit` does not write rows beyond the last
                triton.store(self.memory.x.at[self.program, half, kind, rows.place], start)

    def send(self, rows: _Rows, half):
        """Write s and l."""
        parts, x = self._state(rows, half)
        for memory, start, width in (
            (self.memory.layer, self.units, self.units),
            (self.memory.linear, 2 * self.units, self.outputs),
        ):
            for column in range(0, width, self.tile):
                values = self._linear(parts, x, start + column, self.tile)
                self._write(memory, values.astype(memory.dtype), rows.place[:, None], column)

    def receive(self, rows: _Rows, half):
        """Write h' and y."""
        parts, x = self._state(rows, half)
        best = self._max_over_neighbours(rows, parts, x)
        keep = 2 * self.units + self.outputs
        update = [self.matrices.update[part] for part in range(2)]
        after = self._linear(parts, x, keep, self.hidden) + _product(_bfloat16_parts(best), update)
        self._write(self.memory.hidden, after, rows.place[:, None], 0, 1 - half)
        hidden = self._read(self.memory.hidden, rows.place, 0, self.hidden, half)
        for output in range(2):
            y = jnp.sum(hidden * self.matrices.hidden_y[output][None, :], axis=1)
            y += jnp.sum(best * self.matrices.update_y[output][None, :], axis=1)
            for kind, values in enumerate(x):
                y += values * self.matrices.x[kind, keep + self.hidden + output]
            triton.store(self.memory.y.at[self.program, output, rows.place], y)

    def _max_over_neighbours(self, rows: _Rows, parts, x):
        weights, kinds = self.matrices, range(len(self.matrices.edge))
        tiles = range(0, self.units, self.tile)
        receiver = [self._linear(parts, x, t, self.tile).astype(jnp.float16) for t in tiles]
        seconds = [weights.second[pl.ds(t, self.tile), :] for t in tiles]
        hidden_e = [[weights.hidden_edge[k, pl.ds(t, self.tile)] for k in kinds] for t in tiles]
        e = [weights.edge[kind, :] for kind in kinds]
        degree = triton.load(self.graph.degree.at[rows.node])

        def compare(k, best):
            again = jnp.minimum(k, degree - 1)  # nodes with fewer neighbours repeat the last one
            sender = triton.load(self.graph.senders.at[again, rows.node])
            place = sender * COPIES + rows.copy
            feature = [triton.load(self.graph.features.at[f, again, rows.node]) for f in kinds]
            half_feature = [(HALF_SCALE * each).astype(jnp.float16) for each in feature]
            total = plus_edge(self._read(self.memory.linear, place, 0, self.outputs), feature, e)
            for tile, layer, second, tile_e in zip(tiles, receiver, seconds, hidden_e, strict=True):
                layer += self._read(self.memory.layer, place, tile, self.tile)
                layer = jnp.maximum(plus_edge(layer, half_feature, tile_e), 0)
                total += _dot(layer, second)
            return jnp.maximum(best, total)

        start = jnp.full((ROWS, self.outputs), -jnp.inf, jnp.float32)
        return lax.fori_loop(0, jnp.max(degree), compare, start)

    def visit(self, t):
        """Sample the next node of every trajectory, as `Sequential.advance` with `carry_all`."""
        half = t & 1
        copy = jnp.arange(pl.next_power_of_2(COPIES))[:, None]
        node = jnp.arange(pl.next_power_of_2(self.nodes))[None, :]
        exists = (copy < COPIES) & (node < self.nodes)
        place = jnp.where(exists, node * COPIES + copy, self.memory.x.shape[-1] - 1)
        trajectory = jnp.minimum(self.program * COPIES + copy, self.graph.noise.shape[0] - 1)
        noise = triton.load(self.graph.noise.at[trajectory, t, jnp.minimum(node, self.nodes - 1)])
        visited, key = (triton.load(self.memory.x.at[self.program, half, k, place]) for k in (0, 1))
        logit, new_key = (triton.load(self.memory.y.at[self.program, k, place]) for k in (0, 1))
        is_open = exists & (visited < 0.5)
        some = jnp.max(jnp.where(is_open, 1, 0), axis=1)[:, None] > 0
        logit = jnp.where(is_open, logit + noise, -jnp.inf)
        top = jnp.max(logit, axis=1)[:, None]
        chosen = jnp.min(jnp.where(is_open & (logit == top), node, node.shape[1]), axis=1)[:, None]
        visited = jnp.where(node == chosen, visited + 1.0, visited)
        for kind, values in enumerate((visited, jnp.where(some, new_key, key))):
            triton.store(self.memory.x.at[self.program, 1 - half, kind, place], values)

    def _state(self, rows: _Rows, half):
        """Return h in two parts, and x."""
        hidden = self._read(self.memory.hidden, rows.place, 0, self.hidden, half)
        x = [triton.load(self.memory.x.at[self.program, half, k, rows.place]) for k in (0, 1)]
        return _bfloat16_parts(hidden), x

    def _linear(self, parts, x, first, width: int):
        """Return columns of first[x, h]."""
        columns = pl.ds(first, width)
        values = _product(parts, [self.matrices.hidden[part, :, columns] for part in range(2)])
        for kind, each in enumerate(x):
            values += each[:, None] * self.matrices.x[kind, columns][None, :]
        return values

    def _read(self, ref, place, first, width: int, *half):
        columns = (first + jnp.arange(width))[None, :]
        return triton.load(ref.at[(self.program, *half, place[:, None], columns)])

    def _write(self, ref, values, place, first, *half):
        columns = (first + jnp.arange(values.shape[1]))[None, :]
        triton.store(ref.at[(self.program, *half, place, columns)], values)


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
