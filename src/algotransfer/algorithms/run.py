"""`run`: execute an algorithm on graphs and record every step or the last one."""

from __future__ import annotations

import os
from collections.abc import Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Bool

from algotransfer.algorithms.algorithm import Algorithm, Trace
from algotransfer.algorithms.frameworks import initial_state
from algotransfer.algorithms.registry import get_algorithm
from algotransfer.devices import default_platform
from algotransfer.errors import UserError
from algotransfer.graphs.graph import Graph, check_graph, pad_edges
from algotransfer.graphs.graph_like import GraphLike, to_graph, to_named_graph

MAX_TRACE_NODES = 2000  # nodes up to which every step is recorded
DENSE_ENGINE_MAX_NODES = 512  # up to which the dense engine is faster, except on a CPU
# Cells of adjacency matrices per chunk: a CPU's cache, or enough to keep another device busy.
CHUNK_CELLS = {"cpu": 2**19}
CHUNK_CELLS_ELSEWHERE = 2**26
RELAX = (
    "expected a function of an array of keys and one of weights that computes element by element "
    "with jax.numpy, such as lambda key, weight: key + weight (and jnp.where in place of if)"
)
# For each graph: the trace, whether a key was lost, whether another step may count.
Ran = tuple[Trace, jax.Array, jax.Array]


def run(
    algorithm: str | Algorithm,
    graphs: GraphLike,
    record: Literal["full", "final"] = "full",
    layout: Literal["dense", "sparse"] | None = None,
    *,
    source: Hashable = None,
) -> Trace:
    """Run an algorithm on one graph or a batch.

    **Arguments:**

    - `algorithm`: a name from `ALGORITHMS`, or an `Algorithm` of your own.
    - `graphs`: a batch, or a single graph: a `Graph`, a networkx graph, a scipy sparse matrix, a
        `Data` of PyTorch Geometric, or the path of a graph file.
    - `record`: `full` keeps every step (up to 2,000 nodes), `final` the last one only.
    - `layout`: `dense` or `sparse`; the faster one for that many nodes if not given. The two
        agree to the last bit.
    - `source`: node of a single graph from which to start, or its index; by default the source
        that the graph has, or the first node.

    **Returns:** the `Trace`; a batch that takes more than one chunk comes back in host memory.
    """
    algorithm, names = get_algorithm(algorithm), None
    if isinstance(graphs, Graph):
        graphs = to_graph(graphs, source)
    else:
        named = to_named_graph(graphs, source)
        graphs, names = named.graph, named.names
    check_relax(algorithm)
    layout = layout or _faster_layout(algorithm, graphs.num_nodes)
    check_graphs(algorithm, graphs, record, names)
    if not graphs.batch_shape:
        return run(algorithm, graphs[None], record, layout)[0]
    trace, lost, active = _in_chunks(
        run_dense if layout == "dense" else run_sparse, algorithm, graphs, record
    )
    if np.any(lost):
        raise UserError(
            f"{algorithm.name} on graph {int(np.argmax(lost))}: a key under- or overflowed float32 "
            f"to {algorithm.unreached_key:g}, the key of an unreached node; rescale the weights"
        )
    if algorithm.framework.must_settle and np.any(active):
        raise UserError(
            f"{algorithm.name} on graph {int(np.argmax(active))} did not settle within "
            f"{graphs.num_nodes} steps: its keys still become better, for ever if they do so along "
            "a cycle; let relax return no better key than it is given"
        )
    return trace


def _faster_layout(algorithm: Algorithm, num_nodes: int) -> Literal["dense", "sparse"]:
    on_cpu = default_platform() == "cpu"
    limit = algorithm.framework.dense_max_nodes if on_cpu else DENSE_ENGINE_MAX_NODES
    return "dense" if num_nodes <= limit else "sparse"


