"""`to_clrs`: graphs and answers as NumPy arrays with the names of dm-clrs.

The tuples have the fields of dm-clrs' own; locations and types are its strings. Code that reads a
`feedback` of a dm-clrs sampler reads these, without dm-clrs or TensorFlow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from algotransfer.algorithms import Trace, run
from algotransfer.datasets import CLRS_TASKS, Dataset
from algotransfer.datasets.clrs30 import (
    OFFICIAL_SIZES,
    SEEDS,
    ClrsTask,
    make_clrs_dataset,
    official_output,
    true_output,
)
from algotransfer.errors import UserError
from algotransfer.graphs.clrs_sampling import at_every_source
from algotransfer.graphs.graph import Graph
from algotransfer.registry import check_name


class DataPoint(NamedTuple):
    """One probe of a batch: `data` has the batch first; hints have steps before the batch."""

    name: str
    location: str  # "node" or "edge"
    type_: str  # "scalar", "mask", "mask_one" or "pointer"
    data: np.ndarray


class Features(NamedTuple):
    """Inputs and hints of a batch, and the number of steps that the hints of each graph have."""

    inputs: tuple[DataPoint, ...]
    hints: tuple[DataPoint, ...]
    lengths: Float[np.ndarray, " graphs"]


class Feedback(NamedTuple):
    """A batch as dm-clrs' samplers return it."""

    features: Features
    outputs: tuple[DataPoint, ...]


def to_clrs(task: str, graphs: str | Dataset | Graph) -> Feedback:
    """Return graphs and answers of a CLRS-30 task as arrays with dm-clrs' names.

    Hints exist for `bfs`, `bellman_ford`, `dijkstra` and `mst_prim`; the other tasks have none, and
    lengths 0. Keys of hints are float32 numbers; dm-clrs computes in float64.

    **Arguments:**

    - `task`: a name of `CLRS_TASKS`.
    - `graphs`: an official split (`train`, `validation`, `test`), or a dataset or a batch of your
        own. A task without a source ignores theirs.
    """
    clrs_task = CLRS_TASKS[task]
    if isinstance(graphs, str):
        check_name("split", graphs, OFFICIAL_SIZES)
        size = OFFICIAL_SIZES[graphs]
        matrices = clrs_task.sampler.matrices(*size, SEEDS[graphs])
        weights = np.stack([matrix for matrix, _ in matrices])
        asked = make_clrs_dataset(clrs_task, graphs, *size).graphs
        output = official_output(clrs_task, graphs)
    else:
        batch = graphs if isinstance(graphs, Graph) else graphs.graphs
        weights, asked = _own(clrs_task, batch)
        output = true_output(clrs_task, asked)
    return _feedback(clrs_task, weights, asked, output)


def _own(task: ClrsTask, graphs: Graph) -> tuple[Float[np.ndarray, "graphs n n"], Graph]:
    """Return weight matrices, and the graphs that the task's algorithm runs on."""
    if len(graphs.batch_shape) != 1:
        raise UserError(
            f"graphs have batch shape {graphs.batch_shape}; expected a batch: graphs[None]"
        )
    if graphs.directed != task.sampler.acyclic:
        kinds = {True: "directed", False: "undirected"}
        raise UserError(
            f"the graphs are {kinds[graphs.directed]}; {task.name} expects "
            f"{kinds[task.sampler.acyclic]} ones"
        )
    weights = np.asarray(graphs.weight_matrix(), np.float64)
    if not task.sampler.weighted:
        weights = (weights > 0).astype(np.float64)
    return weights, graphs if task.sampler.has_source else at_every_source(graphs)


