"""NE and NE++ in plain NumPy: the formulas of the two networks, concatenations and loops and all.

Everything is float64 and nothing here knows of `algotransfer`. Weights are nested dictionaries of
matrices that multiply a row vector from the right; `i` receives, `j` sends.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np


@dataclass
class PlainGraph:
    """Nodes and undirected edges with their weights."""

    num_nodes: int
    edges: dict[tuple[int, int], float]

    @classmethod
    def from_matrix(cls, weights) -> "PlainGraph":
        """From a symmetric matrix that is 0 where there is no edge."""
        ends = zip(*np.nonzero(np.triu(weights, 1)), strict=True)
        return cls(len(weights), {(int(u), int(v)): float(weights[u, v]) for u, v in ends})

    def senders(self, i: int, kinds: tuple[str, ...]) -> Iterator[tuple[int, np.ndarray]]:
        """Neighbours of a node and the node itself, each with the features of its edge."""
        for j in range(self.num_nodes):
            if i == j:
                yield j, np.zeros(len(kinds))
            elif (edge := (min(i, j), max(i, j))) in self.edges:
                feature = {"weight": self.edges[edge], "one": 1.0}
                yield j, np.array([feature[kind] for kind in kinds])


@dataclass
class Output:
    """What the heads say about one algorithm after one step; scores are NaN off the edges."""

    y: np.ndarray
    scores: np.ndarray
    stop: float


def join(*pieces) -> np.ndarray:
    return np.concatenate(pieces)


def max_mpnn(weights, node, graph, kinds, edge) -> np.ndarray:
    """U[node_i, max_j M[node_i, node_j, e_ij]]."""
    rows = []
    for i in range(graph.num_nodes):
        messages = [
            join(node[i], node[j], feature @ edge) @ weights["message"]
            for j, feature in graph.senders(i, kinds)
        ]
        rows.append(join(node[i], np.max(messages, axis=0)) @ weights["update"])
    return np.array(rows)


def read_heads(heads, termination, inputs, hidden, graph, kinds, edge) -> Output:
    """y_i = D[inputs_i, h'_i]; s_ij = S[h'_j, e_ij]; linear(mean_i of an own max-MPNN of h')."""
    y = [join(inputs[i], hidden[i]) @ heads["decoder"] for i in range(graph.num_nodes)]
    scores = np.full((graph.num_nodes, graph.num_nodes), np.nan)
    for i in range(graph.num_nodes):
        for j, feature in graph.senders(i, kinds):
            scores[i, j] = (join(hidden[j], feature @ edge) @ heads["predecessor"]).item()
    summary = np.mean(max_mpnn(termination, hidden, graph, kinds, edge), axis=0)
    return Output(np.array(y), scores, (summary @ termination["linear"]).item())


@dataclass
class PlainNE:
    """z_i = E[x_i, h_i]; h'_i = U[z_i, max_j M[z_i, z_j, e_ij]] + z_i; y_i = D[z_i, h'_i].

    Features of several algorithms are concatenated; so are the kinds of edge feature they need.
    Several processors are summed, the residual z_i is added once.
    """

    weights: dict
    kinds: tuple[str, ...]

    def start(self, num_nodes: int) -> np.ndarray:
        return np.zeros((num_nodes, self.weights["edge"].shape[1]))

    def step(self, graph, features, memory) -> tuple[np.ndarray, list[Output]]:
        weights, edge = self.weights, self.weights["edge"]
        z = np.array(
            [
                join(*(x[i] for x in features), memory[i]) @ weights["encoder"]
                for i in range(graph.num_nodes)
            ]
        )
        hidden = z.copy()
        for processor in weights["processors"]:
            hidden += max_mpnn(processor, z, graph, self.kinds, edge)
        outputs = [
            read_heads(heads, weights["termination"], z, hidden, graph, self.kinds, edge)
            for heads in weights["heads"]
        ]
        return hidden, outputs


@dataclass
class PlainNEPlusPlus:
    """h'_i = U[h_i, max_j M q_ij]; y_i = D[x_i, h_i, h'_i]; only M and U are shared.

    q_ij = L[x_i, h_i, x_j, h_j, e_ij] + W2 relu(W1[x_i, h_i, x_j, h_j, e_ij]).
    """

    weights: dict
    kinds: tuple[str, ...]  # of each algorithm

    def start(self, num_nodes: int) -> list[np.ndarray]:
        widths = [own["edge"].shape[1] for own in self.weights["specialists"]]
        return [np.zeros((num_nodes, width)) for width in widths]

    def step(self, graph, features, memory) -> tuple[list[np.ndarray], list[Output]]:
        hiddens, outputs = [], []
        for own, kind, x, h in zip(
            self.weights["specialists"], self.kinds, features, memory, strict=True
        ):
            hidden = np.zeros_like(h)
            for processor in self.weights["processors"]:
                for i in range(graph.num_nodes):
                    messages = []
                    for j, feature in graph.senders(i, (kind,)):
                        inputs = join(x[i], h[i], x[j], h[j], feature @ own["edge"])
                        relu = np.maximum(inputs @ own["first"], 0)
                        q = inputs @ own["linear"] + relu @ own["second"]
                        messages.append(q @ processor["message"])
                    hidden[i] += join(h[i], np.max(messages, axis=0)) @ processor["update"]
            inputs = np.concatenate([x, h], axis=1)
            outputs.append(
                read_heads(
                    own["heads"], own["termination"], inputs, hidden, graph, (kind,), own["edge"]
                )
            )
            hiddens.append(hidden)
        return hiddens, outputs


PLAIN = {"ne": PlainNE, "ne++": PlainNEPlusPlus}
