"""`train` from data to weights: repeatable, resumable, and honest about what it was given."""

import dataclasses
import json
import os
import random
import signal
import subprocess
import sys
import time

import jax
import numpy as np
import pytest

from algotransfer.array_files import load_arrays
from algotransfer.datasets import Preset, make_splits, split_dataset
from algotransfer.errors import UserError
from algotransfer.evaluation.training_range import fit_graphs
from algotransfer.experiment import Experiment
from algotransfer.files import Notice
from algotransfer.training import epochs, load_model, program, runs, train
from algotransfer.training.examples import weight_range
from algotransfer.training.named_arrays import from_arrays
from algotransfer.training.program import compile_epoch, start_seeds

TINY = Preset(family=("er", "grid"), train=32, validation=8, test=4, num_nodes=6, test_sizes=(6,))
FAST = Experiment(target="bellman_ford", supervision="tf", hidden=4, batch_size=16, max_epochs=3)


@pytest.fixture(scope="module")
def splits():
    return make_splits(TINY)


def weights_of(path):
    return load_arrays(path / "weights.npz")[0]


def same(ours, theirs):
    return ours.keys() == theirs.keys() and all(
        np.array_equal(ours[name], theirs[name]) for name in ours
    )


def test_a_run_repeats_to_the_last_bit_and_is_found_again(splits, tmp_path):
    path, model = train(FAST, 2, data=splits, folder=tmp_path / "a", show=False)
    again, _ = train(FAST, 2, data=splits, folder=tmp_path / "b", show=False)
    assert same(weights_of(path), weights_of(again))
    assert path.name == again.name
    written = (path / "weights.npz").stat().st_mtime_ns
    found, loaded = train(FAST, 2, data=splits, folder=tmp_path / "a", show=False)
    assert found == path
    assert (path / "weights.npz").stat().st_mtime_ns == written
    assert loaded.card["epochs"] == model.card["epochs"] == [3, 3]
    losses = [json.loads(line) for line in (path / "metrics.jsonl").read_text().splitlines()]
    assert [(row["epoch"], row["seed"]) for row in losses] == [
        (epoch, seed) for epoch in (1, 2, 3) for seed in (0, 1)
    ]
    theirs = [json.loads(line) for line in (again / "metrics.jsonl").read_text().splitlines()]
    for ours, other in zip(losses, theirs, strict=True):
        assert {**ours, "seconds": 0} == {**other, "seconds": 0}


@pytest.mark.slow
def test_a_dataset_is_divided_and_trained_on(splits, tmp_path):
    dataset = splits.train
    path, model = train(FAST, 1, data=dataset, validation_share=0.25, folder=tmp_path, show=False)
    data = model.card["data"]
    assert sum(data["train"]["num_graphs"]) == 48
    assert sum(data["validation"]["num_graphs"]) == 16
    assert model.card["weights"] == weight_range(split_dataset(dataset, 0.25).train.graphs)
    again, _ = train(FAST, 1, data=dataset, validation_share=0.25, folder=tmp_path, show=False)
    assert again == path
    with pytest.warns(Notice, match="trained on 48 and validated on 16 of these 64 graphs; "):
        fit_graphs(model, dataset.graphs)
    with pytest.raises(ValueError, match="validation_share=0.1 divides a dataset; leave it out"):
        train(FAST, 1, data=splits, validation_share=0.1, folder=tmp_path, show=False)


def test_loaded_weights_are_the_trained_ones(splits, tmp_path):
    path, model = train(FAST, [3, 1], data=splits, folder=tmp_path, show=False)
    loaded = load_model(path)
    assert loaded.seeds == (3, 1)
    assert loaded.experiment == FAST
    for ours, theirs in zip(
        jax.tree.leaves(model.network(1)), jax.tree.leaves(loaded.network(1)), strict=True
    ):
        assert np.array_equal(ours, theirs)
    with pytest.raises(ValueError, match="no seed 0; this model has seeds"):
        loaded.network(0)


