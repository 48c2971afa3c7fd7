"""Sweeps: combinations of settings from options and TOML files, run by the runner."""

import json

import pytest

from algotransfer import Experiment, load_model, make_dataset, save_dataset
from algotransfer.cli import main
from algotransfer.datasets.presets import PRESETS
from algotransfer.reproduce.plan import TINY
from algotransfer.reproduce.sweep import read_sweep, sweep

FILE = """
model = ["ne", "ne++"]
target = "bellman_ford"
method = ["none", "multitask"]
base = "bfs"
hidden = 4
"""


def test_every_combination_is_an_experiment_once(tmp_path):
    (tmp_path / "sweep.toml").write_text(FILE)
    common = {"target": "bellman_ford", "hidden": 4}
    assert sweep(read_sweep(tmp_path / "sweep.toml") | {"extra_steps": [0, 0]}) == [
        Experiment(model=model, **common, **transfer)
        for model in ("ne", "ne++")
        for transfer in ({}, {"method": "multitask", "base": ("bfs",)})
    ]


def test_several_bases_are_joined():
    (experiment,) = sweep(
        {"target": ["reliable_seq"], "method": ["two_processor"], "base": ["prim+dijkstra"]}
    )
    assert experiment.base == ("prim", "dijkstra")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("modle = 3", "unknown field of an experiment 'modle' (did you mean 'model'?)"),
        ("model = 3", "model"),
        ('method = "multitask"\nbase = 3', "unknown algorithm '3'"),
        ("model = [", "is not a TOML file"),
        ("model = []", "model has no values; give one or more, or leave it out"),
        ("", "nothing to sweep over"),
    ],
)
def test_mistakes_in_the_file_are_one_sentence(text, said, tmp_path, capsys):
    (tmp_path / "sweep.toml").write_text(text)
    assert main(["sweep", str(tmp_path / "sweep.toml"), "--folder", str(tmp_path / "runs")]) == 2
    *_, error = capsys.readouterr().err.splitlines()  # the command first says what it does
    assert error.startswith("error: ")
    assert said in error
    assert "sweep.toml" in error or not text
    assert not (tmp_path / "runs").exists()


def test_steps_of_a_sweep_have_names_that_differ(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(PRESETS, "tiny", TINY)
    values = "--model ne --hidden 4 32 --extra-steps 0 5 --preset tiny --dry-run --json"
    assert main(["sweep", *values.split(), "--folder", str(tmp_path)]) == 0
    names = [step["step"] for step in json.loads(capsys.readouterr().out)]
    assert len({*names}) == len(names) == 8
    assert "train ne-dijkstra-na-extra5 hidden=4" in names
    assert "evaluate ne-dijkstra-na hidden=32" in names


@pytest.mark.slow
def test_options_override_the_file_and_the_runs_can_be_compared(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(PRESETS, "tiny", TINY)
    (tmp_path / "sweep.toml").write_text(FILE)
    options = ["--model", "ne", "--method", "none", "--max-epochs", "1", "--batch-size", "8"]
    runs = ["--preset", "tiny", "--seeds", "2", "--folder", str(tmp_path / "runs")]
    assert main(["sweep", str(tmp_path / "sweep.toml"), *options, *runs]) == 0
    said = capsys.readouterr().out
    (evaluation,) = (tmp_path / "runs").glob("ne-bellman_ford-na/*/evaluation.csv")
    assert f"algotransfer compare {evaluation.parent}" in said


@pytest.mark.slow
def test_own_graphs(tmp_path, capsys):
    own = tmp_path / "own.npz"
    save_dataset(make_dataset("er", 10, 6), own, "bellman_ford")
    settings = [
        "--target",
        "bellman_ford",
        "--hidden",
        "4",
        "--max-epochs",
        "1",
        "--batch-size",
        "3",
    ]
    command = ["sweep", *settings, "--seeds", "1", "--data", str(own)]
    command += ["--folder", str(tmp_path / "runs")]
    assert main([*command, "--preset", "small"]) == 2
    assert "give one" in capsys.readouterr().err
    assert main([*command, "--dry-run"]) == 0
    assert "1 experiments" in capsys.readouterr().out
    assert main(command) == 0
    (weights,) = (tmp_path / "runs").glob("ne-bellman_ford-na/*/weights.npz")
    assert f"compare {weights.parent} --data TEST.npz" in capsys.readouterr().out
    assert load_model(weights).card["data"]["train"]["num_nodes"] == 6


def test_help_says_that_own_graphs_are_not_evaluated(capsys):
    with pytest.raises(SystemExit):
        main(["sweep", "--help"])
    assert "`algotransfer evaluate RUN --data TEST.npz`" in capsys.readouterr().out
