"""Steps: the files they write, pauses, estimates, and results that do not depend on concurrency."""

import dataclasses
import json
import shutil
from statistics import median

import numpy as np
import pytest

from algotransfer.array_files import load_arrays
from algotransfer.cli import main
from algotransfer.datasets import make_splits
from algotransfer.experiment import Experiment
from algotransfer.reproduce.estimates import Estimates
from algotransfer.reproduce.executors import ThreadExecutor
from algotransfer.reproduce.grid import experiments, one_of_each
from algotransfer.reproduce.plan import GRID_PRESETS, TINY, GridPreset, plan
from algotransfer.reproduce.runner import run_steps
from algotransfer.reproduce.steps import (
    EvaluateStep,
    Monitor,
    StepPaused,
    TrainStep,
    step_graph,
)
from algotransfer.training import train
from algotransfer.training.provenance import read_provenance

pytestmark = pytest.mark.usefixtures("quick_to_compile")
SMALL = {"max_epochs": 2, "hidden": 4, "batch_size": 16}
ALONE = Experiment(target="bellman_ford")
FROZEN = dataclasses.replace(ALONE, method="freeze", base=("bfs",))
BROKEN = dataclasses.replace(ALONE, target="widest_par")


def evaluation(experiment, **changes):
    settings = {**SMALL, **changes}
    return EvaluateStep(TrainStep(dataclasses.replace(experiment, **settings), (0, 1), TINY))


STEPS = [evaluation(ALONE), evaluation(FROZEN)]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    broken = evaluation(BROKEN, batch_size=1000)  # more than there are graphs
    with ThreadExecutor(jobs=2) as executor:
        results = run_steps([*STEPS, broken], folder, executor=executor)
    return folder, {result.step.name.partition(" hidden=")[0]: result for result in results}


def test_a_broken_experiment_does_not_stop_the_rest(runs):
    _, results = runs
    assert {name: result.state for name, result in results.items()} == {
        "train ne-bellman_ford-na": "done",
        "evaluate ne-bellman_ford-na": "done",
        "train ne-bfs-tf": "done",  # the base, once
        "train ne-bfs-bellman_ford-na-freeze": "done",
        "evaluate ne-bfs-bellman_ford-na-freeze": "done",
        "train ne-widest_par-na": "failed",
        "evaluate ne-widest_par-na": "blocked",
    }
    assert "do not fill a batch of 1000" in results["train ne-widest_par-na"].reason
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
    with pytest.raises(StepPaused) as stop:
        step.run(there, monitor=Monitor(should_pause=lambda: True))
    assert stop.value.seconds["evaluation"] > 0
    assert not step.is_finished(there)
    assert run_steps([step], there)[-1].state == "done"
    assert step.is_finished(there)


def test_a_paused_training_reports_its_time(tmp_path):
    step = STEPS[0].train
    with pytest.raises(StepPaused) as stop:
        step.run(tmp_path, monitor=Monitor(should_pause=lambda: True))
    assert set(stop.value.seconds) == {"data", "compile", "training"}
    assert stop.value.seconds == read_provenance(step.path(tmp_path))[-1]["seconds"]
    assert not step.is_finished(tmp_path)


def test_estimates_come_from_finished_runs(runs):
    folder, _ = runs
    estimates = Estimates.read(folder, "cpu")
    assert Estimates.read(folder, "gpu") == Estimates()
    entries = [entry for step in STEPS for entry in read_provenance(step.train.path(folder))]
    took = [e["seconds"]["evaluation"] for e in entries if e["part"] == "evaluation"]
    assert STEPS[0].estimate(folder, estimates) == median(took)
    assert estimates.evaluation(make_splits("small").train.arguments) is None
    step = TrainStep(dataclasses.replace(ALONE, **SMALL), (0, 1, 2), TINY)
    assert step.estimate(folder, estimates) > estimates.compilation()
    finished = STEPS[0].train  # at least one epoch is counted
    assert finished.estimate(folder, estimates) < step.estimate(folder, estimates)
    unlike = dataclasses.replace(ALONE, target="dijkstra", **SMALL)
    assert TrainStep(unlike, (0,), TINY).estimate(folder, estimates) is None


def test_a_plan_trains_and_evaluates_every_experiment():
    steps = step_graph(plan(experiments()))
    kinds = [type(step).__name__ for step in steps]
    assert kinds.count("TrainStep") == 74
    assert kinds.count("EvaluateStep") == 64
    with pytest.raises(ValueError, match="unknown preset 'papr' \\(did you mean 'paper'\\?\\)"):
        plan(experiments(), preset="papr")


def test_smoke_has_one_cell_of_each_kind():
    cells = one_of_each(experiments())
    assert len(cells) == 2 * 2 * 5
    assert GRID_PRESETS["smoke"].one_of_each


def test_the_command_lists_runs_packs_and_fails_loudly(runs, tmp_path, capsys, monkeypatch):
    folder, _ = runs
    tiny = GridPreset(TINY, SMALL)
    monkeypatch.setitem(GRID_PRESETS, "smoke", tiny)
    words = ["reproduce", "--table", "par-summary", "--target", "bellman_ford", "--model", "ne"]
    words += ["--seeds", "2", "--preset", "smoke", "--folder", str(folder)]
    monkeypatch.setenv("COLUMNS", "120")
    assert main([*words, "--dry-run"]) == 0
    text = capsys.readouterr().out
    small = "hidden=4 batch_size=16 max_epochs=2"
    assert f"train ne-bellman_ford-na {small} done" in " ".join(text.split())
    assert "3 experiments, 2 seeds each" in text
    archive = tmp_path / "runs.tar.gz"
    assert main([*words, "--for", "0s", "--pack", str(archive)]) == 0
    text = capsys.readouterr().out
    assert "the same command again" in text
    assert archive.exists()
    assert main(["reproduce", "--for", "soon", "--table", "seq-na", "--target", "dfs"]) == 2
    assert "expected a time such as 90s, 8m or 2h" in capsys.readouterr().err
    assert main(["reproduce", "--table", "nope", "--dry-run"]) == 2
    assert "unknown table of the paper 'nope'" in capsys.readouterr().err
