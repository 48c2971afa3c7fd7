"""Export to PyTorch Geometric: for real in its environment, the rest here."""

import sys

import pytest

from algotransfer.bridges.pyg import to_pyg
from algotransfer.datasets import make_dataset


def test_export_is_right_and_batches(in_pyg):
    assert in_pyg("tests/bridges/check_pyg.py").split() == ["dijkstra", "bellman_ford", "plain"]


def test_the_page_about_pytorch_can_be_followed(in_pyg):
    assert int(in_pyg("tests/bridges/check_pytorch_page.py")) == 7


def test_without_pyg_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch_geometric.data", None)  # as if it were not installed
    monkeypatch.setitem(sys.modules, "torch", object())
    with pytest.raises(ImportError, match=r"needs .*`pip install '\.\[pyg\]'`"):
        to_pyg(make_dataset("er", 2, 5))


@pytest.mark.parametrize("size", [(3, 5), (2, 6)])
def test_a_trace_of_other_graphs_is_refused(monkeypatch, size):
    monkeypatch.setitem(sys.modules, "torch", object())
    monkeypatch.setitem(sys.modules, "torch_geometric.data", type(sys)("data"))
    sys.modules["torch_geometric.data"].Data = dict
    trace = make_dataset("er", *size).trace("bfs")
    with pytest.raises(
        ValueError, match=rf"shape \({size[0]}, {size[1]}\); expected \(2, 5\), graphs"
    ):
        to_pyg(make_dataset("er", 2, 5), trace)
