"""Minimum operations and memory traffic of a step, counted from the formulas of the networks.

Operations: a matrix product counts two per multiplication and addition; on an edge each
multiplication, addition and comparison counts one. A linear map of a concatenation is a sum of
maps of its parts, so terms that depend on one node are computed once per node; linear maps after a
mean are applied to the mean. A backward pass costs two products for each of the forward pass.

Bytes: traffic that remains if all intermediate values stay on the chip: the graphs, the states
that are inputs or targets, and in training the weights and Adam's two averages, read and written.
On large graphs the hidden states are added, read and written once per step.
"""

from collections.abc import Callable
from dataclasses import dataclass

FLOAT_BYTES = 4


@dataclass(frozen=True)
class GraphShape:
    """Sizes of a graph and a network; `entries` counts both directions and self-loops."""

    nodes: int
    entries: float
    hidden: int = 32
    features: int = 2
    outputs: int = 2


@dataclass(frozen=True)
class Work:
    """Operations, and bytes moved."""

    operations: float
    bytes: float = 0.0

    def __add__(self, other: "Work") -> "Work":
        return Work(self.operations + other.operations, self.bytes + other.bytes)

    def __mul__(self, times: float) -> "Work":
        return Work(times * self.operations, times * self.bytes)


def _products(rows: float, *shapes: tuple[int, int]) -> float:
    return sum(2 * rows * inputs * outputs for inputs, outputs in shapes)


def _ne_process(s: GraphShape) -> float:
    """z = E[x, h]; M₁z, M₂z, U's two parts; a product, a sum and a maximum per entry and unit."""
    h = s.hidden
    maps = _products(s.nodes, (s.features + h, h), (h, h), (h, h), (h, h), (h, h))
    return maps + 3 * s.entries * h


def _ne_plus_plus_process(s: GraphShape) -> float:
    """W₁ (3h wide) and ML (h) of both ends on nodes; relu, MW₂ and the maximum on entries; U."""
    h, node = s.hidden, s.features + s.hidden
    on_nodes = _products(s.nodes, *[(node, 3 * h)] * 2, *[(node, h)] * 2, (h, h), (h, h))
    on_entries = _products(s.entries, (3 * h, h)) + s.entries * (4 * 3 * h + 5 * h)
    return on_nodes + on_entries


PROCESS: dict[str, Callable[[GraphShape], float]] = {
    "ne": _ne_process,
    "ne++": _ne_plus_plus_process,
}


def decode(s: GraphShape) -> float:
    """Return the operations of the decoder on all nodes."""
    return _products(s.nodes, (2 * s.hidden, s.outputs))


def predecessors(s: GraphShape) -> float:
    """Return the operations of a score per entry and its softmax."""
    return _products(s.nodes, (s.hidden, 1)) + 5 * s.entries


def terminate(s: GraphShape) -> float:
    """Return the operations of M₂h', a maximum per entry and unit, and means."""
    return _products(s.nodes, (s.hidden, s.hidden)) + 3 * s.entries * s.hidden


def execution_step(model: str, s: GraphShape, hidden_in_memory: bool) -> Work | None:
    """Return the work of a free-running step with all heads, or None without a formula."""
    if model not in PROCESS:
        return None
    operations = PROCESS[model](s) + decode(s) + predecessors(s) + terminate(s)
    states = s.nodes * 3 * FLOAT_BYTES  # key, visited or chosen, pointer
    if hidden_in_memory:  # h read and written; edges read
        states += 2 * s.nodes * s.hidden * FLOAT_BYTES + s.entries * 2 * FLOAT_BYTES
    return Work(operations, states)


def training_step(
    model: str,
    taught: bool,
    s: GraphShape,
    steps: float,
    batch: int,
    trajectories: int,
    parameters: int,
) -> Work | None:
    """Return the work of a training step of one seed: forward and backward on a batch, and Adam.

    If `taught`, every step is an input and a target, else only the last one a target. One of the
    trajectories runs backward.
    """
    if model not in PROCESS:
        return None
    run = steps * (PROCESS[model](s) + decode(s))
    graph = s.entries * 3 * FLOAT_BYTES + 2 * s.nodes * 3 * FLOAT_BYTES
    if taught:
        forward = run + steps * (predecessors(s) + terminate(s))
        operations = 3 * forward
        graph += steps * s.nodes * 3 * FLOAT_BYTES  # key, visited and predecessor of every step
    else:
        operations = trajectories * run + 2 * run + 3 * predecessors(s)
    return Work(operations, graph) * batch + Work(10 * parameters, 6 * FLOAT_BYTES * parameters)
