"""What a dataset looks like in numbers, family by family."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Int

from algotransfer.algorithms import Algorithm
from algotransfer.datasets.dataset import Dataset
from algotransfer.datasets.ragged import to_ragged
from algotransfer.graphs.graph import Graph

WORDS_AT_ONCE = 2**23  # 64-bit words that one step of the search may gather


class GraphStatistics(NamedTuple):
    """One family's graphs; the diameter is that of the source's component, in edges."""

    family: str
    graphs: int
    nodes: int
    mean_edges: float
    mean_degree: float
    max_degree: int
    mean_diameter: float
    max_diameter: int
    reached_share: float  # of the nodes, from the source
    whole_share: float  # of the graphs: those whose every node is reached


class TraceStatistics(NamedTuple):
    """How many steps an algorithm takes on one family's graphs."""

    algorithm: str
    family: str
    mean_length: float
    max_length: int


def graph_statistics(dataset: Dataset) -> list[GraphStatistics]:
    """One row per family, in the dataset's order."""
    graphs = dataset.graphs
    degrees = degree(graphs)
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
                mean_degree=float(degrees[here].mean()),
                max_degree=int(degrees[here].max()),
                mean_diameter=float(diameter[here].mean()),
                max_diameter=int(diameter[here].max()),
                reached_share=float(reached[here].mean()),
                whole_share=float(reached[here].all(axis=1).mean()),
            )
        )
    return rows


def trace_statistics(dataset: Dataset, algorithm: str | Algorithm) -> list[TraceStatistics]:
    """One row per family, in the dataset's order."""
    name = algorithm if isinstance(algorithm, str) else algorithm.name
    length = np.asarray(dataset.trace(algorithm).length)
    return [
        TraceStatistics(name, family, float(of_family.mean()), int(of_family.max()))
        for family in dataset.families
        for of_family in [length[dataset.family == family]]
    ]


def degree(graphs: Graph) -> Int[np.ndarray, "graphs nodes"]:
    """Number of neighbours of every node."""
    edges = to_ragged(graphs)
    node = edges.graph_id * graphs.num_nodes + edges.edge_index[0]
    count = np.bincount(node, minlength=len(graphs) * graphs.num_nodes)
    return count.reshape(len(graphs), graphs.num_nodes)


def source_component(
    graphs: Graph,
) -> tuple[Bool[np.ndarray, "graphs nodes"], Int[np.ndarray, " graphs"]]:
    """The nodes that the source reaches, and the diameter of what they form."""
    # Graphs are searched in groups: what a step gathers is one bit per edge and node.
    words = -(-graphs.num_nodes // 64) * max(1, graphs.senders.shape[-1])
    group = max(1, WORDS_AT_ONCE // words)
    parts = [
        _source_component(graphs[start : start + group]) for start in range(0, len(graphs), group)
    ]
    reached, diameter = zip(*parts, strict=True)
    return np.concatenate(reached), np.concatenate(diameter)


def _source_component(graphs: Graph):
    """Breadth-first search from every node of every graph at once, with sets of nodes as bits.

    After t steps, row v of `ball` holds the nodes within t edges of v. A step adds the rows of
    v's neighbours; the last step that adds anything is v's eccentricity.
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
