"""The study of CLRS-30: its table of scores, training graphs of `discover`, and test sets."""

import clrs30
import clrs30_discover
import numpy as np
import pandas
import pytest

from algotransfer.datasets import CLRS_TASKS


def row(**changed):
    keys = {"target": "prim", "task": "mst_prim", "test": "wide", "num_nodes": 64}
    return {**keys, "num_graphs": 9, "metric": "exact", "seed": 0, "value": 0.5, **changed}


def test_rows_of_another_system_are_added_and_replaced(monkeypatch, tmp_path):
    monkeypatch.setattr(clrs30, "SCORES", tmp_path / "scores.csv")
    clrs30.add_scores("mine", [row(), row(seed=1)])
    clrs30.add_scores("other", [row()])
    clrs30.add_scores("mine", [row(value=0.75)])
    table = pandas.read_csv(clrs30.SCORES)
    assert list(table) == clrs30.COLUMNS
    assert len(table) == 3
    mine = table[table["system"] == "mine"]
    assert dict(zip(mine["seed"], mine["value"], strict=True)) == {0: 0.75, 1: 0.5}


@pytest.mark.parametrize("options", [["--folder", "none"], ["--task", "bfs", "--target", "prim"]])
def test_nothing_scored_is_an_error(options, monkeypatch):
    monkeypatch.setattr("sys.argv", ["clrs30.py", "score", "--model", "relax", *options])
    with pytest.raises(SystemExit, match=r"nothing was scored in \S+; train the networks first"):
        clrs30.main()


def test_targets_are_chosen():
    assert [e.target for e in clrs30.experiments("relax", 0, ["dijkstra"])] == ["dijkstra"]
    assert clrs30.system_of(clrs30.experiments("ne++", 10, ["dijkstra"])[0]) == "ne++-extra10"


@pytest.mark.parametrize("task", ["dijkstra", "floyd_warshall"])
def test_every_seed_learns_from_another_fifth_of_the_graphs(task, monkeypatch):
    monkeypatch.setattr(clrs30_discover, "discover", lambda target, graphs: graphs)
    seen = set()
    for seed in (0, 1):
        graphs = clrs30_discover.learn(CLRS_TASKS[task], seed)
        different = {weights.tobytes() for weights in np.asarray(graphs.weights)}
        assert len(different) == 200
        assert len(graphs) == (200 if task == "dijkstra" else 200 * 16)
        assert not different & seen
        seen |= different


@pytest.mark.parametrize(
    ("model", "target", "task", "sizes"),
    [
        ("ne++", "bellman_ford", "floyd_warshall", [64]),
        ("ne", "dijkstra", "dijkstra", [64]),
        ("relax", "dijkstra", "dijkstra", [64, 256, 1024]),
        ("ne", "minimax_par", "mst_kruskal", []),
    ],
)
def test_wide_sets_of_a_network(model, target, task, sizes, monkeypatch):
    monkeypatch.setattr(
        clrs30, "make_test_sets", lambda preset, task: dict.fromkeys([64, 256, 1024])
    )
    (experiment,) = clrs30.experiments(model, 0, [target])
    assert list(clrs30.wide_sets(experiment, task)) == sizes
