"""The sequential framework (the paper's Algorithm 2): pop the best node, relax its edges."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float, Int

from algotransfer.algorithms.frameworks.comparison import (
    Comparison,
    Comparisons,
    compare_termination,
    repeat_single_step,
)
from algotransfer.algorithms.frameworks.framework import (
    Engine,
    EngineState,
    Framework,
    improves,
    is_lost,
    stateless_engine,
)
from algotransfer.algorithms.state import State
from algotransfer.losses import binary_cross_entropy, cross_entropy, smooth_l1

LANES = 32  # neighbours of a popped node that the sparse engine relaxes at a time


class Sequential(Framework):
    """One node is visited per step; x = [visited, key], y = (next-node logit, key)."""

    name = "sequential"
    num_features = 2
    num_outputs = 2
    visits_nodes = True
    samples = True
    sampled_by_kernel = True
    carries_all = False
    must_settle = False
    reads_arriving_edges = False
    dense_max_nodes = 256

    def dense_engine(self, algorithm, weights):
        def step(state: EngineState) -> EngineState:
            node = best_queued(algorithm, state)
            return visit(algorithm, weights, state, node)

        return stateless_engine(step)

    def sparse_engine(self, algorithm, senders, receivers, weights, num_nodes):
        width = max(1, int(num_nodes**0.5))
        blocks = -(-num_nodes // width)
        sign = 1.0 if algorithm.smaller_is_better else -1.0
        first_edge = jnp.searchsorted(senders, jnp.arange(num_nodes + 1)).astype(jnp.int32)

        def start(state: EngineState) -> tuple[EngineState, Queue]:
            cost = jnp.where(state.key == algorithm.unreached_key, jnp.inf, sign * state.key)
            cost = jnp.pad(cost, (0, blocks * width - num_nodes), constant_values=jnp.inf)
            cost = cost.reshape(blocks, width)
            return state, Queue(cost, cost.min(axis=1))

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
                lost |= jnp.any(open_neighbour & is_lost(algorithm, candidate, key[v]))
                improved = open_neighbour & improves(algorithm, candidate, key[v])
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

        return Engine(start, step, lambda carry: carry[0])

    def start(self, key, source):
        return State(key, jnp.zeros_like(key))

    def features(self, state):
        return jnp.stack([state.visited, state.key], axis=-1)

    def advance(self, algorithm, layout, state, y, noise, carry_all):
        open_nodes = state.visited < 0.5
        some = jnp.any(open_nodes)
        logits = y[:, 0] if noise is None else y[:, 0] + noise
        logits = jnp.where(open_nodes | ~some, logits, -jnp.inf)
        chosen = jnp.arange(len(logits)) == jnp.argmax(logits)
        choice = chosen.astype(y.dtype)
        if noise is not None:
            # Straight-through: the sample forwards, the softmax backwards.
            soft = jax.nn.softmax(logits)
            choice = soft + lax.stop_gradient(choice - soft)
        key = y[:, 1] if carry_all else jnp.where(chosen, y[:, 1], state.key)
        return State(
            jnp.where(some, key, state.key), jnp.where(some, state.visited + choice, state.visited)
        )

    def targets(self, algorithm, key, visited):
        assert visited is not None
        queued = ((key != algorithm.unreached_key) & ~visited)[..., :-1, :]
        sign = 1.0 if algorithm.smaller_is_better else -1.0
        cost = jnp.where(queued, sign * key[..., :-1, :], jnp.inf)
        tied = queued & (cost == jnp.min(cost, axis=-1, keepdims=True))
        return visited, tied / jnp.maximum(1, jnp.sum(tied, axis=-1, keepdims=True))

    def teacher(self, truth):
        # A key is shown only once its node has been visited.
        visited = truth.visited[:-1]
        key = jnp.where(visited, truth.key[:-1], truth.key[0])
        return State(key, visited.astype(key.dtype))

    def step_losses(self, algorithm, layout, truth, y, scores):
        before, after = truth.visited[:-1], truth.visited[1:]
        node = jnp.argmax(after & ~before, axis=-1)[:, None]  # visited by this step

        def at(values):  # [steps, n] -> [steps]
            return jnp.take_along_axis(values, node, axis=1)[:, 0]

        assert truth.next_node is not None
        reached = jax.vmap(layout.reach)(before) | (jnp.arange(layout.num_nodes) == truth.source)
        target = jnp.maximum(truth.pred[1:], 0)
        log_probability = jax.vmap(layout.log_softmax_at)(scores, target, reached)
        return {
            "next": cross_entropy(y[..., 0], truth.next_node, ~before),
            "key": smooth_l1(at(y[..., 1] - truth.key[1:])),
            "predecessor": -at(log_probability),
        }

    def answer_losses(self, truth, y):
        return {"visited": jnp.mean(binary_cross_entropy(y[:, 0], truth.visited[-1]))}

    def allowed_predecessors(self, layout, state, source):
        return layout.reach(state.visited > 0.5) | (jnp.arange(layout.num_nodes) == source)

    def choice(self, before, after, y):
        probability = jax.nn.softmax(jnp.where(before.visited < 0.5, y[:, 0], -jnp.inf))
        return jnp.argmax(after.visited - before.visited), probability

    def compare_steps(self, algorithm, execution, truth):
        assert truth.next_node is not None
        num_steps, num_nodes = truth.next_node.shape
        step = jnp.argmax(truth.visited[1:] & ~truth.visited[:-1], axis=0)  # [n], of its visit
        node, reached, kind = jnp.arange(num_nodes), truth.reached, algorithm.key_metric
        by_metric, answer = {}, None
        if execution.chosen is not None:
            chosen = execution.chosen[step]
            right = truth.next_node[step, chosen] > 0  # any node tied for the best key is right
            by_metric["next"] = Comparison(right, jnp.ones_like(right), reached)
        if execution.key is not None:
            key = execution.key
            by_metric["key"] = Comparison(key[step, node], truth.key[-1], reached, kind)
            if execution.chosen is not None:
                picked = (key[step, chosen], truth.key[-1, chosen])
                by_metric["key_picked"] = Comparison(*picked, reached, kind)
        if execution.pointer is not None:
            pointer = repeat_single_step(execution.pointer, num_steps)
            by_metric["pred"] = Comparison(pointer[step, node], truth.pred[-1], reached)
            answer = pointer_when_chosen(execution.pointer, execution.chosen)
        return Comparisons(by_metric | compare_termination(execution.stop, truth.length), answer)

    def final_answer(self, execution):
        return execution.key[-1], pointer_when_chosen(execution.pointer, execution.chosen)


class Queue(eqx.Module):
    """Queued keys as costs (smaller is better) in blocks, with the best cost of every block.

    A pop reads one number per block and then one block: about 2√n numbers instead of n.
    """

    cost: Float[Array, "blocks width"]
    best: Float[Array, " blocks"]


def best_queued(algorithm, state: EngineState) -> Int[Array, ""]:
    """The best reached node that is not yet visited (ties: lowest index); n if there is none."""
    num_nodes = len(state.key)
    worst = jnp.inf if algorithm.smaller_is_better else -jnp.inf
    reduce = jnp.min if algorithm.smaller_is_better else jnp.max
    queued = (state.key != algorithm.unreached_key) & ~state.visited
    best = reduce(jnp.where(queued, state.key, worst))
    index = jnp.arange(num_nodes, dtype=jnp.int32)
    return jnp.min(jnp.where(queued & (state.key == best), index, num_nodes))


def visit(algorithm, weights: Float[Array, "nodes nodes"], state: EngineState, node) -> EngineState:
    """Visit a node and relax its row of the weight matrix; nothing happens for node n."""
    num_nodes = len(weights)
    some = node < num_nodes
    visited = state.visited | (jnp.arange(num_nodes) == node)
    row = weights.at[node].get(mode="clip")
    candidate = algorithm.relax(state.key.at[node].get(mode="clip"), row)
    open_neighbour = ~jnp.isnan(row) & ~visited & some
    improved = open_neighbour & improves(algorithm, candidate, state.key)
    return EngineState(
        key=jnp.where(improved, candidate, state.key),
        pred=jnp.where(improved, node, state.pred),
        visited=visited,
        length=state.length + some,
        active=some,
        lost=state.lost | jnp.any(open_neighbour & is_lost(algorithm, candidate, state.key)),
    )


def pointer_when_chosen(
    pointer: Int[Array, "steps n"], chosen: Int[Array, " steps"] | None
) -> Int[Array, " n"]:
    """Each node's pointer at the step that chose it; the node itself if none did."""
    if chosen is None:
        return pointer[-1]
    num_steps, num_nodes = pointer.shape
    node = jnp.arange(num_nodes, dtype=pointer.dtype)
    step = jnp.full(num_nodes, num_steps).at[chosen].min(jnp.arange(num_steps))
    return jnp.where(step < num_steps, pointer.at[step, node].get(mode="clip"), node)


SEQUENTIAL = Sequential()
