"""Graphs of the CLRS-30 benchmark (Veličković et al., 2022), drawn as its samplers draw them.

NumPy guarantees the numbers of its legacy generator, `RandomState`. With the same calls in the same
order, the graphs equal those of dm-clrs bit by bit, without dm-clrs or TensorFlow.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from algotransfer.graphs.graph import Graph, from_edges


@dataclass(frozen=True)
class ClrsSampler:
    """The distribution of a task's graphs: Erdős–Rényi, with self-loops.

    **Arguments:**

    - `probability`: of each entry of the adjacency matrix. An undirected edge needs both of its
        entries, and so exists with the square of this probability.
    - `acyclic`: directed acyclic instead of undirected graphs.
    - `weighted`: weights in (0, 1) instead of 1.
    - `has_source`: whether a source is drawn; otherwise it is node 0.
    """

    probability: float = 0.5
    acyclic: bool = False
    weighted: bool = True
    has_source: bool = True

    def matrices(
        self, num_graphs: int, num_nodes: int, seed: int
    ) -> Iterator[tuple[Float[np.ndarray, "n n"], int]]:
        """Yield the weight matrix (0 where there is no edge) and the source of each graph."""
        random = np.random.RandomState(seed)
        for _ in range(num_graphs):
            weights = self._matrix(random, num_nodes)
            yield weights, int(random.choice(num_nodes)) if self.has_source else 0

    def _matrix(self, random: np.random.RandomState, num_nodes: int) -> Float[np.ndarray, "n n"]:
        shape = (num_nodes, num_nodes)
        probability = random.choice((self.probability,))  # advances the generator
        edges = random.binomial(1, probability, size=shape).astype(float)
        if self.acyclic:
            order = random.permutation(num_nodes)
            edges = np.triu(edges, k=1)[np.ix_(order, order)]
        else:
            edges *= edges.T
        if not self.weighted:
            return edges
        weights = random.uniform(0.0, 1.0, size=shape)
        return edges * (weights if self.acyclic else np.sqrt(weights * weights.T + 1e-3))

    def sample(self, num_graphs: int, num_nodes: int, seed: int) -> Graph:
        """Sample a batch of graphs; self-loops, which no path needs, are removed."""
        graph_id, ends, values, sources = [], [], [], []
        for graph, (weights, source) in enumerate(self.matrices(num_graphs, num_nodes, seed)):
            pairs = np.nonzero(weights if self.acyclic else np.triu(weights, k=1))
            graph_id.append(np.full(len(pairs[0]), graph))
            ends.append(np.stack(pairs))
            values.append(weights[pairs])
            sources.append(source)
        return from_edges(
            num_nodes,
            num_graphs,
            graph_id=np.concatenate(graph_id),
            ends=np.concatenate(ends, axis=1),
            weights=np.concatenate(values),
            source=np.array(sources),
            directed=self.acyclic,
        )


def at_every_source(graphs: Graph) -> Graph:
    """Repeat each graph of a batch once for every node, which becomes its source."""
    repeated = graphs[np.repeat(np.arange(len(graphs)), graphs.num_nodes)]
    return with_sources(repeated, np.tile(np.arange(graphs.num_nodes), len(graphs)))


def with_sources(graphs: Graph, source: Int[np.ndarray, " graphs"]) -> Graph:
    """Return the same graphs with other sources."""
    return dataclasses.replace(graphs, source=np.asarray(source, np.int32))
