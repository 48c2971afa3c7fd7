"""What a step is learned from: graphs, initial keys, final keys and final predecessors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from algotransfer.algorithms import Algorithm, run
from algotransfer.graphs.graph import Graph


@dataclass(frozen=True)
class Answers:
    """Inputs and outputs of an algorithm on graphs of one size. Nothing of its steps is here.

    **Arguments:**

    - `weights`: weight of the edge from node j to node i at [graph, j, i]; NaN without an edge.
    - `start`: keys at the start, which are input features of a node.
    - `key`, `pred`: the answer; `pred` is −1 where a node was not reached.
    - `framework`: name of the framework that runs the step.
    """

    weights: Float[np.ndarray, "graphs n n"]
    start: Float[np.ndarray, "graphs n"]
    source: Int[np.ndarray, " graphs"]
    key: Float[np.ndarray, "graphs n"]
    pred: Int[np.ndarray, "graphs n"]
    framework: str

    def __len__(self) -> int:
        return len(self.key)

    def __getitem__(self, index: slice | np.ndarray) -> Answers:
        parts = (self.weights, self.start, self.source, self.key, self.pred)
        return Answers(*(part[index] for part in parts), framework=self.framework)


class Equations(NamedTuple):
    """Fixed-point equations: `own` = step(`key`, `own`, `weight`) on every edge of the answer.

    A row is the edge from the predecessor of a reached node. Rows with an infinite key are left
    out.
    """

    key: Float[np.ndarray, " rows"]
    own: Float[np.ndarray, " rows"]
    weight: Float[np.ndarray, " rows"]

    def values(self) -> dict[str, np.ndarray]:
        """Return the variables of expressions by name."""
        return self._asdict()

    def __getitem__(self, index) -> Equations:
        return Equations(*(part[index] for part in tuple(self)))


def collect_answers(algorithm: Algorithm, graphs: Graph) -> Answers:
    """Run an algorithm and keep its inputs and outputs."""
    trace = run(algorithm, graphs, record="final")
    batch, nodes = len(graphs), graphs.num_nodes
    weights = np.full((batch, nodes, nodes), np.nan, np.float32)
    mask = np.asarray(graphs.edge_mask())
    which = np.nonzero(mask)[0]
    ends = np.asarray(graphs.senders)[mask], np.asarray(graphs.receivers)[mask]
    weights[which, *ends] = np.asarray(graphs.weights)[mask]
    start = np.full((batch, nodes), algorithm.unreached_key, np.float32)
    source = np.asarray(graphs.source)
    start[np.arange(batch), source] = algorithm.source_key(nodes)
    return Answers(
        weights=weights,
        start=start,
        source=source,
        key=np.asarray(trace.final_key),
        pred=np.asarray(trace.final_pred),
        framework=algorithm.framework.name,
    )


def fixed_point_equations(answers: Answers) -> Equations:
    """Return the equations that a step with these answers satisfies.

    In both frameworks a node's final key is the candidate through its final predecessor, whose
    key is final too. So the answer is a fixed point of the step.
    """
    graph, node = np.nonzero(_has_predecessor(answers))
    tail = answers.pred[graph, node]
    rows = Equations(
        key=answers.key[graph, tail].astype(np.float64),
        own=answers.key[graph, node].astype(np.float64),
        weight=answers.weights[graph, tail, node].astype(np.float64),
    )
    return rows[np.isfinite(rows.key) & np.isfinite(rows.own)]


def _has_predecessor(answers: Answers) -> Bool[np.ndarray, "graphs n"]:
    """Return which nodes were reached from another node."""
    nodes = np.arange(answers.key.shape[1])
    return (answers.pred >= 0) & (nodes != answers.source[:, None])
