"""The study of own graphs: its graphs, its independent check, and a run on the smallest of them."""

import csv
import sys

import numpy as np
import own_graphs
from scipy.sparse import csr_array


def test_a_run_on_the_smallest_graphs(monkeypatch, tmp_path):
    out = tmp_path / "own.csv"
    options = ["--models", "relax-dijkstra", "--max-nodes", "10", "--out", str(out)]
    monkeypatch.setattr(sys, "argv", ["own_graphs.py", "measure", *options])
    own_graphs.main()
    rows = list(csv.DictReader(out.open(encoding="utf-8")))
    assert len(rows) == 20  # units × seeds
    assert {row["graph"] for row in rows} == {"Krackhardt kite"}
    assert all(row["worse"] == row["no_path"] == "0" and row["ratio"] == "1" for row in rows)


def test_there_are_enough_graphs_with_valid_weights():
    graphs = [*own_graphs.real_graphs(), *own_graphs.realistic_graphs()]
    assert len({name for name, _ in graphs}) == 16
    for _, graph in graphs:
        assert all(edge.get("weight", 1) > 0 for *_, edge in graph.edges(data=True))


def test_lengths_of_paths():
    matrix = np.array([[0, 2, 5], [2, 0, 1], [5, 1, 0]], float)
    length, arrives = own_graphs.path_lengths(csr_array(matrix), np.array([0, 0, 1]), 0)
    assert length.tolist() == [0, 2, 3]
    assert arrives.all()
    assert not own_graphs.path_lengths(csr_array(matrix), np.array([0, 2, 1]), 0)[1][1:].any()