def test_a_deadline_pauses_and_resuming_ends_the_same(splits, tmp_path):
    whole, _ = train(FAST, 2, data=splits, folder=tmp_path / "whole", show=False)
    for _ in range(2):
        path, model = train(
            FAST, 2, data=splits, folder=tmp_path / "parts", show=False, pause=lambda: True
        )
        assert model is None
        assert (path / "checkpoint.npz").exists()
    with pytest.raises(FileNotFoundError, match="its training has not ended"):
        load_model(path)
    path, model = train(FAST, 2, data=splits, folder=tmp_path / "parts", show=False)
    assert model is not None
    assert not (path / "checkpoint.npz").exists()
    assert same(weights_of(path), weights_of(whole))
    epochs = [json.loads(line)["epoch"] for line in (path / "metrics.jsonl").open()]
    assert epochs == [1, 1, 2, 2, 3, 3]


@pytest.mark.slow
@pytest.mark.usefixtures("default_signals")
def test_an_interruption_waits_for_the_end_of_an_epoch(splits, tmp_path, capsys):
    whole, _ = train(FAST, 2, data=splits, folder=tmp_path / "whole", show=False)
    handler = signal.getsignal(signal.SIGINT)

    def interrupt(rows, graphs_per_second):
        signal.raise_signal(signal.SIGINT)

    options = {"data": splits, "folder": tmp_path / "parts", "show": False}
    with pytest.raises(KeyboardInterrupt):
        train(FAST, 2, reporters=[interrupt], **options)
    assert "stopping after this epoch" in capsys.readouterr().err
    assert signal.getsignal(signal.SIGINT) is handler
    with pytest.raises(KeyboardInterrupt):  # a second one does not wait: this epoch is lost
        train(FAST, 2, reporters=[interrupt, interrupt], **options)
    path, _ = train(FAST, 2, **options)
    assert same(weights_of(path), weights_of(whole))
    slices = json.loads((path / "environment.json").read_text())["slices"]
    assert [s["epochs"] for s in slices if "epochs" in s] == [[1, 1], [2, 3]]


@pytest.mark.usefixtures("default_signals")
def test_an_interruption_waits_for_the_end_of_compilation(splits, tmp_path, capsys, monkeypatch):
    ended, trained = [], []

    def interrupt_and_compile(*arguments):
        signal.raise_signal(signal.SIGINT)
        ended.append(compile_epoch(*arguments))
        return ended[-1]

    options = {"data": splits, "folder": tmp_path, "show": False}
    monkeypatch.setattr(epochs, "compile_epoch", interrupt_and_compile)
    with pytest.raises(KeyboardInterrupt):
        train(FAST, 2, reporters=[lambda *rows: trained.append(rows)], **options)
    assert "stopping after this epoch or compilation" in capsys.readouterr().err
    assert ended
    assert not trained
    monkeypatch.setattr(epochs, "compile_epoch", compile_epoch)
    _, model = train(FAST, 2, **options)
    assert model.card["epochs"] == [3, 3]


@pytest.mark.slow
@pytest.mark.parametrize("pause", [True, False])
def test_what_starts_again_leaves_nothing_of_the_old(pause, splits, tmp_path):
    """Neither the weights nor the checkpoint that were there pass for the new training's."""
    options = {"data": splits, "folder": tmp_path, "show": False}
    path, _ = train(FAST, 1, pause=lambda: pause, **options)

    def crash(rows, graphs_per_second):
        raise InterruptedError

    with pytest.raises(InterruptedError):
        train(FAST, 1, resume=False, reporters=[crash], **options)
    train(FAST, 1, **options)
    epochs = [json.loads(line)["epoch"] for line in (path / "metrics.jsonl").open()]
    assert epochs == [1, 2, 3]
    slices = json.loads((path / "environment.json").read_text())["slices"]
    assert slices[-1]["epochs"] == [1, 3]


def test_a_checkpoint_of_another_configuration_is_refused(splits, tmp_path):
    path, _ = train(FAST, 1, data=splits, folder=tmp_path, show=False, pause=lambda: True)
    other = dataclasses.replace(FAST, learning_rate=1e-3)
    theirs, _ = train(other, 1, data=splits, folder=tmp_path, show=False, pause=lambda: True)
    (theirs / "checkpoint.npz").rename(path / "checkpoint.npz")
    with pytest.raises(
        ValueError, match=r"experiment.learning_rate is 0.001 there and 0.0005 here"
    ):
        train(FAST, 1, data=splits, folder=tmp_path, show=False)


