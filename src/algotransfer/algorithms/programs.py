"""Compiled programs that run an algorithm on a batch of graphs, dense or sparse."""

from functools import partial

import jax
import jax.numpy as jnp
from jax import lax

from algotransfer.algorithms.algorithm import Algorithm, Trace
from algotransfer.algorithms.frameworks import initial_state
from algotransfer.graphs.graph import Graph

Ran = tuple[Trace, jax.Array, jax.Array]


@partial(jax.jit, static_argnums=(0, 2))
def run_dense(algorithm: Algorithm, graphs: Graph, record: str) -> Ran:
    """Step all graphs side by side, on matrices of weights.

    **Returns:** the traces, which of them lost a key, and which are still active (see
    `EngineState`).
    """
    num_nodes = graphs.num_nodes

    def weights_or_nan(graph: Graph):
        empty = jnp.full((num_nodes, num_nodes), jnp.nan, jnp.float32)
        return empty.at[graph.senders, graph.receivers].set(graph.weights, mode="drop")

    weights = jax.vmap(weights_or_nan)(graphs)
    state = jax.vmap(lambda source: initial_state(algorithm, source, num_nodes))(graphs.source)

    def step(state):
        engine = algorithm.framework.dense_engine
        return jax.vmap(lambda w, s: engine(algorithm, w).step(s))(weights, state)

    return _repeat(step, lambda state: state, state, num_nodes, record)


@partial(jax.jit, static_argnums=(0, 2))
def run_sparse(algorithm: Algorithm, graphs: Graph, record: str) -> Ran:
    """Run one graph after the other, on its list of edges; return what `run_dense` returns."""
    num_nodes = graphs.num_nodes

    def one(graph: Graph):
        engine = algorithm.framework.sparse_engine(
            algorithm, graph.senders, graph.receivers, graph.weights, num_nodes
        )
        carry = engine.start(initial_state(algorithm, graph.source, num_nodes))
        return _repeat(engine.step, engine.state, carry, num_nodes, record)

    return lax.map(one, graphs)


def _repeat(step, state_of, carry, num_steps: int, record: str) -> Ran:
    """Step until no graph is active."""

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
    # A state that has ended no longer changes, so the others may go on.
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
