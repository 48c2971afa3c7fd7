"""Estimates before anything was measured here: what our runs took, and guesses from it."""

import json
from collections import defaultdict
from statistics import mean

import pytest

from algotransfer.algorithms import get_algorithm
from algotransfer.datasets import make_splits
from algotransfer.experiment import Experiment, fingerprint
from algotransfer.reproduce.estimates import REMEMBERED, Estimates
from algotransfer.reproduce.grid_presets import TINY
from algotransfer.reproduce.steps import DataStep, EvaluateStep, TrainStep
from algotransfer.training import committed_weights, load_model


def test_remembered_epochs_are_those_of_our_networks():
    seen = defaultdict(list)
    for path in committed_weights().values():
        model = load_model(path)
        experiment = model.experiment
        training = "multitask" if len(experiment.tasks) > 1 else experiment.supervision
        framework = get_algorithm(experiment.target).framework
        seen[experiment.model, framework, training].append(max(model.card["epochs"]))
    for kind, epochs in seen.items():
        if kind in REMEMBERED and len(epochs) > 1:
            assert REMEMBERED[kind].epochs == pytest.approx(mean(epochs), rel=0.35), kind


def test_an_evaluation_takes_longer_with_more_graphs_and_on_a_cpu():
    tiny, small = make_splits(TINY), make_splits("small")
    here, there = Estimates(cpu=True), Estimates()
    assert here.evaluating(tiny) < 15 < here.evaluating(small) < 60
    assert there.evaluating(small) == pytest.approx(18, abs=1)


def test_the_mean_of_trajectories_costs_more_than_the_best():
    best, mean_of_all = (Experiment(target="dijkstra", select=name) for name in ("best", "mean"))
    data = make_splits("small").train.arguments
    assert Estimates(True).training(mean_of_all, data) > 2 * Estimates(True).training(best, data)


def test_steps_are_worth_beginning_while_they_can_be_compiled():
    step = EvaluateStep(TrainStep(Experiment(target="bfs"), (0,), DataStep(TINY)))
    estimates = Estimates(cpu=True, compilations=[5.0])  # however long an evaluation is
    assert step.least(estimates) == step.train.least(estimates) == 5.0
    assert DataStep(TINY).least(estimates) == 0.0


OURS = Experiment(target="bfs").to_json()


@pytest.mark.parametrize(
    ("change", "data"),
    [
        ({"target": "knitting"}, {"graph": ["er"], "num_graphs": 100}),
        ({"method": "osmosis"}, {"graph": ["er"], "num_graphs": 100}),
        ({"speed": "high"}, {"graph": ["er"], "num_graphs": 100}),
        ({}, {"graph": ["own", "other"], "num_graphs": [3, 4]}),
    ],
)
def test_a_run_of_ones_own_teaches_nothing(tmp_path, change, data):
    config = {"experiment": {**OURS, **change}, "seeds": [0], "data": {"train": data}}
    run = tmp_path / "own" / fingerprint(config)
    run.mkdir(parents=True)
    (run / "config.json").write_text(json.dumps(config))
    (run / "weights.npz").touch()
    seconds = {"compile": 9.0, "evaluation": 9.0, "training": 9.0}
    entry = {"device": {"platform": "cpu"}, "seconds": seconds, "epochs": [1, 9]}
    content = {"slices": [entry]}
    sealed = {**content, "sha256": fingerprint(content)}
    (run / "environment.json").write_text(json.dumps(sealed))
    assert Estimates.read(tmp_path, cpu=True) == Estimates(cpu=True)