KILLS = 3
KILLED = """
import sys
sys.path.insert(0, {folder!r})
from test_train import FAST, TINY
import dataclasses
from algotransfer.datasets import make_splits
from algotransfer.training import train
experiment = dataclasses.replace(FAST, max_epochs=200, patience=200)
train(experiment, 2, data=make_splits(TINY), folder=sys.argv[1], show=False, checkpoint_seconds=0)
"""


@pytest.mark.slow
def test_killed_at_random_moments_it_ends_bit_identical(tmp_path):
    script = KILLED.format(folder=os.path.dirname(__file__))
    cache = {
        **os.environ,
        "JAX_COMPILATION_CACHE_DIR": str(tmp_path / "cache"),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    }

    def start(folder):
        return subprocess.Popen([sys.executable, "-c", script, str(folder)], env=cache)

    assert start(tmp_path / "whole").wait(timeout=300) == 0
    (whole,) = (tmp_path / "whole").glob("*/*")

    dice = random.Random(0)
    kills = 0
    while True:
        process = start(tmp_path / "killed")
        if kills == KILLS:
            assert process.wait(timeout=300) == 0
            break
        checkpoints = list((tmp_path / "killed").glob("*/*/checkpoint.npz"))
        # Wait until it trains, then a random while, so that kills fall between and inside writes.
        before = checkpoints[0].stat().st_mtime_ns if checkpoints else 0
        while process.poll() is None:
            found = list((tmp_path / "killed").glob("*/*/checkpoint.npz"))
            if found and found[0].stat().st_mtime_ns != before:
                break
            time.sleep(0.005)
        time.sleep(dice.uniform(0, 0.05))
        assert process.poll() is None, "it ended before it could be killed"
        process.send_signal(signal.SIGKILL)
        process.wait()
        kills += 1
    (killed,) = (tmp_path / "killed").glob("*/*")
    assert same(weights_of(killed), weights_of(whole))
    assert not list(killed.glob("checkpoint.npz"))


@pytest.mark.slow
def test_a_batch_that_does_not_fit_is_split(splits, tmp_path, monkeypatch):
    experiment = dataclasses.replace(FAST, batch_size=4, max_epochs=1)
    needs = []

    def compile_and_note(*arguments):
        compiled, need = compile_epoch(*arguments)
        needs.append(need)
        return compiled, need

    def losses(folder):
        path, _ = train(experiment, 1, data=splits, folder=tmp_path / folder, show=False)
        return json.loads((path / "metrics.jsonl").read_text())["train_loss"]

    monkeypatch.setattr(epochs, "compile_epoch", compile_and_note)
    whole = losses("whole")
    monkeypatch.setattr(program, "memory_limit", lambda: (needs[0] - 1) / program.MEMORY_SHARE)
    assert losses("split") == pytest.approx(whole, rel=1e-5)
    assert needs[1] < needs[0]
    monkeypatch.setattr(program, "memory_limit", lambda: 0)
    with pytest.raises(ValueError, match="train fewer seeds at once"):
        losses("none")


