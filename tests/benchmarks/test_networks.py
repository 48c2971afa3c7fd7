"""The comparison of our networks in training, with epochs that only count."""

import json
import sys

import train_networks

from algotransfer.networks.registry import MODELS


def test_networks_take_turns(monkeypatch, tmp_path, capsys):
    turns = []

    def prepare(experiment, seeds, training, validation):
        assert (experiment.supervision, seeds, len(training)) == ("na", 1, 90)
        assert len(validation) == 12  # a tenth, and one of each family
        return lambda: turns.append((experiment.target, experiment.model)), 0

    monkeypatch.setattr(train_networks, "prepare_epoch", prepare)
    out = tmp_path / "networks.json"
    options = ["--repeats", "2", "--graphs", "30", "--out", str(out)]
    monkeypatch.setattr(sys, "argv", ["train_networks.py", *options])
    train_networks.main()
    warmed_and_timed = [
        (target, model) for target in train_networks.TARGETS for model in (*MODELS,) * 3
    ]
    assert turns == warmed_and_timed
    rows = json.loads(out.read_text())["rows"]
    assert [row["target"] for row in rows] == list(train_networks.TARGETS)
    assert all(list(row["graphs_per_second"]) == list(MODELS) for row in rows)
    assert "relax is" in capsys.readouterr().out


def test_graphs_that_fill_no_batch_are_not_counted(monkeypatch):
    monkeypatch.setattr(train_networks, "prepare_epoch", lambda *_: (lambda: None, 0))
    data = train_networks.Preset(train=50, validation=1, test=1)
    assert train_networks.contestant("relax", "dijkstra", data).graphs == 128
