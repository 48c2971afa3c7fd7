"""`run`: execute an algorithm on graphs and record every step or the last one."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Literal

import jax
import numpy as np

from algotransfer.algorithms.algorithm import Algorithm, Trace
from algotransfer.algorithms.checks import check_relax, check_weights
from algotransfer.algorithms.programs import run_dense, run_sparse
from algotransfer.algorithms.registry import get_algorithm
from algotransfer.devices import default_platform
from algotransfer.errors import UserError
from algotransfer.graphs.graph import Graph, check_graph

PROGRAMS = {"dense": run_dense, "sparse": run_sparse}
MAX_TRACE_NODES = 2000  # nodes up to which every step is recorded
DENSE_ENGINE_MAX_NODES = 512  # up to which the dense engine is faster, except on a CPU
# Cells of adjacency matrices per chunk: a CPU's cache, or enough to keep another device busy.
CHUNK_CELLS = {"cpu": 2**19}
CHUNK_CELLS_ELSEWHERE = 2**26


def run(
    algorithm: str | Algorithm,
    graphs: Graph,
    record: Literal["full", "final"] = "full",
    layout: Literal["dense", "sparse"] | None = None,
) -> Trace:
    """Run an algorithm on one graph or a batch.

    **Arguments:**

    - `algorithm`: a name from `ALGORITHMS`, or an `Algorithm` of your own.
    - `record`: `full` keeps every step (up to 2,000 nodes), `final` the last one only.
    - `layout`: `dense` or `sparse`; the faster one for that many nodes if not given. The two
        agree to the last bit.

    **Returns:** the `Trace`; a batch that takes more than one chunk comes back in host memory.
    """
    algorithm = get_algorithm(algorithm)
    check_relax(algorithm)
    layout = layout or _faster_layout(algorithm, graphs.num_nodes)
    _check_graphs(algorithm, graphs, record)
    if not graphs.batch_shape:
        return run(algorithm, jax.tree.map(lambda leaf: leaf[None], graphs), record, layout)[0]
    trace, lost, active = _in_chunks(PROGRAMS[layout], algorithm, graphs, record)
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
        return program(algorithm, _pad_edges(graphs, width), record)

    graphs = jax.tree.map(np.asarray, graphs)
    shapes = program.eval_shape(algorithm, _pad_edges(graphs[:chunk], width), record)
    out = jax.tree.map(lambda leaf: np.empty((total, *leaf.shape[1:]), leaf.dtype), shapes)
    # None if unset: naming the default device would compile the program once more.
    device = jax.config.jax_default_device  # pyright: ignore[reportAttributeAccessIssue]

    def work(start: int) -> None:
        here = slice(start, start + chunk)
        with jax.default_device(device):  # not inherited by threads
            part = program(algorithm, _pad_edges(graphs[here], width), record)
        jax.tree.map(lambda whole, leaf: np.copyto(whole[here], leaf), out, part)

    starts = [min(start, total - chunk) for start in range(0, total, chunk)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(work, starts))  # a list, so that an error in a thread is raised here
    return out


def _rounded_up(width: int) -> int:
    """Round a width up, so that similar batches share one compiled program."""
    step = max(8, 2 ** (width.bit_length() - 4))
    return max(step, -(-width // step) * step)


def _pad_edges(graphs: Graph, width: int) -> Graph:
    """Pad the edge lists of a batch to a width."""

    def padded(leaf, fill):
        return np.pad(leaf, [(0, 0), (0, width - leaf.shape[1])], constant_values=fill)

    return Graph(
        senders=padded(graphs.senders, graphs.num_nodes),
        receivers=padded(graphs.receivers, graphs.num_nodes),
        weights=padded(graphs.weights, 0),
        source=graphs.source,
        num_nodes=graphs.num_nodes,
    )


def _check_graphs(algorithm: Algorithm, graphs: Graph, record: str) -> None:
    if record == "full" and graphs.num_nodes > MAX_TRACE_NODES:
        raise UserError(
            f"a full trace of {graphs.num_nodes} nodes needs {graphs.num_nodes + 1} steps of as "
            f"many keys; above {MAX_TRACE_NODES} nodes use record='final'"
        )
    check_graph(graphs)
    check_weights(algorithm, graphs)
