"""The compiled programs: a batch of graphs from the first step to the last, in either layout."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
from jax import lax

from algotransfer.algorithms import engines
from algotransfer.algorithms.base import Algorithm, Trace
from algotransfer.graphs.graph import Graph

Ran = tuple[Trace, jax.Array, jax.Array]


@partial(jax.jit, static_argnums=(0, 2))
def run_dense(algorithm: Algorithm, graphs: Graph, record: str) -> Ran:
    """All graphs step side by side, on matrices of weights.

    **Returns:** the traces, which of them lost a key, and which are still active (see
    `engines.EngineState`).
    """
    num_nodes = graphs.num_nodes
    engine = engines.sequential_dense if algorithm.sequential else engines.parallel_dense

    def weights_or_nan(graph: Graph):
        empty = jnp.full((num_nodes, num_nodes), jnp.nan, jnp.float32)
        return empty.at[graph.senders, graph.receivers].set(graph.weights, mode="drop")

    weights = jax.vmap(weights_or_nan)(graphs)
    state = jax.vmap(lambda source: engines.initial_state(algorithm, source, num_nodes))(
        graphs.source
    )

    def step(state):
        return jax.vmap(lambda w, s: engine(algorithm, w)(s))(weights, state)

    return _repeat(step, lambda state: state, state, num_nodes, record)


@partial(jax.jit, static_argnums=(0, 2))
def run_sparse(algorithm: Algorithm, graphs: Graph, record: str) -> Ran:
    """One graph after the other, on its list of edges.

    **Returns:** the traces, which of them lost a key, and which are still active (see
    `engines.EngineState`).
    """
    num_nodes = graphs.num_nodes

    def one(graph: Graph):
        state = engines.initial_state(algorithm, graph.source, num_nodes)
        edges = (graph.senders, graph.receivers, graph.weights, num_nodes)
        if algorithm.sequential:
            step, queue = engines.sequential_sparse(algorithm, *edges)
            carry = (state, queue(state))
            return _repeat(step, lambda carry: carry[0], carry, num_nodes, record)
        step = engines.parallel_sparse(algorithm, *edges)
        return _repeat(step, lambda state: state, state, num_nodes, record)

    return lax.map(one, graphs)


def _repeat(step, state_of, carry, num_steps: int, record: str) -> Ran:
    """Steps until no graph is active.

    **Returns:** the trace, whether a key was lost, and whether another step may count.
    """

    def visible(carry):
        state = state_of(carry)
        return jax.tree.map(lambda leaf: leaf[..., None, :], (state.key, state.pred, state.visited))

    def body(loop):
        t, carry, history = loop
        carry = step(carry)
        if record == "full":
            history = jax.tree.map(
                lambda past, leaf: lax.dynamic_update_slice_in_dim(past, leaf, t + 1, axis=-2),
                history,
                visible(carry),
            )
        return t + 1, carry, history

    history = None
    if record == "full":
        history = jax.tree.map(
            lambda leaf: jnp.repeat(leaf, num_steps + 1, axis=-2), visible(carry)
        )
    # A state that has ended stays as it is, so that steps may go on for the sake of other graphs.
    end, carry, history = lax.while_loop(
        lambda loop: (loop[0] < num_steps) & jnp.any(state_of(loop[1]).active),
        body,
        (jnp.int32(0), carry, history),
    )
    last = visible(carry)
    if record == "full":
        late = (jnp.arange(num_steps + 1) > end)[:, None]
        last = jax.tree.map(lambda past, leaf: jnp.where(late, leaf, past), history, last)
    key, pred, visited = last
    state = state_of(carry)
    return Trace(key, pred, visited, state.length), state.lost, state.active
