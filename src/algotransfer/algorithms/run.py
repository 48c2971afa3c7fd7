"""`run`: an algorithm on graphs, recorded step by step or only at its end."""

from __future__ import annotations

from functools import partial
from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from algotransfer.algorithms import engines
from algotransfer.algorithms.base import Algorithm, Trace
from algotransfer.algorithms.registry import get_algorithm
from algotransfer.graphs.graph import Graph

Layout = Literal["dense", "sparse"]
LARGEST_TRACE = 2000  # nodes up to which every step is recorded
DENSE_UP_TO = 512  # nodes up to which the dense engine is the faster one
CHUNK_CELLS = 2**24  # cells of the dense matrices that run at once


def run(
    algorithm: str | Algorithm,
    graphs: Graph,
    record: Literal["full", "final"] = "full",
    layout: Layout | None = None,
) -> Trace:
    """Runs an algorithm on one graph or a batch.

    **Arguments:**

    - `algorithm`: a name from `ALGORITHMS`, or an `Algorithm` of your own.
    - `record`: `full` keeps every step (up to 2,000 nodes), `final` the last one only.
    - `layout`: `dense` or `sparse`; chosen by the number of nodes if not given. The two agree to
        the last bit.

    **Returns:** the `Trace`.
    """
    algorithm = get_algorithm(algorithm)
    _check(algorithm, graphs, record)
    if not graphs.batch_shape:
        return run(algorithm, jax.tree.map(lambda leaf: leaf[None], graphs), record, layout)[0]
    layout = layout or ("dense" if graphs.num_nodes <= DENSE_UP_TO else "sparse")

    chunk = max(1, CHUNK_CELLS // graphs.num_nodes**2) if layout == "dense" else 1
    program = _run_dense if layout == "dense" else _run_sparse
    parts = []
    for start in range(0, len(graphs), chunk):
        part = graphs[start : start + chunk]
        missing = min(chunk, len(graphs)) - len(part)  # a last, shorter chunk keeps the shape
        part = (
            jax.tree.map(
                lambda leaf: np.pad(leaf, [(0, missing)] + [(0, 0)] * (leaf.ndim - 1), mode="edge"),
                part,
            )
            if missing
            else part
        )
        trace, lost = program(algorithm, part, record)
        if np.any(lost):
            raise FloatingPointError(_lost(algorithm, start + int(np.argmax(lost))))
        parts.append(trace[: len(part) - missing] if missing else trace)
    if len(parts) == 1:
        return parts[0]
    return jax.tree.map(lambda *leaves: jnp.concatenate(leaves), *parts)


@partial(jax.jit, static_argnums=(0, 2))
def _run_dense(algorithm: Algorithm, graphs: Graph, record: str):
    num_nodes = graphs.num_nodes
    engine = engines.sequential_dense if algorithm.sequential else engines.parallel_dense
    weights, adjacency = graphs.weight_matrix(), graphs.adjacency()
    state = jax.vmap(lambda source: engines.initial_state(algorithm, source, num_nodes))(
        jnp.asarray(graphs.source)
    )

    def step(state):
        return jax.vmap(lambda w, a, s: engine(algorithm, w, a)(s))(weights, adjacency, state)

    state, history = _repeat(step, lambda state: state, state, num_nodes, record)
    return _trace(algorithm, state, history), state.lost


@partial(jax.jit, static_argnums=(0, 2))
def _run_sparse(algorithm: Algorithm, graphs: Graph, record: str):
    num_nodes = graphs.num_nodes

    def one(graph: Graph):
        state = engines.initial_state(algorithm, graph.source, num_nodes)
        edges = (graph.senders, graph.receivers, graph.weights, num_nodes)
        if algorithm.sequential:
            step, queue = engines.sequential_sparse(algorithm, *edges)
            carry, history = _repeat(
                step, lambda carry: carry[0], (state, queue(state)), num_nodes, record
            )
            state = carry[0]
        else:
            step = engines.parallel_sparse(algorithm, *edges)
            state, history = _repeat(step, lambda state: state, state, num_nodes, record)
        return _trace(algorithm, state, history), state.lost

    return lax.map(one, jax.tree.map(jnp.asarray, graphs))


def _repeat(step, state_of, carry, num_steps: int, record: str):
    """Steps until no graph is active; the history holds steps 0…num_steps in front."""

    def visible(carry):
        state = state_of(carry)
        return state.key, state.pred, state.visited

    history = None
    if record == "full":
        history = jax.tree.map(
            lambda leaf: jnp.zeros((num_steps + 1, *leaf.shape), leaf.dtype).at[0].set(leaf),
            visible(carry),
        )

    def body(loop):
        t, carry, history = loop
        carry = step(carry)
        if history is not None:
            history = jax.tree.map(
                lambda past, leaf: past.at[t + 1].set(leaf), history, visible(carry)
            )
        return t + 1, carry, history

    # A state that has ended stays as it is, so that steps may go on for the sake of other graphs.
    end, carry, history = lax.while_loop(
        lambda loop: (loop[0] < num_steps) & jnp.any(state_of(loop[1]).active),
        body,
        (jnp.int32(0), carry, history),
    )
    if history is not None:
        late = jnp.arange(num_steps + 1) > end
        history = jax.tree.map(
            lambda past, leaf: jnp.where(late.reshape(-1, *(1,) * leaf.ndim), leaf, past),
            history,
            visible(carry),
        )
    return carry, history


def _trace(algorithm: Algorithm, state: engines.State, history) -> Trace:
    if history is None:
        history = (state.key[None], state.pred[None], state.visited[None])
    # [steps, *batch, nodes] -> [*batch, steps, nodes]
    key, pred, visited = (jnp.moveaxis(leaf, 0, -2) for leaf in history)
    return Trace(key, pred, visited if algorithm.sequential else None, state.length)


def _check(algorithm: Algorithm, graphs: Graph, record: str) -> None:
    if record not in ("full", "final"):
        raise ValueError(f"record={record!r}; choose 'full' or 'final'")
    if record == "full" and graphs.num_nodes > LARGEST_TRACE:
        raise ValueError(
            f"a full trace of {graphs.num_nodes} nodes needs {graphs.num_nodes + 1} steps of as "
            f"many keys; above {LARGEST_TRACE} nodes use record='final'"
        )
    source = np.asarray(graphs.source)
    if source.size and not (0 <= source.min() and source.max() < graphs.num_nodes):
        raise ValueError(
            f"a source lies outside the graph: got {source.min()}…{source.max()}, "
            f"expected 0…{graphs.num_nodes - 1}"
        )
    weights = np.asarray(graphs.weights)[np.asarray(graphs.edge_mask())]
    low, high = algorithm.weights
    above_low = weights > low if low == 0 else weights >= low
    bad = weights[~(above_low & (weights <= high) & np.isfinite(weights))]
    if bad.size:
        interval = f"{'(' if low == 0 else '['}{low:g}, {high:g}]"
        raise ValueError(
            f"{algorithm.name} needs finite weights in {interval}, got {bad[0]:g}; "
            "rescale the weights or choose another algorithm"
        )


def _lost(algorithm: Algorithm, index: int) -> str:
    return (
        f"{algorithm.name} on graph {index}: a key under- or overflowed float32 to "
        f"{algorithm.unreached_key:g}, the key of an unreached node; rescale the weights"
    )
