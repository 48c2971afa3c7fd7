"""What a network is shown and its losses, for one graph, in plain NumPy loops.

The tables below are the paper's, written out again; nothing here knows of `algotransfer.training`.
"""

from dataclasses import dataclass

import numpy as np
from networks.plain import PlainGraph
from scipy.special import log_softmax

UNREACHED = {
    "bfs": 0.0,
    "bellman_ford": np.inf,
    "widest_par": 0.0,
    "reliable_par": 0.0,
    "prim": np.inf,
    "dijkstra": np.inf,
    "dfs": np.inf,
    "widest_seq": 0.0,
    "reliable_seq": 0.0,
}
SEQUENTIAL = ("prim", "dijkstra", "dfs", "widest_seq", "reliable_seq")
BETA = 0.001


@dataclass
class Record:
    """One graph's execution: raw keys and all, and the rule for ∞."""

    name: str
    source: int
    length: int
    key: np.ndarray  # [steps + 1, n]
    pred: np.ndarray
    visited: np.ndarray | None
    infinity: float | str = "instance"

    @property
    def sequential(self) -> bool:
        return self.name in SEQUENTIAL

    @property
    def num_nodes(self) -> int:
        return self.key.shape[1]

    def stand_in(self) -> float:
        """What the network sees for ∞, before a division by n."""
        if self.infinity != "instance":
            return self.infinity
        if self.name == "prim":
            return 2.0
        if self.name == "dfs":
            return self.num_nodes + 1.0
        return max([key for key in self.key[-1] if np.isfinite(key)], default=0.0) + 1.0

    def shown(self, t: int, v: int) -> float:
        """The key of a node after step t, as a finite number in the network's units."""
        key = float(self.key[t, v])
        key = self.stand_in() if np.isinf(key) else key
        return key / self.num_nodes if self.name == "dfs" else key

    def reached(self, t: int) -> list[int]:
        return [v for v in range(self.num_nodes) if self.key[t, v] != UNREACHED[self.name]]

    def next_nodes(self, t: int) -> list[int]:
        """The nodes that may leave the queue next: all that are tied for the best key."""
        queue = [v for v in self.reached(t) if not self.visited[t, v]]
        best = min if UNREACHED[self.name] == np.inf else max
        top = best((self.key[t, v] for v in queue), default=None)
        return [v for v in queue if self.key[t, v] == top]

    def teacher(self, t: int) -> np.ndarray:
        """Node features of step t under teacher forcing."""
        if not self.sequential:
            return np.array([[self.shown(t, v)] for v in range(self.num_nodes)])
        return np.array(
            [
                [1.0, self.shown(t, v)] if self.visited[t, v] else [0.0, self.shown(0, v)]
                for v in range(self.num_nodes)
            ]
        )


def record(name, dataset, graph, infinity="instance") -> Record:
    """One graph of a dataset."""
    trace = dataset.trace(name)
    return Record(
        name=name,
        source=int(dataset.graphs.source[graph]),
        length=int(trace.length[graph]),
        key=np.asarray(trace.key[graph]),
        pred=np.asarray(trace.pred[graph]),
        visited=None if trace.visited is None else np.asarray(trace.visited[graph]),
        infinity=infinity,
    )


def smooth_l1(difference: float) -> float:
    size = abs(difference)
    return size**2 / (2 * BETA) if size < BETA else size - BETA / 2


def bce(logit: float, target: bool) -> float:
    return np.logaddexp(0, -logit if target else logit)


def pointer_loss(graph: PlainGraph, scores, node, target, among=None) -> float:
    """Softmax over {neighbours, self}, or those of them that are `among` some."""
    senders = [j for j, _ in graph.senders(node, ()) if among is None or j in among or j == node]
    return -log_softmax(scores[node, senders])[senders.index(target)]


def key_loss(record: Record, y: float, t: int, v: int) -> float:
    if record.name == "bfs":
        return bce(y, bool(record.key[t, v]))
    return smooth_l1(y - record.shown(t, v))


def taught_step(graph: PlainGraph, record: Record, t: int, output) -> dict[str, float]:
    """Losses of one step under teacher forcing."""
    losses = {"termination": bce(output.stop, t + 1 == record.length)}
    if record.sequential:
        nodes = range(record.num_nodes)
        visited = [v for v in nodes if record.visited[t, v]]
        unvisited = [v for v in nodes if v not in visited]
        (node,) = (v for v in unvisited if record.visited[t + 1, v])
        log_probability = dict(zip(unvisited, log_softmax(output.y[unvisited, 0]), strict=True))
        reached = {record.source, *visited}
        reached |= {j for v in visited for j, _ in graph.senders(v, ())}
        target = int(record.pred[t + 1, node])
        losses["next"] = -np.mean([log_probability[v] for v in record.next_nodes(t)])
        losses["key"] = key_loss(record, output.y[node, 1], t + 1, node)
        losses["predecessor"] = pointer_loss(graph, output.scores, node, target, reached)
        return losses
    reached = record.reached(t + 1)
    losses["key"] = np.mean([key_loss(record, output.y[v, 0], t + 1, v) for v in reached])
    if record.name != "bfs":
        losses["predecessor"] = np.mean(
            [pointer_loss(graph, output.scores, v, int(record.pred[t + 1, v])) for v in reached]
        )
    return losses


def final_losses(graph: PlainGraph, record: Record, output) -> dict[str, float]:
    """Losses of the last step when the algorithm is not shown."""
    reached = record.reached(-1)
    losses = {"key": np.mean([key_loss(record, output.y[v, -1], -1, v) for v in reached])}
    if record.name != "bfs":
        losses["predecessor"] = np.mean(
            [pointer_loss(graph, output.scores, v, int(record.pred[-1, v])) for v in reached]
        )
    if record.sequential:
        losses["visited"] = np.mean(
            [bce(output.y[v, 0], bool(record.visited[-1, v])) for v in range(record.num_nodes)]
        )
    return losses


def move(record: Record, state: np.ndarray, y: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """Node features of the next step when the network runs on its own outputs."""
    if not record.sequential:
        return (y > 0).astype(float) if record.name == "bfs" else y
    left = np.flatnonzero(state[:, 0] == 0)
    if not len(left):
        return state
    visited = state[:, 0].copy()
    visited[left[np.argmax((y[:, 0] + noise)[left])]] = 1
    return np.stack([visited, y[:, 1]], axis=1)


def losses(network, graph, records, supervisions, noise=None) -> list[dict[str, float]]:
    """Named losses of every task on one graph and one trajectory, in lockstep."""
    states = [record.teacher(0) for record in records]
    memory = network.start(graph.num_nodes)
    steps = [[] for _ in records]
    for t in range(max(record.length for record in records)):
        for task, record in enumerate(records):
            if supervisions[task] == "tf":
                states[task] = record.teacher(min(t, record.length))
        memory, outputs = network.step(graph, states, memory)
        for task, record in enumerate(records):
            if t >= record.length:
                continue
            if supervisions[task] == "tf":
                steps[task].append(taught_step(graph, record, t, outputs[task]))
            elif t == record.length - 1:
                steps[task].append(final_losses(graph, record, outputs[task]))
            if supervisions[task] == "na":
                states[task] = move(
                    record, states[task], outputs[task].y, 0 if noise is None else noise[t]
                )
    return [
        {name: float(np.mean([step[name] for step in taken])) for name in taken[0]}
        for taken in steps
    ]