def test_bad_requests_are_answered_by_sentences(splits, tmp_path):
    def ask(experiment, seeds=1, **options):
        return train(experiment, seeds, data=splits, folder=tmp_path, show=False, **options)

    with pytest.raises(ValueError, match="expected different ones"):
        ask(FAST, [1, 1])
    with pytest.raises(ValueError, match="24|64 training graphs do not fill a batch of 512"):
        ask(dataclasses.replace(FAST, batch_size=512))
    with pytest.raises(ValueError, match="no algorithm|unknown algorithm"):
        ask(dataclasses.replace(FAST, target="djikstra"))
    with pytest.raises(ValueError, match="there is no device 'tpu'; choose from cpu"):
        ask(FAST, device="tpu")
    needs_acyclic = {"method": "freeze", "base": ("bfs",), "target": "dag_shortest_paths"}
    with pytest.raises(ValueError, match="dag_shortest_paths needs directed graphs without"):
        ask(dataclasses.replace(FAST, supervision="na", **needs_acyclic))
    with pytest.raises(ValueError, match="no tracking service 'mlflow'"):
        ask(FAST, track="mlflow")
    assert not [*tmp_path.iterdir()]  # no folder of a run or of its base
    with pytest.raises(ValueError, match="unknown preset 'papr' .*did you mean 'paper'"):
        train(FAST, 1, data="papr", folder=tmp_path)
    with pytest.raises(FileNotFoundError, match="neither a run folder nor a weights file"):
        load_model(tmp_path / "nothing")
    with pytest.raises(FileNotFoundError, match=r"\(did you mean 'ne-bfs-tf' or 'ne.*'\?\); .*"):
        load_model("ne-bsf-tf")
    with pytest.raises(ValueError, match=r"a is float32 \(2,\), expected .*--no-resume"):
        from_arrays({"a": np.zeros(3, "f4")}, {"a": np.zeros(2, "f4")}, "weights.npz")


@pytest.mark.slow
def test_base_models_are_trained_once_and_frozen_parts_stay(splits, tmp_path):
    experiment = dataclasses.replace(
        FAST, supervision="na", method="two_processor", base=("bfs",), max_epochs=2
    )
    _, model = train(experiment, 2, data=splits, folder=tmp_path, show=False)
    (base_path,) = (tmp_path / "ne-bfs-tf").iterdir()
    base = load_model(base_path)
    frozen, fresh = model.networks.processors
    (origin,) = base.networks.processors
    assert np.array_equal(frozen.message, origin.message)
    assert np.array_equal(frozen.update, origin.update)
    start_of_base = start_seeds(base.experiment, (0, 1))[1].network.processors[0]
    start_of_fresh = start_seeds(experiment, (0, 1), origin)[1].network.processors[1]
    assert not np.allclose(start_of_fresh.message, start_of_base.message)
    assert not np.array_equal(fresh.message, start_of_fresh.message)


def test_the_tracking_adapter_speaks_the_shared_dialect(splits, tmp_path, monkeypatch):
    import types

    calls = []
    stand_in = types.ModuleType("trackio")
    vars(stand_in).update(
        init=lambda **kw: calls.append(("init", kw["project"])),
        log=lambda row: calls.append(("log", row["seed 0/epoch"])),
        finish=lambda: calls.append(("finish", None)),
    )
    monkeypatch.setitem(sys.modules, "trackio", stand_in)
    train(FAST, 1, data=splits, folder=tmp_path, show=False, track="trackio")
    assert calls == [("init", "algotransfer"), ("log", 1), ("log", 2), ("log", 3), ("finish", None)]


def test_one_compile_serves_a_run(splits, tmp_path, monkeypatch):
    counted = []
    monkeypatch.setattr(
        epochs,
        "compile_epoch",
        lambda *arguments: counted.append(1) or compile_epoch(*arguments),
    )
    train(FAST, 2, data=splits, folder=tmp_path, show=False)
    assert len(counted) == 1


def test_the_commit_is_that_of_this_repository(tmp_path, monkeypatch):
    """Not of one that lies around the environment in which the package is installed."""
    monkeypatch.delenv(runs.COMMIT, raising=False)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", "-C", str(tmp_path)]
    subprocess.run([*git, "init", "--quiet"], check=True)
    subprocess.run([*git, "commit", "--quiet", "--allow-empty", "--message", "other"], check=True)
    monkeypatch.setattr(runs, "ROOT", tmp_path)
    assert len(runs.environment()["commit"]) == 40
    monkeypatch.setattr(runs, "ROOT", tmp_path / "inside")
    (tmp_path / "inside").mkdir()
    assert runs.environment()["commit"] is None


@pytest.mark.parametrize("name", ["towns.npz", "towns.csv"])
def test_a_file_name_is_not_a_preset(name):
    with pytest.raises(
        UserError, match=rf"data is '{name}', a file name; .*load_dataset\('{name}'"
    ):
        train(FAST, 1, data=name)
