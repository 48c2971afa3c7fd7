"""Statistics agree with networkx, graph by graph."""

import networkx
import numpy as np
import pytest

from algotransfer.datasets import (
    from_graphs,
    graph_statistics,
    make_dataset,
    statistics,
    trace_statistics,
)
from algotransfer.graphs import from_networkx, to_networkx


@pytest.mark.parametrize("num_nodes", [8, 70])  # sets of nodes in one word of bits, and in two
def test_reached_nodes_diameter_and_degree(num_nodes, monkeypatch):
    monkeypatch.setattr(statistics, "WORDS_PER_BLOCK", 4000)  # several groups of graphs
    dataset = make_dataset(("er", "ba", "grid"), num_graphs=12, num_nodes=num_nodes, seed=5)
    reached, diameter = statistics.source_component(dataset.graphs)
    degree = statistics.degree(dataset.graphs)
    for index in range(len(dataset)):
        graph = dataset.graphs[index]
        network = to_networkx(graph)
        component = networkx.node_connected_component(network, int(graph.source))
        assert set(np.flatnonzero(reached[index]).tolist()) == component
        assert diameter[index] == networkx.diameter(network.subgraph(component))
        assert degree[index].tolist() == [network.degree(node) for node in range(num_nodes)]


def test_rows_of_a_table():
    two_parts = networkx.disjoint_union(networkx.path_graph(3), networkx.path_graph(2))
    dataset = from_graphs(
        [two_parts, from_networkx(two_parts, source=4), networkx.star_graph(4)],
        family=["parts", "parts", "star"],
    )
    parts, star = graph_statistics(dataset)
    assert parts == statistics.GraphStatistics(
        family="parts",
        graphs=2,
        nodes=5,
        mean_edges=3.0,
        mean_degree=1.2,
        max_degree=2,
        mean_diameter=1.5,
        max_diameter=2,
        reached_share=0.5,
        whole_share=0.0,
    )
    assert star[1:] == (1, 5, 4.0, 1.6, 4, 2.0, 2, 1.0, 1.0)
    assert trace_statistics(dataset, "dijkstra") == [
        ("dijkstra", "parts", 2.5, 3),
        ("dijkstra", "star", 5.0, 5),
    ]


def test_graphs_without_edges():
    (row,) = graph_statistics(from_graphs([networkx.empty_graph(3), networkx.empty_graph(3)]))
    assert row.max_diameter == row.max_degree == 0
    assert row.reached_share == pytest.approx(1 / 3)
