"""Trained networks as PyTorch modules: for real in its environment, the errors here."""

import sys

import pytest

from algotransfer import to_torch
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


def test_other_networks_are_refused():
    with pytest.raises(UserError, match="the network is 'relax' .*; to_torch converts 'ne' and"):
        to_torch("relax-dijkstra")


def test_without_torch_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)  # as if it were not installed
    monkeypatch.delitem(sys.modules, "algotransfer.bridges.torch_modules", raising=False)
    with pytest.raises(ImportError, match=r"to_torch needs PyTorch .*`pip install torch`"):
        to_torch("ne++-dijkstra-tf")
