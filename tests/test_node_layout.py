"""Node layout: grids are placed as grids, and equal graphs equally."""

import networkx
import numpy as np
import pytest

from algotransfer.graphs import from_edges, from_networkx, sample_graphs
from algotransfer.node_layout import grid_positions, place_nodes


def edges_of(graph):
    once = np.asarray(graph.senders) < np.asarray(graph.receivers)
    return np.asarray(graph.senders)[once], np.asarray(graph.receivers)[once]


@pytest.mark.parametrize(("nodes", "shape"), [(4, None), (20, None), (49, None), (500, "square")])
def test_every_edge_of_a_grid_has_length_one(nodes, shape):
    for graph in sample_graphs("grid", 5, nodes, seed=3, shape=shape):
        positions = place_nodes(graph)
        first, second = edges_of(graph)
        steps = np.abs(positions[first] - positions[second])
        assert (steps.sum(axis=1) == 1).all()
        assert len({tuple(position) for position in positions.tolist()}) == nodes
        width, height = np.ptp(positions, axis=0)
        assert width >= height
        assert (positions[int(graph.source)] <= 0).all()  # it begins in the upper left quarter


def graph_of(num_nodes, pairs):
    ends = np.array(pairs).T
    zeros = np.zeros(len(pairs), int)
    return from_edges(num_nodes, 1, zeros, ends, np.ones(len(pairs)), np.array([0]))[0]


def test_what_is_no_grid_is_not_drawn_as_one():
    ladder = [(0, 1), (1, 2), (3, 4), (4, 5), (0, 3), (1, 4), (2, 5)]
    assert grid_positions(graph_of(6, ladder)) is not None
    assert grid_positions(graph_of(6, [*ladder, (0, 4)])) is None
    assert grid_positions(graph_of(6, [*ladder[:-1], (2, 3)])) is None
    assert grid_positions(graph_of(7, ladder)) is None  # a node apart
    assert grid_positions(graph_of(4, [(0, 1), (1, 2), (2, 3)])) is None


@pytest.mark.parametrize(("family", "nodes"), [("er", 20), ("ba", 30), ("er", 130)])
def test_other_graphs_are_spread_out_and_stay_where_they_are(family, nodes):
    graph = sample_graphs(family, 1, nodes, seed=5)[0]
    positions = place_nodes(graph)
    assert np.array_equal(positions, place_nodes(graph))
    assert np.isfinite(positions).all()
    assert len({tuple(position) for position in positions.round(6).tolist()}) == nodes
    first, second = edges_of(graph)
    joined = np.linalg.norm(positions[first] - positions[second], axis=1).mean()
    apart = np.linalg.norm(positions[:, None] - positions[None], axis=-1).mean()
    assert joined < 0.95 * apart  # neighbours are nearer than any two


def test_small_graphs_and_components_have_positions():
    assert np.isfinite(place_nodes(graph_of(3, [(0, 1)]))).all()
    path = place_nodes(from_networkx(networkx.path_graph(2), source=1).graph)
    assert path[1, 0] <= 0  # the source is on the left
    assert np.isfinite(place_nodes(from_networkx(networkx.empty_graph(1)).graph)).all()
    two_paths = networkx.disjoint_union(networkx.path_graph(5), networkx.path_graph(2))
    positions = place_nodes(from_networkx(two_paths, source=4).graph)
    assert positions[4, 0] <= 0
    assert abs(positions).max() < 5
