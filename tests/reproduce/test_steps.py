"""Steps: what they leave in the folder, and that running beside others changes no bit of it."""

import dataclasses
import json
import shutil
from statistics import median

import numpy as np
import pandas
import pytest

from algotransfer.array_files import load_arrays
from algotransfer.cli import main
from algotransfer.datasets import make_splits
from algotransfer.experiment import Experiment
from algotransfer.reproduce import presets
from algotransfer.reproduce.estimates import Estimates
from algotransfer.reproduce.grid import experiments, one_of_each
from algotransfer.reproduce.grid_presets import GRID_PRESETS, TINY
from algotransfer.reproduce.plan import plan
from algotransfer.reproduce.runner import run_steps
from algotransfer.reproduce.steps import (
    DataStep,
    EvaluateStep,
    Paused,
    TableStep,
    TrainStep,
    Watch,
    graph,
)
from algotransfer.training import train
from algotransfer.training.provenance import read_provenance

pytestmark = pytest.mark.usefixtures("quick_to_compile")
SMALL = {"max_epochs": 2, "hidden": 4, "batch_size": 16}
ALONE = Experiment(target="bellman_ford")
FROZEN = dataclasses.replace(ALONE, method="freeze", base=("bfs",))
BROKEN = dataclasses.replace(ALONE, target="bellman_fjord")
DATA = DataStep(TINY)


def evaluation(experiment):
    return EvaluateStep(TrainStep(dataclasses.replace(experiment, **SMALL), (0, 1), DATA))


STEPS = [evaluation(ALONE), evaluation(FROZEN)]
TABLE = TableStep("par-summary", tuple(STEPS))


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    broken = evaluation(BROKEN)
    results = run_steps([*STEPS, broken, TABLE], folder, jobs=2)
    return folder, {result.step.name: result for result in results}


def test_a_broken_experiment_does_not_stop_the_rest(runs):
    _, results = runs
    assert {name: result.state for name, result in results.items()} == {
        "data": "done",
        "train ne-bellman_ford-na": "done",
        "evaluate ne-bellman_ford-na": "done",
        "train ne-bfs-tf": "done",  # the base, once
        "train ne-bfs-bellman_ford-na-freeze": "done",
        "evaluate ne-bfs-bellman_ford-na-freeze": "done",
        "train ne-bellman_fjord-na": "failed",
        "evaluate ne-bellman_fjord-na": "blocked",
        "table par-summary": "done",
    }
    assert "bellman_fjord" in results["train ne-bellman_fjord-na"].reason
    assert set(results["train ne-bfs-tf"].seconds) == {"data", "compile", "training"}


def test_running_beside_others_changes_no_bit(runs, tmp_path):
    folder, _ = runs
    step = STEPS[0].train
    alone, _ = train(step.experiment, 2, data=make_splits(TINY), folder=tmp_path, show=False)
    ours, _ = load_arrays(step.path(folder) / "weights.npz")
    theirs, _ = load_arrays(alone / "weights.npz")
    assert step.path(folder).name == alone.name
    assert all(np.array_equal(ours[name], theirs[name]) for name in ours)


def test_every_slice_leaves_its_environment(runs):
    folder, _ = runs
    slices = json.loads((STEPS[0].train.path(folder) / "environment.json").read_text())["slices"]
    assert [entry["part"] for entry in slices] == ["training", "evaluation"]
    assert slices[0]["epochs"] == [1, 2]
    assert slices[0]["device"]["platform"] == "cpu"
    assert slices[0]["seconds"]["training"] > 0


def test_an_evaluation_without_time_is_done_next_time(runs, tmp_path):
    folder, _ = runs
    step, there = STEPS[0], tmp_path / "runs"
    run = step.train.path(folder)
    shutil.copytree(run, there / run.parent.name / run.name)
    (step.train.path(there) / "evaluation.csv").unlink()
    (result,) = [r for r in run_steps([step], there, view=None, seconds=-1) if r.step == step]
    assert result.state == "waiting"
    # The deadline may also pass while it runs: then nothing is written either.
    with pytest.raises(Paused) as stop:
        step.run(there, watch=Watch(pause=lambda: True))
    assert stop.value.seconds["evaluation"] > 0
    assert not step.found(there)
    assert run_steps([step], there)[-1].state == "done"
    assert step.found(there)


