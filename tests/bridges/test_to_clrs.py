"""Export with dm-clrs' names: against dm-clrs where it is installed, else against its hashes."""

import hashlib
import json
from pathlib import Path

import networkx
import numpy as np
import pytest

from algotransfer import from_graphs, make_dataset, run, to_clrs
from algotransfer.bridges.clrs import from_clrs
from algotransfer.datasets import CLRS_TASKS

HASHES = json.loads(
    (Path(__file__).parents[1] / "datasets" / "clrs30_splits.json").read_text(encoding="utf-8")
)
WITH_HINTS = {"bfs": "bfs", "bellman_ford": "bellman_ford", "dijkstra": "dijkstra"}
WITH_HINTS |= {"mst_prim": "prim"}


def named(points) -> dict[str, np.ndarray]:
    return {point.name: point.data for point in points}


@pytest.mark.parametrize("task", CLRS_TASKS)
def test_official_arrays_are_those_of_dm_clrs(task):
    feedback = to_clrs(task, "validation")
    arrays = named(feedback.features.inputs) | named(feedback.outputs)
    for name, expected in HASHES[f"{task}/val"].items():
        data = np.asarray(arrays[name], "<f8")
        assert hashlib.sha256(data.tobytes()).hexdigest() == expected, name


@pytest.mark.parametrize("task", WITH_HINTS)
def test_a_round_trip_gives_graphs_and_answers_again(task):
    dataset = make_dataset("er", 5, 12, split="test")
    imported = from_clrs(task, to_clrs(task, dataset))
    assert imported.algorithm == WITH_HINTS[task]
    trace = run(imported.algorithm, dataset.graphs)
    np.testing.assert_array_equal(imported.key, trace.final_key)
    np.testing.assert_array_equal(imported.pred, trace.final_pred)
    np.testing.assert_array_equal(imported.graphs.source, dataset.graphs.source)
    if task != "bfs":
        np.testing.assert_array_equal(imported.graphs.weights, dataset.graphs.weights)


def test_hints_end_with_the_algorithm():
    dataset = make_dataset("ba", 4, 9)
    feedback, trace = to_clrs("dijkstra", dataset.graphs), dataset.trace("dijkstra")
    hints = named(feedback.features.hints)
    lengths = feedback.features.lengths.astype(int)
    np.testing.assert_array_equal(lengths, np.asarray(trace.length) + 1)
    assert hints["d"].shape == (lengths.max(), 4, 9)
    assert (hints["u"].sum(-1) == (np.arange(lengths.max())[:, None] < lengths)).all()
    last = {name: data[lengths - 1, np.arange(4)] for name, data in hints.items()}
    np.testing.assert_array_equal(last["pi_h"], named(feedback.outputs)["pi"])
    assert last["mark"].all()
    assert not last["in_queue"].any()


def test_types_of_numbers_are_those_of_dm_clrs():
    integers = {
        "bfs": {"A", "pi"},
        "dijkstra": {"pi"},
        "mst_kruskal": set(),
        "floyd_warshall": set(),
    }
    for task, expected in integers.items():
        for graphs in ("validation", make_dataset("er", 2, 6)):
            feedback = to_clrs(task, graphs)
            points = named((*feedback.features.inputs, *feedback.features.hints, *feedback.outputs))
            types = {name: data.dtype for name, data in points.items()}
            assert {name for name, dtype in types.items() if dtype == np.int64} == expected
            assert set(types.values()) <= {np.dtype(np.int64), np.dtype(np.float64)}


def test_tasks_without_a_source_have_a_matrix_for_each_graph():
    graphs = make_dataset("er", 3, 7).graphs
    for task in ("floyd_warshall", "mst_kruskal"):
        feedback = to_clrs(task, graphs)
        assert [point.name for point in feedback.features.inputs] == ["pos", "A", "adj"]
        assert feedback.outputs[0].data.shape == (3, 7, 7)
        assert feedback.features.hints == ()
    tree = to_clrs("mst_kruskal", make_dataset("ba", 3, 7)).outputs[0].data
    assert (tree.sum((1, 2)) == 2 * (7 - 1)).all()  # connected: n − 1 edges, in both directions


def test_equal_weights_give_one_tree():
    square = [[(0, 1), (1, 2), (2, 3), (0, 3)], [(0, 1), (0, 2), (1, 2), (2, 3)]]
    graphs = from_graphs([networkx.Graph(edges) for edges in square]).graphs
    trees = to_clrs("mst_kruskal", graphs).outputs[0].data
    kept = [[(0, 1), (0, 3), (1, 2)], [(0, 1), (0, 2), (2, 3)]]  # first in the order of the matrix
    for tree, edges in zip(trees, kept, strict=True):
        np.testing.assert_array_equal(
            tree, networkx.to_numpy_array(networkx.Graph(edges), range(4))
        )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("dfs", "test"), "unknown CLRS-30 task 'dfs'"),
        (("bfs", "val"), "unknown split 'val'"),
        (("bfs", make_dataset("er", 1, 5).graphs[0]), r"batch shape \(\); expected a batch"),
        (("dag_shortest_paths", make_dataset("er", 1, 5)), "are undirected; dag_shortest_paths ex"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        to_clrs(*arguments)


EQUAL = """
import clrs, numpy as np
from algotransfer.bridges.to_clrs import HINTS, to_clrs
def compare(ours, theirs, tolerance):
    mine = {point.name: point for point in ours}
    for point in theirs:
        other = mine[point.name]
        assert (other.location, other.type_) == (point.location, point.type_), point.name
        assert other.data.dtype == point.data.dtype, point.name
        np.testing.assert_allclose(other.data, point.data, atol=tolerance, err_msg=point.name)
tasks = ("bfs", "bellman_ford", "dijkstra", "mst_prim", "mst_kruskal", "dag_shortest_paths",
         "floyd_warshall")
for task in tasks:
    for name, split in (("train", "train"), ("val", "validation"), ("test", "test")):
        theirs = clrs.build_sampler(task, **clrs.CLRS30[name])[0].next()
        ours = to_clrs(task, split)
        compare(ours.features.inputs, theirs.features.inputs, 0)
        compare(ours.outputs, theirs.outputs, 0)
        if task in HINTS:
            np.testing.assert_array_equal(ours.features.lengths, theirs.features.lengths)
            compare(ours.features.hints, theirs.features.hints, 2e-6)
    print(task)
"""


def test_everything_equals_live_feedback(in_clrs):
    assert set(in_clrs("-c", EQUAL).split()) == set(CLRS_TASKS)
