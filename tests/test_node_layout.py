"""Grids are drawn as grids, and every graph in the same way each time."""

import numpy as np
import pytest

from algotransfer.explorer.node_layout import grid_places, place_nodes
from algotransfer.graphs import from_edges, sample_graphs


def edges_of(graph):
    once = np.asarray(graph.senders) < np.asarray(graph.receivers)
    return np.asarray(graph.senders)[once], np.asarray(graph.receivers)[once]


@pytest.mark.parametrize(("nodes", "shape"), [(4, None), (20, None), (49, None), (500, "square")])
def test_every_edge_of_a_grid_has_length_one(nodes, shape):
    for graph in sample_graphs("grid", 5, nodes, seed=3, shape=shape):
        places = place_nodes(graph)
        first, second = edges_of(graph)
        steps = np.abs(places[first] - places[second])
        assert (steps.sum(axis=1) == 1).all()
        assert len({tuple(place) for place in places.tolist()}) == nodes
        width, height = np.ptp(places, axis=0)
        assert width >= height
        assert (places[int(graph.source)] <= 0).all()  # it begins in the upper left quarter


def graph_of(num_nodes, pairs):
    ends = np.array(pairs).T
    zeros = np.zeros(len(pairs), int)
    return from_edges(num_nodes, 1, zeros, ends, np.ones(len(pairs)), np.array([0]))[0]


def test_what_is_no_grid_is_not_drawn_as_one():
    ladder = [(0, 1), (1, 2), (3, 4), (4, 5), (0, 3), (1, 4), (2, 5)]
    assert grid_places(graph_of(6, ladder)) is not None
    assert grid_places(graph_of(6, [*ladder, (0, 4)])) is None
    assert grid_places(graph_of(6, [*ladder[:-1], (2, 3)])) is None
    assert grid_places(graph_of(7, ladder)) is None  # a node apart
    assert grid_places(graph_of(4, [(0, 1), (1, 2), (2, 3)])) is None


@pytest.mark.parametrize(("family", "nodes"), [("er", 20), ("ba", 30), ("er", 130)])
def test_other_graphs_are_spread_out_and_stay_where_they_are(family, nodes):
    graph = sample_graphs(family, 1, nodes, seed=5)[0]
    places = place_nodes(graph)
    assert np.array_equal(places, place_nodes(graph))
    assert np.isfinite(places).all()
    assert len({tuple(place) for place in places.round(6).tolist()}) == nodes
    first, second = edges_of(graph)
    joined = np.linalg.norm(places[first] - places[second], axis=1).mean()
    apart = np.linalg.norm(places[:, None] - places[None], axis=-1).mean()
    assert joined < 0.95 * apart  # neighbours are nearer than any two


def test_a_single_node_and_nodes_without_edges_have_places():
    assert np.isfinite(place_nodes(graph_of(3, [(0, 1)]))).all()
    alone = sample_graphs("er", 1, 2)[0]
    assert np.isfinite(place_nodes(alone)).all()
    lonely = from_edges(1, 1, np.zeros(0, int), np.zeros((2, 0), int), np.zeros(0), np.array([0]))[
        0
    ]
    assert np.isfinite(place_nodes(lonely)).all()
