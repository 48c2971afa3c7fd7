"""What the engines are measured against: a replay in plain Python, and other people's libraries.

Nothing here knows of `algotransfer.algorithms`: the table below is the paper's, written out again.
"""

from collections.abc import Callable
from typing import NamedTuple

import networkx as nx
import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

F = np.float32
INF = F(np.inf)


class Rule(NamedTuple):
    sequential: bool
    source_key: Callable[[int], float]
    unreached: np.float32
    smaller: bool
    candidate: Callable[[np.float32, np.float32], np.float32]
    once: bool = False


RULES = {
    "bfs": Rule(False, lambda n: 1, F(0), False, lambda key, w: key),
    "bellman_ford": Rule(False, lambda n: 0, INF, True, lambda key, w: key + w),
    "widest_par": Rule(False, lambda n: np.inf, F(0), False, min),
    "reliable_par": Rule(False, lambda n: 1, F(0), False, lambda key, w: key * w),
    "prim": Rule(True, lambda n: 0, INF, True, lambda key, w: w),
    "dijkstra": Rule(True, lambda n: 0, INF, True, lambda key, w: key + w),
    "dfs": Rule(True, lambda n: n, INF, True, lambda key, w: key - F(1), once=True),
    "widest_seq": Rule(True, lambda n: np.inf, F(0), False, min),
    "reliable_seq": Rule(True, lambda n: 1, F(0), False, lambda key, w: key * w),
}


def neighbours(graph) -> list[dict[int, np.float32]]:
    """For every node its neighbours, lowest index first, with the weight of the edge."""
    around = [{} for _ in range(graph.num_nodes)]
    for u, v, weight in zip(graph.senders, graph.receivers, graph.weights, strict=True):
        if u < graph.num_nodes:
            around[u][int(v)] = F(weight)
    return around


class Replay:
    """One graph's trace by simple loops, one float32 operation at a time."""

    def __init__(self, name: str, graph):
        self.rule = RULES[name]
        self.around = neighbours(graph)
        n = graph.num_nodes
        self.key = [self.rule.unreached] * n
        self.pred = [-1] * n
        self.visited = [False] * n
        self.key[graph.source] = F(self.rule.source_key(n))
        self.pred[graph.source] = int(graph.source)
        self.steps = [self._state()]
        self.length = 0
        if self.rule.sequential:
            while self._pop():
                self._record()
        else:
            changed = True
            while changed:
                changed = self._relax_all()
                self._record()
        while len(self.steps) < n + 1:
            self.steps.append(self.steps[-1])

    def arrays(self):
        """`key`, `pred` and `visited`, each [steps, nodes]."""
        key, pred, visited = zip(*self.steps, strict=True)
        return np.array(key, F), np.array(pred, np.int32), np.array(visited, bool)

    def _state(self):
        return list(self.key), list(self.pred), list(self.visited)

    def _record(self):
        self.length += 1
        self.steps.append(self._state())

    def _better(self, a, b):
        return a < b if self.rule.smaller else a > b

    def _relax(self, u, v, key_u, key_v):
        """The key that v would get through u, or None where that is no improvement."""
        if self.rule.once and key_v != self.rule.unreached:
            return None
        candidate = self.rule.candidate(key_u, self.around[u][v])
        return candidate if self._better(candidate, key_v) else None

    def _relax_all(self) -> bool:
        old, changed = list(self.key), False
        for v, around in enumerate(self.around):
            for u in around:  # lowest index first, and only strictly better ones replace it
                key = self._relax(u, v, old[u], self.key[v])
                if key is not None:
                    self.key[v], self.pred[v], changed = key, u, True
        return changed

    def _pop(self) -> bool:
        u = None
        for v, key in enumerate(self.key):
            queued = key != self.rule.unreached and not self.visited[v]
            if queued and (u is None or self._better(key, self.key[u])):
                u = v
        if u is None:
            return False
        self.visited[u] = True
        for v in self.around[u]:
            if not self.visited[v]:
                key = self._relax(u, v, self.key[u], self.key[v])
                if key is not None:
                    self.key[v], self.pred[v] = key, u
        return True


def replay(name: str, graphs):
    """Traces of a batch: key, pred, visited, length."""
    replays = [Replay(name, graphs[i]) for i in range(len(graphs))]
    key, pred, visited = (
        np.stack(leaves) for leaves in zip(*(r.arrays() for r in replays), strict=True)
    )
    return key, pred, visited, np.array([r.length for r in replays])


def weight_matrix(graph) -> np.ndarray:
    """Dense float64 weights, 0 where there is no edge."""
    n = graph.num_nodes
    matrix = np.zeros((n + 1, n + 1))
    matrix[graph.senders, graph.receivers] = graph.weights
    return matrix[:n, :n]


def adjacency(graph) -> csr_array:
    """A sparse matrix of ones, for counting hops."""
    real = graph.senders < graph.num_nodes
    ends = (graph.senders[real], graph.receivers[real])
    return csr_array((np.ones(real.sum()), ends), shape=(graph.num_nodes, graph.num_nodes))


def hops(graph) -> np.ndarray:
    """Number of edges between the source and every node, inf where there is no path."""
    return dijkstra(adjacency(graph), unweighted=True, indices=int(graph.source))


def distances(graph) -> np.ndarray:
    """Shortest distances (scipy, float64)."""
    return dijkstra(csr_array(weight_matrix(graph)), indices=int(graph.source))


def reliabilities(graph) -> np.ndarray:
    """Largest products of weights: shortest paths on −log w."""
    nx_graph = _networkx(graph, lambda weight: max(-np.log(weight), 0.0))
    length = nx.single_source_dijkstra_path_length(nx_graph, int(graph.source))
    return np.array([np.exp(-length.get(v, np.inf)) for v in range(graph.num_nodes)])


def bottlenecks(graph) -> np.ndarray:
    """Widest paths: the lightest edge on the way through a maximum spanning tree."""
    return _along_tree(nx.maximum_spanning_tree(_networkx(graph, float)), graph, min, np.inf, 0)


def lightest_bottlenecks(graph) -> np.ndarray:
    """Minimax paths: the heaviest edge on the way through a minimum spanning tree."""
    return _along_tree(nx.minimum_spanning_tree(_networkx(graph, float)), graph, max, 0, np.inf)


def _along_tree(tree, graph, combine, at_source, unreached) -> np.ndarray:
    key = np.full(graph.num_nodes, float(unreached))
    key[graph.source] = at_source
    for u, v in nx.bfs_edges(tree, int(graph.source)):
        key[v] = combine(key[u], tree.edges[u, v]["weight"])
    return key


def tree_weight(graph) -> float:
    """Weight of a minimum spanning tree of the source's component (networkx, Kruskal)."""
    nx_graph = _networkx(graph, float)
    component = nx_graph.subgraph(nx.node_connected_component(nx_graph, int(graph.source)))
    return nx.minimum_spanning_tree(component, algorithm="kruskal").size("weight")


def _networkx(graph, weight_of) -> nx.Graph:
    nx_graph = nx.Graph()
    nx_graph.add_nodes_from(range(graph.num_nodes))
    nx_graph.add_weighted_edges_from(
        (u, v, weight_of(float(weight)))
        for u, around in enumerate(neighbours(graph))
        for v, weight in around.items()
    )
    return nx_graph
