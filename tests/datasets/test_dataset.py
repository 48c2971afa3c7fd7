"""Datasets in memory, and the presets."""

import numpy as np
import pytest

from algotransfer.algorithms import run
from algotransfer.algorithms.definitions import bfs
from algotransfer.datasets import Preset, make_dataset, make_splits
from algotransfer.graphs import sample_graphs
from algotransfer.registry import check_name


def leaves(graphs):
    return graphs.senders, graphs.receivers, graphs.weights, graphs.source


def test_a_mixed_dataset_is_its_families_one_after_the_other():
    dataset = make_dataset(("grid", "er"), num_graphs=5, num_nodes=8, seed=3)
    assert len(dataset) == 10
    assert dataset.num_nodes == 8
    assert dataset.families == ("grid", "er")
    assert dataset.family.tolist() == ["grid"] * 5 + ["er"] * 5
    alone = sample_graphs("er", 5, 8, seed=3)
    width = alone.senders.shape[1]
    for mixed, single in zip(leaves(dataset.graphs[5:]), leaves(alone), strict=True):
        np.testing.assert_array_equal(mixed[:, :width] if mixed.ndim > 1 else mixed, single)


def test_mixed_sizes_are_padded_with_isolated_nodes():
    dataset = make_dataset(("er", "grid"), num_graphs=26, num_nodes=20, min_nodes=8)
    assert dataset.num_nodes == 20
    assert dataset.arguments["min_nodes"] == 8
    length = np.asarray(dataset.trace("dijkstra").length)  # nodes that the source reaches
    grids = set(length[dataset.family == "grid"].tolist())
    assert grids == {8, 9, 10, 12, 14, 15, 16, 18, 20}
    assert length[:26].tolist() != sorted([20] * 26)
    for graph, size in zip(dataset.graphs[:26], np.repeat(range(8, 21), 2), strict=True):
        assert np.asarray(graph.senders)[graph.senders < 20].max() < size
    last = sample_graphs("er", 2, 20)
    np.testing.assert_array_equal(dataset.graphs.source[24:26], last.source)


@pytest.mark.parametrize(
    ("family", "num_nodes", "min_nodes", "said"),
    [("er", 8, 9, "min_nodes is 9"), ("er", 8, 1, "min_nodes is 1"), ("grid", 7, 7, "product")],
)
def test_impossible_sizes_are_refused(family, num_nodes, min_nodes, said):
    with pytest.raises(ValueError, match=said):
        make_dataset(family, 4, num_nodes, min_nodes=min_nodes)


def test_arguments_say_what_determines_the_data():
    dataset = make_dataset("ba", num_graphs=2, num_nodes=8, seed=1, split="test", attachments=2)
    assert dataset.arguments == {
        "graph": ["ba"],
        "num_graphs": 2,
        "num_nodes": 8,
        "seed": 1,
        "split": "test",
        "attachments": 2,
        "shape": None,
    }
    assert dataset.graphs.num_edges().tolist() == [12, 12]
    assert repr(dataset) == "<Dataset of 2 graphs (ba) with 8 nodes>"


def test_traces_are_computed_once_and_kept_until_forgotten():
    dataset = make_dataset("er", num_graphs=3, num_nodes=6)
    assert dataset.algorithms == ()
    trace = dataset.trace("bfs")
    assert dataset.trace(bfs) is trace
    assert dataset.algorithms == ("bfs",)
    np.testing.assert_array_equal(trace.key, run("bfs", dataset.graphs).key)
    dataset.forget()
    assert dataset.algorithms == ()
    assert dataset.trace("bfs") is not trace


def test_families_must_be_named_once():
    for wrong in [(), ("er", "er")]:
        with pytest.raises(ValueError, match="name one or more families, each of them once"):
            make_dataset(wrong)


def test_unknown_names_get_the_nearest_match():
    with pytest.raises(ValueError, match=r"'gird' \(did you mean 'grid'\?\); choose one of er"):
        make_dataset("gird")
    with pytest.raises(ValueError, match=r"'papr' \(did you mean 'paper'\?\); choose one of paper"):
        make_splits("papr")
    with pytest.raises(ValueError, match=r"^unknown fruit 'zzz'; choose one of apple, pear$"):
        check_name("fruit", "zzz", ["apple", "pear"])


def test_the_paper_s_splits():
    splits = make_splits("paper", seed=0)
    sizes = {name: (len(dataset), dataset.num_nodes) for name, dataset in splits}
    assert sizes == {
        "train": (15_000, 20),
        "validation": (1500, 20),
        "test_20": (1500, 20),
        "test_50": (1500, 50),
        "test_100": (1500, 100),
    }
    for _, dataset in splits:
        families, counts = np.unique(dataset.family, return_counts=True)
        assert families.tolist() == ["ba", "er", "grid"]
        assert len(set(counts.tolist())) == 1
    assert splits.test[50].arguments["split"] == "test"


def test_splits_share_no_random_numbers():
    splits = make_splits(Preset(train=40, validation=40, test=40, num_nodes=20, test_sizes=(20,)))
    seen = set()
    for _, dataset in splits:
        graphs = dataset.graphs
        weights = set(np.asarray(graphs.weights)[np.asarray(graphs.edge_mask())].tolist())
        # Of some 10,000 draws out of 2²³ numbers a few coincide by chance.
        assert len(weights & seen) < 0.01 * len(weights)
        seen |= weights


def test_another_seed_gives_other_graphs():
    first, same, other = (make_dataset("er", 4, 8, seed=seed) for seed in (0, 0, 1))
    for a, b in zip(leaves(first.graphs), leaves(same.graphs), strict=True):
        np.testing.assert_array_equal(a, b)
    assert not np.array_equal(first.graphs.weights[0][:4], other.graphs.weights[0][:4])
