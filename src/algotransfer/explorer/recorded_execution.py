"""`RecordedExecution`: every step of an algorithm's or a network's execution."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from algotransfer.algorithms import Algorithm, Trace


@dataclass(frozen=True)
class RecordedExecution:
    """Every state of an execution, step 0 included, in the algorithm's own units of keys.

    `visited` and `chosen` are None for parallel algorithms, `probability` and `stop` (termination)
    where no network predicts them.
    """

    key: Float[np.ndarray, "states n"]
    held: Bool[np.ndarray, "states n"]  # nodes that hold a key; the others are drawn empty
    pred: Int[np.ndarray, "states n"]  # −1 where a node has none
    reached: Bool[np.ndarray, "states n"]
    visited: Bool[np.ndarray, "states n"] | None
    chosen: Int[np.ndarray, " steps"] | None  # the node visited by each step
    probability: Float[np.ndarray, "steps n"] | None = None  # of that choice
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
