"""`RecordedExecution`: every step of an algorithm's or a network's execution."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from algotransfer.algorithms import Algorithm, Trace


@dataclass(frozen=True)
class RecordedExecution:
    """Every state of an execution, step 0 included, in the algorithm's own units of keys.

    **Arguments:**

    - `held`: nodes that hold a key; the others are drawn empty.
    - `pred`: −1 where a node has none.
    - `visited`: None for a parallel algorithm.
    - `chosen`: the node visited by each step; None for a parallel algorithm.
    - `probability`: the network's probabilities of that choice; None for an algorithm.
    - `stop`: the network's termination probability; None if it was not trained.
    """

    key: Float[np.ndarray, "states n"]
    held: Bool[np.ndarray, "states n"]
    pred: Int[np.ndarray, "states n"]
    reached: Bool[np.ndarray, "states n"]
    visited: Bool[np.ndarray, "states n"] | None
    chosen: Int[np.ndarray, " steps"] | None
    probability: Float[np.ndarray, "steps n"] | None = None
    stop: Float[np.ndarray, " steps"] | None = None

    @property
    def num_steps(self) -> int:
        """Number of steps; there is one state more."""
        return len(self.key) - 1

    def at(self, step: int) -> int:
        """Return the index of a step's state; the last state is repeated."""
        return min(step, self.num_steps)


def record_trace(algorithm: Algorithm, trace: Trace) -> RecordedExecution:
    """The true execution of one graph, up to its last step."""
    states = int(trace.length) + 1
    key, pred = np.asarray(trace.key)[:states], np.asarray(trace.pred)[:states]
    reached = key != algorithm.unreached_key
    visited = chosen = None
    if trace.visited is not None:
        visited = np.asarray(trace.visited)[:states]
        chosen = np.argmax(visited[1:] & ~visited[:-1], axis=1)
    return RecordedExecution(key, reached, pred, reached, visited, chosen)