def _feedback(task: ClrsTask, weights: np.ndarray, asked: Graph, output: np.ndarray) -> Feedback:
    count, num_nodes = weights.shape[:2]
    position = np.tile(np.arange(num_nodes) / num_nodes, (count, 1))
    adjacency = ((weights != 0) | np.eye(num_nodes, dtype=bool)).astype(np.float64)
    inputs = [DataPoint("pos", "node", "scalar", position)]
    if task.sampler.has_source:
        is_source = np.eye(num_nodes)[np.asarray(asked.source)]
        inputs.append(DataPoint("s", "node", "mask_one", is_source))
    # As in dm-clrs, weights of 1 are integers.
    dtype = np.float64 if task.sampler.weighted else np.int64
    inputs.append(DataPoint("A", "edge", "scalar", weights.astype(dtype)))
    inputs.append(DataPoint("adj", "edge", "mask", adjacency))
    hints, lengths = (), np.zeros(count)
    if task.name in HINTS:
        trace = run(task.algorithms[0], asked)
        hints, lengths = HINTS[task.name](trace, np.asarray(asked.source))
    return Feedback(Features(tuple(inputs), hints, lengths), (_answer(task, output),))


def _answer(task: ClrsTask, output: np.ndarray) -> DataPoint:
    location = "node" if task.output == "pi" else "edge"
    type_ = "mask" if task.output == "in_mst" else "pointer"
    dtype = np.int64 if task.output == "pi" else np.float64  # as in dm-clrs
    return DataPoint(task.output, location, type_, output.astype(dtype))


def _breadth_first(trace: Trace, source: np.ndarray):
    # One hint before each step, the last of which changes nothing.
    reached = np.asarray(trace.key) > 0
    return _hints(trace, np.asarray(trace.length), [("reach_h", "mask", reached)])


def _parallel(trace: Trace, source: np.ndarray):
    key = np.asarray(trace.key)
    reached = np.isfinite(key)
    probes = [("d", "scalar", np.where(reached, key, 0)), ("msk", "mask", reached)]
    return _hints(trace, np.asarray(trace.length), probes)


def _sequential(key_name: str):
    def hints(trace: Trace, source: np.ndarray):
        key, visited = np.asarray(trace.key), np.asarray(trace.visited)
        reached = np.isfinite(key)
        newly = visited[:, 1:] & ~visited[:, :-1]
        first = np.eye(key.shape[-1], dtype=bool)[source][:, None]
        probes = [
            (key_name, "scalar", np.where(reached, key, 0)),
            ("mark", "mask", visited),
            ("in_queue", "mask", reached & ~visited),
            ("u", "mask_one", np.concatenate([first, newly], axis=1)),
        ]
        return _hints(trace, np.asarray(trace.length) + 1, probes)  # one before the first step

    return hints


def _hints(
    trace: Trace, lengths: Int[np.ndarray, " graphs"], probes: Sequence[tuple[str, str, np.ndarray]]
) -> tuple[tuple[DataPoint, ...], Float[np.ndarray, " graphs"]]:
    """Return hints with steps first, zero after the end of each graph, as dm-clrs pads them."""
    steps = int(lengths.max())
    running = np.arange(steps)[:, None, None] < lengths[:, None]
    pointers = _own_where_missing(np.asarray(trace.pred))
    points = []
    for name, type_, data in [("pi_h", "pointer", pointers), *probes]:
        data = np.swapaxes(data, 0, 1)[:steps] * running
        points.append(DataPoint(name, "node", type_, data.astype(np.float64)))
    return tuple(points), lengths.astype(np.float64)


def _own_where_missing(pred: Int[np.ndarray, "*shape n"]) -> Int[np.ndarray, "*shape n"]:
    """In dm-clrs, a node without a predecessor points at itself."""
    return np.where(pred < 0, np.arange(pred.shape[-1]), pred)


HINTS: dict[str, Callable[[Trace, np.ndarray], tuple[tuple[DataPoint, ...], np.ndarray]]] = {
    "bfs": _breadth_first,
    "bellman_ford": _parallel,
    "dijkstra": _sequential("d"),
    "mst_prim": _sequential("key"),
}
