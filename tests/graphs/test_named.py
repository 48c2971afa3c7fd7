"""People's own edges: what is accepted, and what is said about the rest."""

import numpy as np
import pytest

from algotransfer.graphs.named import (
    check_attributes,
    check_names,
    check_num_nodes,
    named_graph,
    unique_edges,
)


def make(edges, names="abcd", **options):
    """`edges` as (tail, head, weight) with nodes by their index."""
    table = np.array(edges, float).reshape(-1, 3)
    return named_graph(list(names), table[:, :2].astype(int).T, table[:, 2], **options)


def test_edges_and_names():
    graph, names = make([(2, 0, 0.5), (1, 2, 0.25)])
    assert names == ("a", "b", "c", "d")
    assert graph.batch_shape == ()
    assert graph.num_nodes == 4
    assert graph.senders.tolist() == [0, 1, 2, 2]
    assert graph.receivers.tolist() == [2, 2, 0, 1]
    assert graph.weights.tolist() == [0.5, 0.25, 0.5, 0.25]
    assert graph.source == 0


def test_one_node():
    graph, names = make([], names="a")
    assert names == ("a",)
    assert graph.num_nodes == 1
    assert graph.num_edges() == 0
    assert graph.weight_matrix().tolist() == [[0]]


def test_equal_listings_are_one_edge():
    graph, _ = make([(0, 1, 0.5), (1, 0, 0.5), (0, 1, 0.5)])
    assert graph.num_edges() == 1


@pytest.mark.parametrize(("source", "index"), [(None, 0), ("c", 2), (3, 3), (np.int64(1), 1)])
def test_source(source, index):
    graph, _ = make([], source=source)
    assert graph.source == index


def test_a_name_comes_before_an_index():
    graph, _ = named_graph([10, 11, 0], np.zeros((2, 0), int), np.zeros(0), source=0)
    assert graph.source == 2


@pytest.mark.parametrize("names", [(10, 30, 20), ("10", "30", "20")])
def test_no_index_among_names_that_are_numbers(names):
    graph, _ = make([], names=names, source=20)
    assert graph.source == 2
    with pytest.raises(ValueError, match=r"no node is named 1.*; choose one of '?10'?, "):
        make([], names=names, source=1)
    with pytest.raises(ValueError, match=r"no node is named 'x'; choose one of '?10'?, .*20'?$"):
        make([], names=names, source="x")


def test_unknown_source():
    with pytest.raises(ValueError, match=r"no node is named 'e'; choose one of 'a', 'b', 'c', 'd'"):
        make([], source="e")
    with pytest.raises(ValueError, match=r"no node is named 'Bran' \(did you mean 'Bern'\?\)"):
        make([], names=["Bern", "Basel"], source="Bran")
    with pytest.raises(ValueError, match=r"'a', 'b', 'c', 'd', 'e', …, or an index in 0…5"):
        make([], names="abcdef", source="x")
    for source in (4, -1):
        with pytest.raises(ValueError, match=rf"no node is named {source}; .* or an index in 0…3"):
            make([], source=source)


def test_self_loop():
    with pytest.raises(ValueError, match="node 'b' has an edge to itself; remove self-loops"):
        make([(0, 1, 1), (1, 1, 1)])


@pytest.mark.parametrize("second", [(1, 0), (0, 1)])
def test_two_weights(second):
    message = r"between '[ab]' and '[ab]' is listed with two weights, 0\.5 and 0\.75; .*undirected"
    with pytest.raises(ValueError, match=message):
        make([(0, 1, 0.5), (2, 3, 1), (*second, 0.75)])


def test_two_weights_of_a_directed_edge():
    with pytest.raises(ValueError, match=r"from 'a' to 'b' is listed with two weights, 0\.5 and 1"):
        make([(0, 1, 0.5), (2, 3, 1), (0, 1, 1)], directed=True)


def test_directed_edges():
    both = [(0, 1, 0.5), (1, 0, 0.5), (3, 2, 1), (2, 3, 1)]
    graph, _ = make(both, directed=True)
    assert not graph.directed
    assert graph.num_edges() == 2
    graph, _ = make(both[:3], directed=True)
    assert graph.directed
    assert list(unique_edges(graph)) == [(0, 1, 0.5), (1, 0, 0.5), (3, 2, 1)]
    graph, _ = make([both[0], both[0]], directed=True)
    assert list(unique_edges(graph)) == [(0, 1, 0.5)]


@pytest.mark.parametrize("weight", [np.nan, np.inf, -np.inf, 1e39, 1e-50])
def test_weights_that_float32_cannot_hold(weight):
    message = r"between 'b' and 'c' has weight .*; expected a number that float32 can hold"
    with pytest.raises(ValueError, match=message):
        make([(0, 1, 1), (1, 2, weight)])


@pytest.mark.parametrize("weight", [0, -1, 1e38, 1e-40])
def test_weights_that_some_algorithm_can_take(weight):
    graph, _ = make([(0, 1, weight)])
    assert graph.weights[0] == np.float32(weight)


def test_number_of_nodes():
    check_num_nodes(10**6)
    with pytest.raises(ValueError, match="the graph has 1,000,001 nodes; at most 1,000,000 are"):
        check_num_nodes(10**6 + 1)
    with pytest.raises(ValueError, match="the graph has no nodes; it needs at least one"):
        make([], names="")


def test_names_and_attributes():
    assert list(check_names(None, 3)) == [0, 1, 2]
    assert check_attributes(None, 3) == {}
    with pytest.raises(ValueError, match="got 2 different names for 3 nodes; expected"):
        check_names("aba", 3)
    with pytest.raises(ValueError, match="got 2 names"):
        check_names("ab", 3)
    with pytest.raises(ValueError, match=r"node attribute 'key' has shape \(2,\); expected one"):
        check_attributes({"key": [1, 2]}, 3)
