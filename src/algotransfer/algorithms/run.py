"""`run`: an algorithm on graphs, recorded step by step or only at its end."""

from __future__ import annotations

from collections.abc import Collection
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
# Nodes up to which the dense engine is the faster one, by backend and framework.
DENSE_UP_TO = {("cpu", "parallel"): 64, ("cpu", "sequential"): 256}
DENSE_UP_TO_ELSEWHERE = 512
# Cells of the dense matrices that run at once: on a CPU what its cache holds, elsewhere what
# keeps a device busy.
CHUNK_CELLS = {"cpu": 2**19}
CHUNK_CELLS_ELSEWHERE = 2**26


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
    - `layout`: `dense` or `sparse`; the faster one for that many nodes if not given. The two
        agree to the last bit.

    **Returns:** the `Trace`.
    """
    algorithm = get_algorithm(algorithm)
    layout = layout or _faster_layout(algorithm, graphs.num_nodes)
    _check_choice("record", record, ("full", "final"))
    _check_choice("layout", layout, PROGRAMS)
    _check_graphs(algorithm, graphs, record)
    if not graphs.batch_shape:
        return run(algorithm, jax.tree.map(lambda leaf: leaf[None], graphs), record, layout)[0]
    trace, lost = PROGRAMS[layout](algorithm, _with_room(graphs), record)
    if np.any(lost):
        raise FloatingPointError(
            f"{algorithm.name} on graph {int(np.argmax(lost))}: a key under- or overflowed float32 "
            f"to {algorithm.unreached_key:g}, the key of an unreached node; rescale the weights"
        )
    return trace


def _faster_layout(algorithm: Algorithm, num_nodes: int) -> Layout:
    case = (jax.default_backend(), algorithm.framework)
    return "dense" if num_nodes <= DENSE_UP_TO.get(case, DENSE_UP_TO_ELSEWHERE) else "sparse"


def _with_room(graphs: Graph) -> Graph:
    """Rounds the number of edges up, so that like batches share one compiled program."""
    width = graphs.senders.shape[-1]
    step = max(8, 2 ** (width.bit_length() - 4))
    padding = max(step, -(-width // step) * step) - width

    def padded(leaf, fill):
        return np.pad(leaf, [(0, 0), (0, padding)], constant_values=fill) if padding else leaf

    return Graph(
        senders=padded(graphs.senders, graphs.num_nodes),
        receivers=padded(graphs.receivers, graphs.num_nodes),
        weights=padded(graphs.weights, 0),
        source=graphs.source,
        num_nodes=graphs.num_nodes,
    )


@partial(jax.jit, static_argnums=(0, 2))
def _run_dense(algorithm: Algorithm, graphs: Graph, record: str):
    num_nodes = graphs.num_nodes
    engine = engines.sequential_dense if algorithm.sequential else engines.parallel_dense

    def weights_or_nan(graph: Graph):
        empty = jnp.full((num_nodes, num_nodes), jnp.nan, jnp.float32)
        return empty.at[graph.senders, graph.receivers].set(graph.weights, mode="drop")

    def one_chunk(graphs: Graph):
        weights = jax.vmap(weights_or_nan)(graphs)
        state = jax.vmap(lambda source: engines.initial_state(algorithm, source, num_nodes))(
            graphs.source
        )

        def step(state):
            return jax.vmap(lambda w, s: engine(algorithm, w)(s))(weights, state)

        return _repeat(step, lambda state: state, state, num_nodes, record)

    cells = CHUNK_CELLS.get(jax.default_backend(), CHUNK_CELLS_ELSEWHERE)
    return _in_chunks(one_chunk, jax.tree.map(jnp.asarray, graphs), cells // num_nodes**2)


def _in_chunks(one_chunk, graphs: Graph, chunk: int):
    """Maps over chunks of one shape: the last one overlaps the one before it."""
    total = len(graphs)
    chunk = min(max(chunk, 1), total)
    if chunk == total:
        return one_chunk(graphs)

    def body(i, out):
        start = jnp.minimum(i * chunk, total - chunk)
        part = jax.tree.map(lambda leaf: lax.dynamic_slice_in_dim(leaf, start, chunk), graphs)
        return jax.tree.map(
            lambda whole, piece: lax.dynamic_update_slice_in_dim(whole, piece, start, axis=0),
            out,
            one_chunk(part),
        )

    out = jax.tree.map(
        lambda leaf: jnp.zeros((total, *leaf.shape[1:]), leaf.dtype),
        jax.eval_shape(one_chunk, graphs[:chunk]),
    )
    return lax.fori_loop(0, -(-total // chunk), body, out)


@partial(jax.jit, static_argnums=(0, 2))
def _run_sparse(algorithm: Algorithm, graphs: Graph, record: str):
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

    return lax.map(one, jax.tree.map(jnp.asarray, graphs))


def _repeat(step, state_of, carry, num_steps: int, record: str) -> tuple[Trace, jax.Array]:
    """Steps until no graph is active.

    **Returns:** the trace, and whether a key was lost.
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
    return Trace(key, pred, visited, state.length), state.lost


PROGRAMS = {"dense": _run_dense, "sparse": _run_sparse}


def _check_choice(name: str, value: str, choices: Collection[str]) -> None:
    if value not in choices:
        raise ValueError(f"{name}={value!r}; choose {' or '.join(map(repr, choices))}")


def _check_graphs(algorithm: Algorithm, graphs: Graph, record: str) -> None:
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
    # Numbers too small for float32's full precision count as 0: a CPU computes with them so.
    above_low = weights >= np.finfo(np.float32).tiny if low == 0 else weights >= low
    bad = weights[~(above_low & (weights <= high) & np.isfinite(weights))]
    if bad.size:
        interval = f"{'(' if low == 0 else '['}{low:g}, {high:g}]"
        raise ValueError(
            f"{algorithm.name} needs finite weights in {interval}, got {bad[0]:g}; "
            "rescale the weights or choose another algorithm"
        )
