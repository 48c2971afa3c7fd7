"""The least that a step must do, counted from the networks' formulas.

Operations: a product of matrices counts two per multiplication and addition; on an edge each
multiplication, addition and comparison counts one. Maps of a concatenation are sums of maps of
its parts, so that what belongs to a node is computed once per node; linear maps behind a mean are
applied to the mean. A backward pass costs two products for each of the forward pass.

Bytes: what must come from or go to memory if everything else stays on the chip: the graphs and
the states shown or compared, and in training the weights with Adam's two averages, read and
written. On large graphs also the hidden states, which no chip can hold: read and written once a
step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

FLOAT = 4  # bytes


@dataclass(frozen=True)
class Shape:
    """One graph as a network sees it: `entries` counts both directions and the self-loops."""

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

    def __add__(self, other: Work) -> Work:
        return Work(self.operations + other.operations, self.bytes + other.bytes)

    def __mul__(self, times: float) -> Work:
        return Work(times * self.operations, times * self.bytes)


def _products(rows: float, *shapes: tuple[int, int]) -> float:
    return sum(2 * rows * inputs * outputs for inputs, outputs in shapes)


def _ne_process(s: Shape) -> float:
    """z = E[x, h]; M₁z, M₂z, U's two parts; a product, a sum and a maximum per entry and unit."""
    h = s.hidden
    maps = _products(s.nodes, (s.features + h, h), (h, h), (h, h), (h, h), (h, h))
    return maps + 3 * s.entries * h


def _ne_plus_plus_process(s: Shape) -> float:
    """W₁ (3h wide) and ML (h) of both ends on nodes; relu, MW₂ and the maximum on entries; U."""
    h, node = s.hidden, s.features + s.hidden
    on_nodes = _products(s.nodes, *[(node, 3 * h)] * 2, *[(node, h)] * 2, (h, h), (h, h))
    on_entries = _products(s.entries, (3 * h, h)) + s.entries * (4 * 3 * h + 5 * h)
    return on_nodes + on_entries


PROCESS: dict[str, tuple[Callable[[Shape], float], int]] = {  # and what the decoder reads, in h
    "ne": (_ne_process, 2),
    "ne++": (_ne_plus_plus_process, 2),
}


def decode(model: str, s: Shape) -> float:
    """y of every node."""
    return _products(s.nodes, (PROCESS[model][1] * s.hidden, s.outputs))


def predecessors(s: Shape) -> float:
    """A score per entry, and its softmax."""
    return _products(s.nodes, (s.hidden, 1)) + 5 * s.entries


def terminate(s: Shape) -> float:
    """M₂h', a maximum per entry and unit, means; the rest acts on one vector."""
    return _products(s.nodes, (s.hidden, s.hidden)) + 3 * s.entries * s.hidden


def execution_step(model: str, s: Shape, hidden_in_memory: bool) -> Work | None:
    """A free-running step of one graph with all heads; None for a network without a formula."""
    if model not in PROCESS:
        return None
    operations = PROCESS[model][0](s) + decode(model, s) + predecessors(s) + terminate(s)
    states = s.nodes * 3 * FLOAT  # key, visited or chosen, pointer
    if hidden_in_memory:  # h read and written; edges read
        states += 2 * s.nodes * s.hidden * FLOAT + s.entries * 2 * FLOAT
    return Work(operations, states)


def training_step(
    model: str,
    taught: bool,
    s: Shape,
    steps: float,
    batch: int,
    trajectories: int,
    parameters: int,
) -> Work | None:
    """A training step of one seed: a batch, forward and backward, and Adam.

    **Arguments:**

    - `taught`: whether every step is shown and compared, or the last one alone.
    - `steps`: of the algorithm, on average.
    - `trajectories`: how many are run forward; one of them is run backward.
    """
    if model not in PROCESS:
        return None
    run = steps * (PROCESS[model][0](s) + decode(model, s))
    graph = s.entries * 3 * FLOAT + 2 * s.nodes * 3 * FLOAT
    if taught:
        forward = run + steps * (predecessors(s) + terminate(s))
        operations = 3 * forward
        graph += steps * s.nodes * 3 * FLOAT  # key, visited and predecessor of every step
    else:
        operations = trajectories * run + 2 * run + 3 * predecessors(s)
    return Work(operations, graph) * batch + Work(10 * parameters, 6 * FLOAT * parameters)
