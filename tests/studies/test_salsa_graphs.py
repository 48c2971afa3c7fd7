"""The study of SALSA-CLRS' families: a run on small graphs, and its committed numbers."""

import sys
from pathlib import Path

import numpy as np
import pandas
import pytest
import salsa_graphs

from algotransfer import make_dataset
from algotransfer.algorithms import run

COMMITTED = Path(__file__).parents[2] / "results" / "salsa-graphs.csv"


def test_a_run_on_small_graphs(monkeypatch, tmp_path):
    out = tmp_path / "salsa.csv"
    options = ["--num-nodes", "12", "--num-graphs", "3", "--out", str(out)]
    monkeypatch.setattr(sys, "argv", ["salsa_graphs.py", *options])
    salsa_graphs.main()
    table = pandas.read_csv(out)
    assert list(table) == list(pandas.read_csv(COMMITTED, nrows=1))
    assert len(table) == 2 * 2 * 5 * 2 * 2  # network, task, seed, family, metric
    assert (table["value"] == 1).all()


def test_unit_weights_give_breadth_first_trees():
    weighted = make_dataset("delaunay", 4, 30, split="validation")
    graphs = salsa_graphs.unit_weights(weighted).graphs
    np.testing.assert_array_equal(graphs.senders, weighted.graphs.senders)
    hops = np.asarray(run("bellman_ford", graphs).final_key)
    assert (hops == np.round(hops)).all()
    assert hops.max() < weighted.num_nodes


def test_committed_numbers_are_those_of_the_protocol():
    table = pandas.read_csv(COMMITTED)
    cases = table.groupby(["system", "training", "task", "family", "num_nodes", "metric"])
    assert (cases["seed"].nunique() == 5).all()
    assert len(cases) == 2 * 2 * 2 * 3 * 2
    assert (table["num_graphs"] == 50).all()
    assert table["value"].to_numpy() == pytest.approx(table["value"].clip(0, 1).to_numpy())
