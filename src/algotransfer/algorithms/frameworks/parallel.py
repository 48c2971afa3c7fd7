"""The parallel framework (the paper's Algorithm 1): relax all edges until nothing changes."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from algotransfer.algorithms.frameworks.comparison import (
    Comparison,
    Comparisons,
    compare_termination,
    first_stop,
    repeat_single_step,
)
from algotransfer.algorithms.frameworks.framework import (
    EngineState,
    Framework,
    improves,
    is_lost,
    stateless_engine,
)
from algotransfer.algorithms.state import State
from algotransfer.losses import masked_mean


class Parallel(Framework):
    """All nodes look at all neighbours at once; x = [key], y = (key or logit)."""

    name = "parallel"
    num_features = 1
    num_outputs = 1
    visits_nodes = False
    samples = False
    carries_all = True
    must_settle = True
    reads_arriving_edges = True
    dense_max_nodes = 64

    def dense_engine(self, algorithm, weights):
        num_nodes = len(weights)
        reduce = jnp.min if algorithm.smaller_is_better else jnp.max
        index = jnp.arange(num_nodes, dtype=jnp.int32)[:, None]

        def step(state: EngineState) -> EngineState:
            # [u, v]: reducing the leading axis vectorises, and so do two plain reductions (the
            # best value, then its lowest index) where arg-min does not.
            usable = ~jnp.isnan(weights) & (state.key != algorithm.unreached_key)[:, None]
            candidate = algorithm.relax(state.key[:, None], weights)
            candidate = jnp.where(usable, candidate, algorithm.unreached_key)
            best = reduce(candidate, axis=0)
            neighbour = jnp.min(jnp.where(usable & (candidate == best), index, num_nodes), axis=0)
            return _take_best(algorithm, state, best, neighbour, num_nodes)

        return stateless_engine(step)

    def sparse_engine(self, algorithm, senders, receivers, weights, num_nodes):
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
            return _take_best(algorithm, state, best, neighbour, num_nodes)

        return stateless_engine(step)

    def start(self, key, source):
        return State(key, (jnp.arange(len(key)) == source).astype(key.dtype))

    def features(self, state):
        return state.key[..., None]

    def advance(self, algorithm, layout, state, y, noise, carry_all):
        key = algorithm.decode_key(y[:, 0])
        if carry_all:
            return State(key, state.visited)
        reached = layout.reach(state.visited > 0.5)
        return State(jnp.where(reached, key, state.key), reached.astype(y.dtype))

    def targets(self, algorithm, key, visited):
        return key != algorithm.unreached_key, None

    def teacher(self, truth):
        key, reached = truth.key[:-1], truth.visited[:-1]
        return State(key, reached.astype(key.dtype))

    def step_losses(self, algorithm, layout, truth, y, scores):
        reached = truth.visited[1:]
        losses = {"key": masked_mean(algorithm.key_loss(y[..., 0], truth.key[1:]), reached)}
        if algorithm.predicts_predecessors:
            target = jnp.maximum(truth.pred[1:], 0)
            log_probability = jax.vmap(layout.log_softmax_at)(scores, target)
            losses["predecessor"] = masked_mean(-log_probability, reached)
        return losses

    def answer_losses(self, truth, y):
        return {}

    def allowed_predecessors(self, layout, state, source):
        return None

    def choice(self, before, after, y):
        return None, None

    def compare_steps(self, algorithm, execution, truth):
        num_steps = truth.key.shape[0] - 1
        counts = truth.visited[1:] & (jnp.arange(num_steps) < truth.length)[:, None]  # [steps, n]
        last, reached, kind = truth.length - 1, truth.reached, algorithm.key_metric
        by_metric, answer = {}, None
        if execution.key is not None:
            key = repeat_single_step(execution.key, num_steps)
            by_metric["key"] = Comparison(key, truth.key[1:], counts, kind, steps=True)
            by_metric["key_last"] = Comparison(key[last], truth.key[-1], reached, kind)
        if execution.pointer is not None:
            pointer = repeat_single_step(execution.pointer, num_steps)
            answer = pointer[last]
            by_metric["pred"] = Comparison(pointer, truth.pred[1:], counts, steps=True)
            by_metric["pred_last"] = Comparison(answer, truth.pred[-1], reached)
        return Comparisons(by_metric | compare_termination(execution.stop, truth.length), answer)

    def final_answer(self, execution):
        last = first_stop(execution.stop) - 1
        return execution.key[last], execution.pointer[last]


def _take_best(algorithm, state: EngineState, best, neighbour, num_nodes: int) -> EngineState:
    """Every node takes its best candidate if that is strictly better than its own key."""
    improved = improves(algorithm, best, state.key)
    lost = jnp.any((neighbour < num_nodes) & is_lost(algorithm, best, state.key))
    return EngineState(
        key=jnp.where(improved, best, state.key),
        pred=jnp.where(improved, neighbour, state.pred),
        visited=state.visited,
        length=state.length + state.active,
        active=state.active & jnp.any(improved),
        lost=state.lost | lost,
    )


PARALLEL = Parallel()
