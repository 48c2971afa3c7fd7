"""Statistics of graphs and traces, by family."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Int

from algotransfer.algorithms import Algorithm
from algotransfer.datasets.dataset import Dataset
from algotransfer.datasets.ragged import to_ragged
from algotransfer.graphs.graph import Graph

WORDS_PER_BLOCK = 2**23  # 64-bit words that one step of the breadth-first search may gather


class GraphStatistics(NamedTuple):
    """Statistics of the graphs of one family; diameters are those of the source's component."""

    family: str
    graphs: int
    nodes: int
    mean_edges: float
    mean_degree: float  # padding does not count
    max_degree: int
    mean_diameter: float
    max_diameter: int
    reached_share: float  # share of nodes that the source reaches
    whole_share: float  # share of graphs whose source reaches every node


class TraceStatistics(NamedTuple):
    """Number of steps of an algorithm on the graphs of one family."""

    algorithm: str
    family: str
    mean_length: float
    max_length: int


def graph_statistics(dataset: Dataset) -> list[GraphStatistics]:
    """Return one row per family, in the order of the dataset."""
    graphs = dataset.graphs
    degrees, sizes = degree(graphs), dataset.sizes
    reached, diameter = source_component(graphs)
    rows = []
    for family in dataset.families:
        here = dataset.family == family
        rows.append(
            GraphStatistics(
                family=family,
                graphs=int(here.sum()),
                nodes=dataset.num_nodes,
                mean_edges=float(graphs.num_edges()[here].mean()),
                mean_degree=float(degrees[here].sum() / sizes[here].sum()),
                max_degree=int(degrees[here].max()),
                mean_diameter=float(diameter[here].mean()),
                max_diameter=int(diameter[here].max()),
                reached_share=float(reached[here].sum() / sizes[here].sum()),
                whole_share=float((reached[here].sum(axis=1) == sizes[here]).mean()),
            )
        )
    return rows


def trace_statistics(dataset: Dataset, algorithm: str | Algorithm) -> list[TraceStatistics]:
    """Return one row per family, in the order of the dataset."""
    name = algorithm if isinstance(algorithm, str) else algorithm.name
    length = np.asarray(dataset.trace(algorithm).length)
    return [
        TraceStatistics(name, family, float(of_family.mean()), int(of_family.max()))
        for family in dataset.families
        for of_family in [length[dataset.family == family]]
    ]


def degree(graphs: Graph) -> Int[np.ndarray, "graphs nodes"]:
    """Return the number of neighbours of every node."""
    edges = to_ragged(graphs)
    node = edges.graph_id * graphs.num_nodes + edges.edge_index[0]
    count = np.bincount(node, minlength=len(graphs) * graphs.num_nodes)
    return count.reshape(len(graphs), graphs.num_nodes)


def source_component(
    graphs: Graph,
) -> tuple[Bool[np.ndarray, "graphs nodes"], Int[np.ndarray, " graphs"]]:
    """Return the nodes that each source reaches, and the diameter of its component in edges.

    Graphs are searched in blocks, since a step gathers one bit per edge and node. This is faster
    than `scipy.sparse.csgraph.shortest_path` for each graph: 0.3 s instead of 3.4 s for 15,000
    graphs of 20 nodes, 0.2 s instead of 3.6 s for 4 graphs of 2,000 nodes.
    """
    words = -(-graphs.num_nodes // 64) * max(1, graphs.senders.shape[-1])
    block = max(1, WORDS_PER_BLOCK // words)
    parts = [
        _source_component(graphs[start : start + block]) for start in range(0, len(graphs), block)
    ]
    reached, diameter = zip(*parts, strict=True)
    return np.concatenate(reached), np.concatenate(diameter)


def _source_component(graphs: Graph):
    """Run breadth-first search from all nodes of all graphs together, with node sets as bits.

    After t steps, row v of `ball` holds the nodes within t edges of v. A step adds the rows of
    the neighbours of v; the last step that changes row v is the eccentricity of v.
    """
    num_graphs, num_nodes = len(graphs), graphs.num_nodes
    edges = to_ragged(graphs)
    row = edges.graph_id * num_nodes
    sender, receiver = row + edges.edge_index[0], row + edges.edge_index[1]
    first = np.flatnonzero(np.diff(sender, prepend=-1))  # first edge of each node that has one
    node = sender[first]

    identity = np.eye(num_nodes, -(-num_nodes // 64) * 64, dtype=bool)
    bits = np.packbits(identity, axis=1, bitorder="little").view("<u8")  # nodes × words
    ball = np.tile(bits, (num_graphs, 1))
    eccentricity = np.zeros(num_graphs * num_nodes, np.int64)
    grows = np.ones(len(node), bool)
    step = 0
    while grows.any():
        step += 1
        larger = ball[node] | np.bitwise_or.reduceat(ball[receiver], first)
        grows = (larger != ball[node]).any(axis=1)
        eccentricity[node[grows]] = step
        ball[node] = larger

    source = np.arange(num_graphs) * num_nodes + np.asarray(graphs.source)
    content = np.unpackbits(ball[source].view(np.uint8), axis=1, bitorder="little")
    reached = content[:, :num_nodes].astype(bool)
    eccentricity = eccentricity.reshape(num_graphs, num_nodes)
    return reached, eccentricity.max(axis=1, where=reached, initial=0)
