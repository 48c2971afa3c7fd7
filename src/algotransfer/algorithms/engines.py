"""The paper's two frameworks as step functions, on a dense matrix and on a sorted edge list.

A step maps the `EngineState` of one graph to the next. A graph that has ended no longer changes, so
a batch can run until its last graph ends.
"""

from __future__ import annotations

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax
from jax.typing import ArrayLike
from jaxtyping import Array, Bool, Float, Int, PyTree

from algotransfer.algorithms.base import Algorithm

LANES = 32  # neighbours of a popped node that the sparse engine relaxes at a time


class EngineState(eqx.Module):
    """The state of one execution between two steps."""

    key: Float[Array, " nodes"]
    pred: Int[Array, " nodes"]
    visited: PyTree[Bool[Array, " nodes"]]  # None for parallel algorithms
    length: Int[Array, ""]  # steps that counted so far
    active: Bool[Array, ""]  # whether another step may count
    lost: Bool[Array, ""]  # whether a candidate key under- or overflowed to "unreached"


Step = Callable[[EngineState], EngineState]


def initial_state(algorithm: Algorithm, source: ArrayLike, num_nodes: int) -> EngineState:
    """The paper's `initialise_nodes`."""
    return EngineState(
        key=algorithm.initial_key(source, num_nodes),
        pred=jnp.where(jnp.arange(num_nodes) == source, source, -1).astype(jnp.int32),
        visited=jnp.zeros(num_nodes, bool) if algorithm.sequential else None,
        length=jnp.int32(0),
        active=jnp.bool_(True),
        lost=jnp.bool_(False),
    )


def _improves(algorithm: Algorithm, candidate, key):
    free = key == algorithm.unreached_key if algorithm.relax_once else True
    return algorithm.better(candidate, key) & free


def _lost(algorithm: Algorithm, candidate, key):
    """Where a node would be reached with the very key that says it is not: under- or overflow."""
    return (candidate == algorithm.unreached_key) & (key == algorithm.unreached_key)


def _parallel(
    algorithm: Algorithm, state: EngineState, best, neighbour, num_nodes: int
) -> EngineState:
    """What both layouts share: every node takes its best candidate if that is strictly better."""
    improved = _improves(algorithm, best, state.key)
    lost = jnp.any((neighbour < num_nodes) & _lost(algorithm, best, state.key))
    return EngineState(
        key=jnp.where(improved, best, state.key),
        pred=jnp.where(improved, neighbour, state.pred),
        visited=state.visited,
        length=state.length + state.active,
        active=state.active & jnp.any(improved),
        lost=state.lost | lost,
    )


def parallel_dense(algorithm: Algorithm, weights: Float[Array, "nodes nodes"]) -> Step:
    """All edges at once, as a matrix of candidates; weights are NaN where there is no edge."""
    num_nodes = len(weights)
    reduce = jnp.min if algorithm.smaller_is_better else jnp.max
    index = jnp.arange(num_nodes, dtype=jnp.int32)[:, None]

    def step(state: EngineState) -> EngineState:
        # [u, v]: reducing the leading axis vectorises, and so do two plain reductions (the best
        # value, then its lowest index) where arg-min does not.
        usable = ~jnp.isnan(weights) & (state.key != algorithm.unreached_key)[:, None]
        candidate = algorithm.relax(state.key[:, None], weights)
        candidate = jnp.where(usable, candidate, algorithm.unreached_key)
        best = reduce(candidate, axis=0)
        neighbour = jnp.min(jnp.where(usable & (candidate == best), index, num_nodes), axis=0)
        return _parallel(algorithm, state, best, neighbour, num_nodes)

    return step


def parallel_sparse(algorithm: Algorithm, senders, receivers, weights, num_nodes: int) -> Step:
    """All edges at once, as segments of the sorted edge list (see `Graph` for why senders)."""
    segment = jax.ops.segment_min if algorithm.smaller_is_better else jax.ops.segment_max

    def per_node(reduce, values):
        return reduce(values, senders, num_nodes, indices_are_sorted=True)

    def step(state: EngineState) -> EngineState:
        key_u = state.key.at[receivers].get(mode="fill", fill_value=algorithm.unreached_key)
        usable = key_u != algorithm.unreached_key
        candidate = jnp.where(
            usable, algorithm.relax(key_u, weights), jnp.float32(algorithm.unreached_key)
        )
        best = per_node(segment, candidate)
        winner = usable & (candidate == best.at[senders].get(mode="clip"))
        neighbour = per_node(jax.ops.segment_min, jnp.where(winner, receivers, num_nodes))
        return _parallel(algorithm, state, best, neighbour, num_nodes)

    return step