def test_a_paused_training_tells_what_it_took(tmp_path):
    step = STEPS[0].train
    with pytest.raises(Paused) as stop:
        step.run(tmp_path, watch=Watch(pause=lambda: True))
    assert set(stop.value.seconds) == {"data", "compile", "training"}
    assert stop.value.seconds == read_provenance(step.path(tmp_path))[-1]["seconds"]
    assert not step.found(tmp_path)


def test_tables_stand_beside_the_paper(runs):
    folder, _ = runs
    lines = pandas.read_csv(folder / "tables" / "par-summary.csv")
    assert set(lines["num_nodes"]) == {20}  # the paper has no graphs of 8 nodes
    assert set(lines["method"]) == {"none"}  # nor this method in this table
    assert {"paper", "median", "mean", "std", "num_seeds"} <= set(lines.columns)


def test_estimates_learn_from_runs(runs):
    folder, _ = runs
    estimates = Estimates.read(folder, cpu=True)
    assert estimates.origin.startswith("measured on runs like it in the folder, else guessed from")
    elsewhere = Estimates.read(folder, cpu=False)  # another device tells nothing
    assert elsewhere.origin == "guessed from times of three seeds on one H200"
    entries = [entry for step in STEPS for entry in read_provenance(step.train.path(folder))]
    took = [e["seconds"]["evaluation"] for e in entries if e["part"] == "evaluation"]
    assert STEPS[0].estimate(folder, estimates) == median(took)
    more = make_splits("small")  # these runs have evaluated fewer graphs
    assert estimates.evaluating(more) == Estimates(cpu=True).evaluating(more)
    assert estimates.epochs(STEPS[0].train.experiment) == 2
    step = TrainStep(dataclasses.replace(ALONE, **SMALL), (0, 1, 2), DATA)
    assert (
        0
        < step.estimate(folder, estimates)
        < Estimates(cpu=True).training(ALONE, {"num_graphs": 5000, "graph": ["er", "ba", "grid"]})
    )


def test_a_plan_has_every_table_that_its_experiments_complete():
    steps = graph(plan(experiments()))
    kinds = [type(step).__name__ for step in steps]
    assert kinds.count("TrainStep") == 74
    assert kinds.count("EvaluateStep") == 64
    assert kinds.count("TableStep") == 20
    some = [s for s in graph(plan(experiments(("seq-na",)))) if isinstance(s, TableStep)]
    assert [step.table for step in some] == ["seq-na", "seq-na-breakdown"]
    with pytest.raises(ValueError, match="unknown preset 'papr' \\(did you mean 'paper'\\?\\)"):
        plan(experiments(), preset="papr")


def test_smoke_has_one_cell_of_each_kind():
    cells = one_of_each(experiments())
    assert len(cells) == 2 * 2 * 5
    assert GRID_PRESETS["smoke"].one_of_each


def test_the_command_lists_runs_packs_and_fails_loudly(runs, tmp_path, capsys, monkeypatch):
    folder, _ = runs
    tiny = presets.GridPreset(TINY, SMALL)
    monkeypatch.setitem(presets.GRID_PRESETS, "smoke", tiny)
    words = ["reproduce", "--table", "par-summary", "--target", "bellman_ford", "--model", "ne"]
    words += ["--seeds", "2", "--preset", "smoke", "--folder", str(folder)]
    assert main([*words, "--dry-run"]) == 0
    text = capsys.readouterr().out
    assert "train ne-bellman_ford-na there already" in " ".join(text.split())
    assert "3 experiments, 2 seeds each" in text
    archive = tmp_path / "runs.tar.gz"
    assert main([*words, "--for", "0s", "--pack", str(archive)]) == 0
    text = capsys.readouterr().out
    assert "the same command again" in text
    assert archive.exists()
    assert main(["reproduce", "--for", "soon", "--table", "seq-na", "--target", "dfs"]) == 2
    assert "expected a time such as 90s, 8m or 2h" in capsys.readouterr().err
    assert main(["reproduce", "--table", "nope", "--dry-run"]) == 2
    assert "the paper has no table 'nope'" in capsys.readouterr().err
