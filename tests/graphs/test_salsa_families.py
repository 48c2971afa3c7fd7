"""Watts–Strogatz and Delaunay graphs: exact properties, and statistics of networkx' generator."""

import networkx as nx
import numpy as np
import pytest
from scipy import stats
from scipy.spatial import Delaunay

from algotransfer import sample_graphs
from algotransfer.graphs.families import Options
from algotransfer.graphs.salsa_families import delaunay, watts_strogatz
from algotransfer.graphs.streams import Stream


def stream(seed=0):
    return Stream(seed, "test", "any", 0, "edges")


def graphs_of(edges, num_graphs, num_nodes):
    graph_id, ends = edges
    for number in range(num_graphs):
        graph = nx.empty_graph(num_nodes)
        graph.add_edges_from(ends[:, graph_id == number].T.tolist())
        yield graph


@pytest.mark.parametrize("num_nodes", [5, 6, 7, 9, 16, 40])
def test_ws_graphs_are_simple_and_connected_and_have_all_edges(num_nodes):
    graph_id, ends = watts_strogatz(stream(), 200, num_nodes, Options())
    sizes = {num_nodes * degree // 2 for degree in (4, 6, 8) if degree < num_nodes}
    counts = np.bincount(graph_id, minlength=200)
    assert set(counts.tolist()) == sizes
    for count, graph in zip(counts, graphs_of((graph_id, ends), 200, num_nodes), strict=True):
        assert graph.number_of_edges() == count  # no pair occurs twice
        assert nx.number_of_selfloops(graph) == 0
        assert nx.is_connected(graph)


def test_ws_degrees_and_moved_edges():
    """Each degree is equally likely; 5 to 20 % of the edges are moved, on average 12.5 %."""
    num_graphs, num_nodes = 3000, 300
    graph_id, (near, far) = watts_strogatz(stream(), num_graphs, num_nodes, Options())
    half = np.bincount(graph_id) // num_nodes
    assert stats.chisquare(np.bincount(half, minlength=5)[2:]).pvalue > 0.01
    apart = np.minimum((far - near) % num_nodes, (near - far) % num_nodes)
    moved = np.bincount(graph_id, apart > half[graph_id]) / (half * num_nodes)
    # A moved edge may fall on a place of the ring that another one has left.
    assert moved.mean() == pytest.approx(0.125, abs=0.003)
    assert moved.min() < 0.05
    assert 0.2 < moved.max() < 0.35


def test_ws_has_the_statistics_of_networkx():
    ours = list(graphs_of(watts_strogatz(stream(), 300, 80, Options()), 300, 80))
    draw = np.random.default_rng(0)
    theirs = [
        nx.connected_watts_strogatz_graph(80, k, p, seed=int(seed))
        for k, p, seed in zip(
            draw.choice([4, 6, 8], 300),
            draw.uniform(0.05, 0.2, 300),
            draw.integers(0, 2**31, 300),
            strict=True,
        )
    ]
    for statistic in (nx.average_clustering, nx.average_shortest_path_length, largest_degree):
        one, other = (np.array([statistic(g) for g in graphs]) for graphs in (ours, theirs))
        error = np.sqrt(one.var() / 300 + other.var() / 300)
        assert abs(one.mean() - other.mean()) < 4 * error, statistic.__name__


def largest_degree(graph):
    return max(degree for _, degree in graph.degree)


@pytest.mark.parametrize("num_nodes", [3, 4, 16, 200])
def test_delaunay_is_the_triangulation_of_the_drawn_points(num_nodes):
    edges = delaunay(stream(), 5, num_nodes, Options())
    points = stream().uniform(5, num_nodes, 2)
    for graph, place in zip(graphs_of(edges, 5, num_nodes), points, strict=True):
        expected = nx.empty_graph(num_nodes)
        start, neighbours = Delaunay(place).vertex_neighbor_vertices
        for node in range(num_nodes):
            expected.add_edges_from(
                (node, int(other)) for other in neighbours[start[node] : start[node + 1]]
            )
        assert nx.utils.graphs_equal(graph, expected)
        assert nx.is_connected(graph)
        assert nx.is_planar(graph)


def test_delaunay_circles_are_empty():
    """Independently of scipy's triangulation: no point lies inside the circle of a triangle."""
    num_nodes = 30
    (graph,) = graphs_of(delaunay(stream(), 1, num_nodes, Options()), 1, num_nodes)
    (points,) = stream().uniform(1, num_nodes, 2)
    triangles = [clique for clique in nx.enumerate_all_cliques(graph) if len(clique) == 3]
    empty = 0
    for corners in triangles:
        a, b, c = points[corners]
        centre = np.linalg.solve(2 * np.array([b - a, c - a]), [b @ b - a @ a, c @ c - a @ a])
        radius = np.hypot(*(a - centre))
        inside = np.hypot(*(points - centre).T) < radius - 1e-9
        empty += not inside.any()
    hull = 3 * num_nodes - 3 - graph.number_of_edges()  # Euler's formula
    assert empty == 2 * num_nodes - 2 - hull


@pytest.mark.parametrize(("family", "least"), [("ws", 5), ("delaunay", 3)])
def test_too_few_nodes(family, least):
    with pytest.raises(ValueError, match=f"num_nodes is {least - 1}; expected at least {least} fo"):
        sample_graphs(family, 1, least - 1)


@pytest.mark.parametrize("family", ["ws", "delaunay"])
def test_large_samples_are_refused(family):
    with pytest.raises(ValueError, match="at most 100,000,000 can be sampled at once"):
        sample_graphs(family, 100_000, 1600)
