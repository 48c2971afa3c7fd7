"""Trained networks as PyTorch modules: for real in its environment, the errors here."""

import sys

import pytest

from algotransfer import make_dataset, to_torch, to_torch_dataset
from algotransfer.errors import UserError

NAMES = [
    "ne-dijkstra-na",
    "ne-bellman_ford-tf",
    "ne-prim-dijkstra-na-multitask",
    "ne++-dijkstra-tf",
    "ne++-prim-dijkstra-na-two_processor",
]


def test_modules_equal_our_networks(in_pyg):
    assert in_pyg("tests/bridges/check_torch.py", *NAMES).split() == NAMES


def test_datasets_hold_graphs_and_traces(in_pyg):
    checked = in_pyg("tests/bridges/check_torch_dataset.py").split()
    assert checked == ["dijkstra", "bellman_ford"]


def test_datasets_without_torch_say_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)  # as if it were not installed
    monkeypatch.delitem(sys.modules, "algotransfer.bridges.torch_datasets", raising=False)
    with pytest.raises(ImportError, match=r"to_torch_dataset needs PyTorch .*`pip install torch`"):
        to_torch_dataset(make_dataset("er", 2, 5), "bfs")


def test_other_networks_are_refused():
    with pytest.raises(UserError, match="the network is 'relax' .*; to_torch converts 'ne' and"):
        to_torch("relax-dijkstra")


def test_without_torch_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)  # as if it were not installed
    monkeypatch.delitem(sys.modules, "algotransfer.bridges.torch_modules", raising=False)
    with pytest.raises(ImportError, match=r"to_torch needs PyTorch .*`pip install torch`"):
        to_torch("ne++-dijkstra-tf")
