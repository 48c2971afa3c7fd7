"""Estimates: unknown without measurements, scaled from finished runs with them."""

import json

import pytest

from algotransfer.experiment import Experiment, fingerprint
from algotransfer.reproduce.estimates import Estimates

TENTH, ALL = ({"graph": ["er"], "num_graphs": count} for count in (100, 1000))
OURS = Experiment(target="bfs").to_json()


def test_nothing_is_known_without_measurements():
    estimates = Estimates()
    assert estimates.compilation() is None
    assert estimates.evaluation(ALL) is None
    assert estimates.training(Experiment(target="bfs"), ALL) is None


def test_training_scales_with_graphs_and_remaining_epochs():
    estimates = Estimates()
    slices = [
        {"epochs": [1, 20], "seconds": {"compile": 4.0, "training": 40.0}},
        {"epochs": [21, 50], "seconds": {"compile": 6.0, "training": 60.0}},
        {"seconds": {"evaluation": 3.0}},
    ]
    estimates.add_run({"experiment": OURS, "data": {"train": ALL}}, slices)
    experiment = Experiment(target="bfs")
    assert estimates.compilation() == 5.0
    assert estimates.evaluation(ALL) == 3.0
    assert estimates.training(experiment, ALL) == pytest.approx(5 + 100)
    assert estimates.training(experiment, ALL, epochs=40) == pytest.approx(5 + 20)
    assert estimates.training(experiment, TENTH) == pytest.approx(5 + 10)
    assert estimates.training(Experiment(target="dijkstra"), ALL) is None


def test_own_graphs_are_counted_and_sizes_are_not_mixed():
    own = {"graph": ["own", "other"], "num_graphs": [300, 700], "num_nodes": 20}
    slices = [{"epochs": [1, 10], "seconds": {"compile": 5.0, "training": 100.0}}]
    estimates = Estimates()
    estimates.add_run({"experiment": OURS, "data": {"train": ALL | {"num_nodes": 20}}}, slices)
    assert estimates.training(Experiment(target="bfs"), own) == pytest.approx(5 + 100)
    assert estimates.training(Experiment(target="bfs"), own | {"num_nodes": 50}) is None
    assert estimates.evaluation(own) is None
    estimates.add_run({"experiment": OURS, "data": {"train": own | {"num_nodes": 50}}}, slices)
    assert estimates.training(Experiment(target="bfs"), own | {"num_nodes": 50}) == 5 + 100


@pytest.mark.parametrize(
    ("change", "data"),
    [
        ({"target": "knitting"}, {"graph": ["er"], "num_graphs": 100}),
        ({"method": "osmosis"}, {"graph": ["er"], "num_graphs": 100}),
        ({"speed": "high"}, {"graph": ["er"], "num_graphs": 100}),
    ],
)
def test_runs_with_user_definitions_are_ignored(tmp_path, change, data):
    config = {"experiment": {**OURS, **change}, "seeds": [0], "data": {"train": data}}
    run = tmp_path / "own" / fingerprint(config)
    run.mkdir(parents=True)
    (run / "config.json").write_text(json.dumps(config))
    (run / "weights.npz").touch()
    seconds = {"compile": 9.0, "evaluation": 9.0, "training": 9.0}
    entry = {"device": {"platform": "cpu"}, "seconds": seconds, "epochs": [1, 9]}
    content = {"slices": [entry]}
    content_with_sum = {**content, "sha256": fingerprint(content)}
    (run / "environment.json").write_text(json.dumps(content_with_sum))
    assert Estimates.read(tmp_path, "cpu") == Estimates()