def _in_chunks(program, algorithm: Algorithm, graphs: Graph, record: str):
    """Run chunks of one shape on all cores; the last one overlaps the one before it."""
    total = len(graphs)
    cells = CHUNK_CELLS.get(default_platform(), CHUNK_CELLS_ELSEWHERE)
    chunk = max(1, cells // graphs.num_nodes**2)
    width = _rounded_up(graphs.senders.shape[-1])
    if total <= chunk:
        return program(algorithm, pad_edges(graphs, width), record)

    graphs = jax.tree.map(np.asarray, graphs)
    shapes = program.eval_shape(algorithm, pad_edges(graphs[:chunk], width), record)
    out = jax.tree.map(lambda leaf: np.empty((total, *leaf.shape[1:]), leaf.dtype), shapes)
    # None if unset: naming the default device would compile the program once more.
    device = jax.config.jax_default_device  # pyright: ignore[reportAttributeAccessIssue]

    def work(start: int) -> None:
        here = slice(start, start + chunk)
        with jax.default_device(device):  # not inherited by threads
            part = program(algorithm, pad_edges(graphs[here], width), record)
        jax.tree.map(lambda whole, leaf: np.copyto(whole[here], leaf), out, part)

    starts = [min(start, total - chunk) for start in range(0, total, chunk)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(work, starts))  # a list, so that an error in a thread is raised here
    return out


def _rounded_up(width: int) -> int:
    """Round a width up, so that similar batches share one compiled program."""
    step = max(8, 2 ** (width.bit_length() - 4))
    return max(step, -(-width // step) * step)


def check_graphs(
    algorithm: Algorithm,
    graphs: Graph,
    record: str = "full",
    names: Sequence[Hashable] | None = None,
) -> None:
    """Raise a `UserError` unless an algorithm can run on graphs, as far as known before the run.

    **Arguments:**

    - `record`: as in `run`.
    - `names`: names of the nodes of a single graph, for the message.
    """
    if record == "full" and graphs.num_nodes > MAX_TRACE_NODES:
        raise UserError(
            f"a full trace of {graphs.num_nodes} nodes needs {graphs.num_nodes + 1} steps of as "
            f"many keys; above {MAX_TRACE_NODES} nodes, use smaller graphs, or in Python "
            "run(…, record='final')"
        )
    check_graph(graphs)
    check_structure(algorithm, graphs)
    check_weights(algorithm, graphs, names)


@cache
def check_relax(algorithm: Algorithm) -> None:
    """Raise a `UserError` unless `relax` can be traced and returns a number for every edge."""
    key, weights = (jax.ShapeDtypeStruct((3, width), np.float32) for width in (1, 4))
    try:
        candidate = jax.eval_shape(algorithm.relax, key, weights)
    except Exception as error:  # a user's function may raise anything
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        raise UserError(f"relax of {algorithm.name} failed ({reason}); {RELAX}") from error
    numbers = isinstance(candidate, jax.ShapeDtypeStruct) and candidate.dtype.kind in "biuf"
    if not numbers or candidate.shape not in ((), key.shape, weights.shape):
        raise UserError(
            f"relax of {algorithm.name} returned {candidate!s:.80} for keys of shape {key.shape} "
            f"and weights of shape {weights.shape}; {RELAX}"
        )


def check_structure(algorithm: Algorithm, graphs: Graph) -> None:
    """Raise a `UserError` unless an algorithm is defined on graphs of this kind."""
    if algorithm.graphs == "undirected" and graphs.directed:
        raise UserError(
            f"{algorithm.name} needs undirected graphs, but these are directed; list every edge in "
            "both directions with one weight, or choose another algorithm"
        )
    if algorithm.graphs == "acyclic" and (cyclic := _cyclic(graphs)).any():
        which = f"graph {np.argmax(cyclic)}" if graphs.batch_shape else "the graph"
        if not graphs.directed:
            raise UserError(
                f"{algorithm.name} needs directed graphs without cycles, but {which} is "
                "undirected, as all sampled families are; use directed graphs of your own, those "
                "of CLRS-30's task dag_shortest_paths (preset clrs30), or another algorithm"
            )
        raise UserError(
            f"{algorithm.name} needs directed graphs without cycles, but {which} has one; "
            "remove it, or choose another algorithm"
        )


def _cyclic(graphs: Graph) -> Bool[np.ndarray, " graphs"]:
    """Return which graphs have a cycle: a strongly connected component of several nodes."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    batch = jax.tree.map(np.atleast_2d, (graphs.senders, graphs.receivers))
    mask, num_nodes = np.atleast_2d(graphs.edge_mask()), graphs.num_nodes
    first = np.arange(len(mask))[:, None] * num_nodes  # nodes are numbered through all graphs
    ends = [(np.asarray(each) + first)[mask] for each in batch]
    size = len(mask) * num_nodes
    matrix = coo_array((np.ones(len(ends[0])), ends), shape=(size, size))
    _, component = connected_components(matrix, connection="strong")
    in_cycle = np.bincount(component)[component] > 1
    return np.asarray(in_cycle.reshape(-1, num_nodes).any(axis=1))


def check_weights(
    algorithm: Algorithm, graphs: Graph, names: Sequence[Hashable] | None = None
) -> None:
    """Raise a `UserError` that names the edge unless all weights are in the valid interval.

    **Arguments:**

    - `names`: names of the nodes of a single graph, for the message.
    """
    edges, (low, high) = np.asarray(graphs.edge_mask()), algorithm.weights
    weights = np.asarray(graphs.weights)[edges]
    # Subnormal numbers count as 0, because CPUs flush them to zero.
    above_low = weights >= np.finfo(np.float32).tiny if low == 0 else weights >= low
    good = above_low & (weights <= high) & np.isfinite(weights)
    if not good.all():
        bad = np.argmin(good)
        first = tuple(np.argwhere(edges)[bad].tolist())
        ends = [int(np.asarray(ends)[first]) for ends in (graphs.senders, graphs.receivers)]
        tail, head = (end if names is None else f"{names[end]!r:.80}" for end in ends)
        raise UserError(
            f"{algorithm.name} needs {_interval(low, high)}, but the edge between nodes {tail} and "
            f"{head}{''.join(f' of graph {g}' for g in first[:-1])} has weight {weights[bad]:g}; "
            "rescale the weights or choose another algorithm"
        )


def _interval(low: float, high: float) -> str:
    lower = "above 0" if low == 0 else f"of at least {low:g}"
    ends = [lower] * (low > -np.inf) + [f"at most {high:g}"] * (high < np.inf)
    return f"finite weights {' and '.join(ends)}".strip()


@partial(jax.jit, static_argnums=(0, 2))
def run_dense(algorithm: Algorithm, graphs: Graph, record: str) -> Ran:
    """Step all graphs side by side, on matrices of weights."""
    num_nodes, (num_graphs,) = graphs.num_nodes, graphs.batch_shape
    # One list of cells of all matrices: XLA scatters along one axis several times as fast.
    row = jnp.arange(num_graphs, dtype=jnp.int32)[:, None] * num_nodes + graphs.senders
    count = num_graphs * num_nodes**2
    cell = jnp.where(graphs.senders < num_nodes, row * num_nodes + graphs.receivers, count)
    empty = jnp.full(count, jnp.nan, jnp.float32)
    weights = empty.at[cell.ravel()].set(graphs.weights.ravel(), mode="drop")
    weights = weights.reshape(num_graphs, num_nodes, num_nodes)
    state = jax.vmap(lambda source: initial_state(algorithm, source, num_nodes))(graphs.source)

    def step(state):
        engine = algorithm.framework.dense_engine
        return jax.vmap(lambda w, s: engine(algorithm, w).step(s))(weights, state)

    return _repeat(step, lambda state: state, state, num_nodes, record)


@partial(jax.jit, static_argnums=(0, 2))
def run_sparse(algorithm: Algorithm, graphs: Graph, record: str) -> Ran:
    """Run one graph after the other, on its list of edges."""
    num_nodes = graphs.num_nodes

    def one(graph: Graph):
        if algorithm.framework.reads_arriving_edges:
            graph = graph.reverse()
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

    def write(history, states, t):
        return jax.tree.map(
            lambda past, leaf: lax.dynamic_update_slice_in_dim(past, leaf, t, axis=-2),
            history,
            states,
        )

    def body(loop):
        t, carry, history = loop
        carry = step(carry)
        if record == "full":
            history = write(history, visible(carry), t + 1)
        return t + 1, carry, history

    history = None
    if record == "full":
        empty = jax.tree.map(
            lambda leaf: jnp.zeros((*leaf.shape[:-2], num_steps + 1, leaf.shape[-1]), leaf.dtype),
            visible(carry),
        )
        history = write(empty, visible(carry), 0)
    # A state that has ended no longer changes, so the others may go on.
    end, carry, history = lax.while_loop(
        lambda loop: (loop[0] < num_steps) & jnp.any(state_of(loop[1]).active),
        body,
        (jnp.int32(0), carry, history),
    )
    last = visible(carry)
    if record == "full":
        last = lax.fori_loop(end + 1, num_steps + 1, lambda t, past: write(past, last, t), history)
    key, pred, visited = last
    state = state_of(carry)
    return Trace(key, pred, visited, state.length), state.lost, state.active
