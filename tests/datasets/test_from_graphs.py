"""Datasets of people's own graphs."""

import networkx
import numpy as np
import pytest
import scipy.sparse

from algotransfer.datasets import from_graphs, load_dataset, save_dataset
from algotransfer.graphs import Graph, from_networkx, sample_graphs, write_graph


def test_graphs_of_every_kind(tmp_path):
    sampled = sample_graphs("er", 2, 4)
    write_graph(tmp_path / "path.csv", from_networkx(networkx.path_graph(4)).graph)
    dataset = from_graphs(
        [
            sampled,
            sampled[0],
            networkx.path_graph(4),
            from_networkx(networkx.star_graph(3), source=2),
            scipy.sparse.csr_array(1 - np.eye(4)),
            tmp_path / "path.csv",
        ],
        family=["er", "er", "line", "star", "full", "line"],
    )
    assert dataset.family.tolist() == ["er", "er", "er", "line", "star", "full", "line"]
    assert dataset.graphs.num_edges().tolist()[3:] == [3, 3, 6, 3]
    assert dataset.graphs.source.tolist()[3:] == [0, 2, 0, 0]
    assert dataset.trace("bfs").length.tolist()[3:] == [4, 3, 2, 4]
    # Graphs 3 and 6 are the same path, one from a file.
    np.testing.assert_array_equal(dataset.graphs[3].senders, dataset.graphs[6].senders)


def test_a_file_keeps_them(tmp_path):
    graphs = [networkx.cycle_graph(5), networkx.complete_graph(5), networkx.path_graph(5)]
    dataset = from_graphs(graphs, family=["a", "b", "b"])
    save_dataset(dataset, tmp_path / "own.npz", "dijkstra")
    again = load_dataset(tmp_path / "own.npz")
    assert again.arguments == dataset.arguments
    assert again.family.tolist() == ["a", "b", "b"]


def test_content_names_the_dataset():
    first, same, other = (
        from_graphs([networkx.path_graph(3)]),
        from_graphs([from_networkx(networkx.path_graph(3))]),
        from_graphs([from_networkx(networkx.path_graph(3), source=1)]),
    )
    assert first.arguments == same.arguments
    assert first.arguments != other.arguments


def test_one_node():
    dataset = from_graphs([networkx.empty_graph(1)])
    assert dataset.trace("dijkstra").length.tolist() == [1]


def test_mistakes():
    with pytest.raises(ValueError, match="graphs is empty; expected at least one graph"):
        from_graphs([])
    with pytest.raises(ValueError, match=r"the graphs have 3, 4 nodes"):
        from_graphs([networkx.path_graph(3), networkx.path_graph(4)])
    with pytest.raises(ValueError, match="got 2 families for 1 graphs; give one per graph"):
        from_graphs([networkx.path_graph(3)], family=["a", "b"])
    one = networkx.path_graph(3)
    for alone in (one, from_networkx(one), networkx.to_scipy_sparse_array(one), "path.csv"):
        with pytest.raises(ValueError, match=r"; expected a list of graphs, such as \[graph\]"):
            from_graphs(alone)


def graph(senders, receivers, weights, source=0):
    return Graph(
        senders=np.array(senders, np.int32),
        receivers=np.array(receivers, np.int32),
        weights=np.array(weights, np.float32),
        source=np.array(source, np.int32),
        num_nodes=3,
    )


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (graph([0, 1], [1, 0], [0.5, 0.6]), "in both directions with equal weights"),
        (graph([0], [1], [0.5]), "in both directions with equal weights"),
        (graph([1, 0], [0, 1], [0.5, 0.5]), "must be sorted"),
        (graph([0, 0, 1, 1], [1, 1, 0, 0], [0.5] * 4), "listed twice"),
        (graph([1], [1], [0.5]), "joins a node to itself"),
        (graph([0, 1], [1, 0], [np.nan, np.nan]), "an edge weight is not finite"),
        (graph([0, 2], [4, 0], [0.5, 0.5]), r"edge_index has values in .*; expected 0…2"),
        (graph([0, 1], [1, 0], [0.5, 0.5], source=3), r"source has values in 3…3; expected 0…2"),
    ],
)
def test_graphs_built_by_hand_are_checked(wrong, message):
    with pytest.raises(ValueError, match=message):
        from_graphs([wrong])
