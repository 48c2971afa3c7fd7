"""Algorithms on directed graphs: engines against scipy, and what needs symmetry or no cycle."""

import numpy as np
import pytest
from scipy.sparse.csgraph import shortest_path

from algotransfer import run
from algotransfer.graphs import Graph, concatenate, from_edges, sample_graphs

NUM_NODES = 9


def directed_graphs(seed: int, acyclic: bool = False) -> Graph:
    """A batch of directed graphs, from sparse to dense."""
    rng = np.random.default_rng(seed)
    adjacency = rng.random((6, NUM_NODES, NUM_NODES)) < np.linspace(0.1, 0.8, 6)[:, None, None]
    adjacency &= ~np.eye(NUM_NODES, dtype=bool)
    graph_id, *ends = np.nonzero(np.triu(adjacency) if acyclic else adjacency)
    weights = rng.uniform(0.2, 1.0, len(graph_id))
    return from_edges(
        NUM_NODES,
        6,
        graph_id,
        np.stack(ends),
        weights,
        rng.integers(0, NUM_NODES, 6),
        directed=True,
    )


@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize("algorithm", ["bellman_ford", "dijkstra"])
def test_distances_are_those_of_scipy(algorithm, layout):
    graphs = directed_graphs(0)
    key = np.asarray(run(algorithm, graphs, layout=layout).final_key)
    pred = np.asarray(run(algorithm, graphs, layout=layout).final_pred)
    for g in range(len(graphs)):
        weights, source = np.asarray(graphs[g].weight_matrix(), float), int(graphs.source[g])
        np.testing.assert_allclose(key[g], shortest_path(weights, indices=source), rtol=1e-6)
        others = (pred[g] >= 0) & (np.arange(NUM_NODES) != source)
        assert (weights[pred[g][others], np.flatnonzero(others)] > 0).all()


@pytest.mark.parametrize("algorithm", ["bfs", "widest_par", "reliable_seq", "dfs"])
def test_layouts_agree_to_the_last_bit(algorithm):
    graphs = directed_graphs(1)
    dense, sparse = (run(algorithm, graphs, layout=layout) for layout in ("dense", "sparse"))
    for leaf in ("key", "pred", "length"):
        np.testing.assert_array_equal(getattr(dense, leaf), getattr(sparse, leaf))


def test_undirected_graphs_as_directed_ones_give_the_same_traces():
    graphs = sample_graphs("er", 4, NUM_NODES)
    # A batch with a directed graph is directed.
    mixed = concatenate([graphs, directed_graphs(2)])
    assert mixed.directed
    np.testing.assert_array_equal(
        run("bellman_ford", mixed).pred[:4], run("bellman_ford", graphs).pred
    )


def test_reversed_twice_is_the_same_graph():
    graphs = directed_graphs(3)
    backwards = graphs.reverse()
    np.testing.assert_array_equal(backwards.weight_matrix(), graphs.weight_matrix().mT)
    np.testing.assert_array_equal(backwards.reverse().receivers, graphs.receivers)
    undirected = sample_graphs("er", 1, 5)
    assert undirected.reverse() is undirected


def test_algorithms_that_need_symmetry():
    with pytest.raises(ValueError, match="prim needs undirected graphs, but these are directed"):
        run("prim", directed_graphs(0))


def test_shortest_paths_in_acyclic_graphs():
    graphs = directed_graphs(4, acyclic=True)
    ours, other = (
        run(name, graphs, record="final") for name in ("dag_shortest_paths", "bellman_ford")
    )
    np.testing.assert_array_equal(ours.final_pred, other.final_pred)


def test_cycles_are_named():
    graphs = concatenate([directed_graphs(4, acyclic=True), directed_graphs(0)[5]])
    with pytest.raises(ValueError, match="without cycles, but graph 6 has one; remove it"):
        run("dag_shortest_paths", graphs)
    with pytest.raises(ValueError, match="but the graph has one;"):
        run("dag_shortest_paths", graphs[6])
    with pytest.raises(ValueError, match="graph 0 is undirected, .*preset clrs30"):
        run("dag_shortest_paths", sample_graphs("er", 1, 5))