def sequential_dense(algorithm: Algorithm, weights: Float[Array, "nodes nodes"]) -> Step:
    """The best queued node is popped, its row relaxed; weights are NaN where there is no edge."""
    num_nodes = len(weights)
    worst = jnp.inf if algorithm.smaller_is_better else -jnp.inf
    reduce = jnp.min if algorithm.smaller_is_better else jnp.max
    index = jnp.arange(num_nodes, dtype=jnp.int32)

    def step(state: EngineState) -> EngineState:
        queued = (state.key != algorithm.unreached_key) & ~state.visited
        best = reduce(jnp.where(queued, state.key, worst))
        u = jnp.min(jnp.where(queued & (state.key == best), index, num_nodes))
        some = u < num_nodes  # an empty queue reads some row; `some` keeps that without effect

        visited = state.visited | (index == u)
        row = weights.at[u].get(mode="clip")
        candidate = algorithm.relax(best, row)
        open_neighbour = ~jnp.isnan(row) & ~visited & some
        improved = open_neighbour & _improves(algorithm, candidate, state.key)
        key = jnp.where(improved, candidate, state.key)
        return EngineState(
            key=key,
            pred=jnp.where(improved, u, state.pred),
            visited=visited,
            length=state.length + some,
            active=some,
            lost=state.lost | jnp.any(open_neighbour & _lost(algorithm, candidate, state.key)),
        )

    return step


class Queue(eqx.Module):
    """Queued keys as costs (smaller is better) in blocks, with the best cost of every block.

    A pop looks at one number per block and then inside one block: about 2√n instead of n.
    """

    cost: Float[Array, "blocks width"]
    best: Float[Array, " blocks"]


def sequential_sparse(algorithm: Algorithm, senders, receivers, weights, num_nodes: int):
    """The best queued node is popped, its segment of the edge list relaxed, 32 edges at a time.

    **Returns:** the step, on pairs of an `EngineState` and a `Queue`, and the function that makes
    the initial queue.
    """
    width = max(1, int(num_nodes**0.5))
    blocks = -(-num_nodes // width)
    sign = 1.0 if algorithm.smaller_is_better else -1.0
    first_edge = jnp.searchsorted(senders, jnp.arange(num_nodes + 1)).astype(jnp.int32)

    def queue(state: EngineState) -> Queue:
        cost = jnp.where(state.key == algorithm.unreached_key, jnp.inf, sign * state.key)
        cost = jnp.pad(cost, (0, blocks * width - num_nodes), constant_values=jnp.inf)
        cost = cost.reshape(blocks, width)
        return Queue(cost, cost.min(axis=1))

    def step(carry: tuple[EngineState, Queue]) -> tuple[EngineState, Queue]:
        state, queue = carry
        block = jnp.argmin(queue.best)
        column = jnp.argmin(queue.cost[block])
        u = (block * width + column).astype(jnp.int32)
        some = queue.best[block] < jnp.inf
        visited = state.visited.at[u].max(some)
        cost = queue.cost.at[block, column].set(jnp.inf)
        best = queue.best.at[block].set(cost[block].min())
        key_u = state.key[u]

        def relax_lanes(carry):
            edge, key, pred, cost, best, lost = carry
            lane = edge + jnp.arange(LANES)
            real = (lane < first_edge[u + 1]) & some
            v = receivers.at[lane].get(mode="clip")
            candidate = jnp.broadcast_to(
                algorithm.relax(key_u, weights.at[lane].get(mode="clip")), v.shape
            )
            open_neighbour = real & ~visited[v]
            lost |= jnp.any(open_neighbour & _lost(algorithm, candidate, key[v]))
            improved = open_neighbour & _improves(algorithm, candidate, key[v])
            where = jnp.where(improved, v, num_nodes)  # out of range: dropped
            row = jnp.where(improved, v // width, blocks)
            return (
                edge + LANES,
                key.at[where].set(candidate, mode="drop"),
                pred.at[where].set(u, mode="drop"),
                cost.at[row, v % width].set(sign * candidate, mode="drop"),
                best.at[row].min(sign * candidate, mode="drop"),
                lost,
            )

        _, key, pred, cost, best, lost = lax.while_loop(
            lambda carry: carry[0] < first_edge[u + 1],
            relax_lanes,
            (first_edge[u], state.key, state.pred, cost, best, state.lost),
        )
        state = EngineState(key, pred, visited, state.length + some, some, lost)
        return state, Queue(cost, best)

    return step, queue
