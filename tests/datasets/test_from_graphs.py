"""Datasets of people's own graphs."""

import dataclasses

import networkx
import numpy as np
import pandas
import pytest
import scipy.sparse

from algotransfer import evaluate, execute, to_networkx
from algotransfer.array_files import load_arrays, save_arrays
from algotransfer.datasets import (
    from_graphs,
    graph_statistics,
    load_dataset,
    save_dataset,
    split_dataset,
)
from algotransfer.errors import UserError
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


def test_names_are_kept_in_datasets_and_files(tmp_path):
    towns = networkx.relabel_nodes(networkx.path_graph(3), {0: "Bern", 1: "Chur", 2: "Basel"})
    dataset = from_graphs([towns, networkx.path_graph(3)])
    assert dataset.named_graph(0).names == ("Bern", "Chur", "Basel")
    assert dataset.named_graph(1).names == (0, 1, 2)
    assert dataset.named_graph(0).graph.num_edges() == 2
    with pytest.raises(UserError, match="there is no graph 2; expected 0…1"):
        dataset.named_graph(2)
    save_dataset(dataset, tmp_path / "own.npz", "dijkstra")
    again = load_dataset(tmp_path / "own.npz")
    assert again.named_graph(0).names == ("Bern", "Chur", "Basel")
    assert again.named_graph(1).names == ("0", "1", "2")
    assert from_graphs([networkx.path_graph(3)]).names is None


TOWNS = networkx.relabel_nodes(networkx.path_graph(3), {0: "Bern", 1: "Chur", 2: "Basel"})


def test_smaller_graphs_are_padded_with_isolated_nodes(tmp_path):
    ring, batch = from_networkx(networkx.cycle_graph(5), source=4), sample_graphs("er", 2, 4)
    dataset = from_graphs([TOWNS, ring, batch])
    assert (dataset.num_nodes, dataset.sizes.tolist()) == (5, [3, 5, 4, 4])
    assert repr(dataset) == "<Dataset of 4 graphs (own) with 3 to 5 nodes>"
    assert dataset.trace("dijkstra").length.tolist()[:2] == [3, 5]
    assert np.isinf(dataset.trace("dijkstra").final_key[0, 3:]).all()
    save_dataset(dataset, tmp_path / "own.npz", "dijkstra")
    again = load_dataset(tmp_path / "own.npz")
    part = split_dataset(dataset, 0.25).train
    assert sorted(part.sizes) in ([3, 4, 4], [3, 4, 5], [4, 4, 5])
    assert again.arguments == dataset.arguments
    for each in (dataset, again):
        graph, names = each.named_graph(0)
        assert (graph.num_nodes, names) == (3, ("Bern", "Chur", "Basel"))
        assert to_networkx(graph, names).edges == TOWNS.edges
        assert [*map(str, each.named_graph(3).names)] == ["0", "1", "2", "3"]
        assert each.named_graph(1).graph.source == 4
    answer = execute("relax-dijkstra", dataset.named_graph(0))
    assert answer.names == ("Bern", "Chur", "Basel")
    assert (answer.pred.tolist(), answer.wrong.sum()) == ([0, 0, 1], 0)


def test_padding_changes_no_metric_of_reached_nodes():
    small = sample_graphs("grid", 6, 8, split="test")
    alone, padded = from_graphs([small]), from_graphs([small, networkx.path_graph(11)])
    frames = [evaluate("relax-dijkstra", [d]) for d in (alone, padded.part(np.arange(6)))]
    assert frames[1]["num_nodes"].unique().tolist() == [11]
    all_nodes = "metric == 'micro_f1' or row == 'random_neighbour'"
    frames = [f.query(f"not ({all_nodes})").drop(columns="num_nodes") for f in frames]
    frames = [f.reset_index(drop=True) for f in frames]
    pandas.testing.assert_frame_equal(*frames, rtol=1e-4)
    (row,) = graph_statistics(padded.part(np.arange(6)))
    assert row._replace(nodes=8) == graph_statistics(alone)[0]


def test_padding_nodes_are_isolated(tmp_path):
    dataset = from_graphs([TOWNS, networkx.path_graph(4)])
    for names in ([["a", "b"], range(4)], [["a", "b", "c"], range(2)]):
        with pytest.raises(UserError, match="got 2 names for 4 nodes of graph"):
            dataclasses.replace(dataset, names=names)
    with pytest.raises(UserError, match="got 5 names for 4 nodes"):
        dataclasses.replace(dataset, names=[range(5), range(4)])
    unnamed = networkx.relabel_nodes(TOWNS, {"Bern": ""})
    with pytest.raises(UserError, match="a node has an empty name"):
        save_dataset(from_graphs([unnamed]), tmp_path / "own.npz", "dijkstra")


def test_names_in_a_file_are_checked(tmp_path):
    towns = networkx.relabel_nodes(networkx.path_graph(3), dict(enumerate("abc")))
    save_dataset(from_graphs([towns]), tmp_path / "own.npz", "dijkstra")
    arrays, card = load_arrays(tmp_path / "own.npz")
    del card["sha256"]
    for wrong, said in [
        (np.array([["a", "b", "b"]]), "2 different"),
        (np.array([["a", "b"]]), r"expected text \[1, 3\]"),
        (np.array([[1, 2, 3]]), r"expected text \[1, 3\]"),
    ]:
        save_arrays(tmp_path / "bad.npz", {**arrays, "node_names": wrong}, card)
        with pytest.raises(UserError, match=said):
            load_dataset(tmp_path / "bad.npz")
    with pytest.raises(UserError, match="2 different"):
        save_dataset(
            from_graphs([networkx.relabel_nodes(towns, {"a": 1, "b": "1"})]),
            tmp_path / "equal.npz",
            "dijkstra",
        )


def test_a_dataset_is_divided_with_its_names_and_traces():
    graphs = [networkx.relabel_nodes(networkx.path_graph(4), {0: f"start {k}"}) for k in range(10)]
    dataset = from_graphs(graphs, family=["a"] * 5 + ["b"] * 5)
    dataset.trace("dijkstra")
    splits = split_dataset(dataset, validation_share=0.3, seed=1)
    assert (len(splits.train), len(splits.validation)) == (7, 3)
    starts = [part.named_graph(k).names[0] for _, part in splits for k in range(len(part))]
    assert sorted(starts) == [f"start {k}" for k in range(10)]
    assert splits.train.algorithms == ("dijkstra",)
    assert splits.train.trace("dijkstra").length.tolist() == [4] * 7
    assert splits.train.arguments["part_of"] == dataset.arguments
    same, other = (split_dataset(dataset, 0.3, seed=seed) for seed in (1, 2))
    assert same.train.arguments == splits.train.arguments
    assert [*other.train.names] != [*splits.train.names]
    for share in (0, 1, -1, 0.99, float("nan")):
        with pytest.raises(UserError, match="leaves at least one graph for training"):
            split_dataset(dataset, share)
