"""The study of CLRS-30: its table of scores."""

import clrs30
import pandas


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


def test_targets_are_chosen():
    assert [e.target for e in clrs30.experiments("relax", 0, ["dijkstra"])] == ["dijkstra"]
    assert clrs30.system_of(clrs30.experiments("ne++", 10, ["dijkstra"])[0]) == "ne++-extra10"
