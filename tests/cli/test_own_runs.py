"""Commands on runs that were trained on own graphs."""

import io
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from algotransfer.cli import main
from algotransfer.datasets import PRESETS, Preset, make_dataset, save_dataset

pytestmark = pytest.mark.usefixtures("quick_to_compile")


def call(command):
    """Run a command that succeeds; return what it prints, in one line."""
    text = io.StringIO()
    with redirect_stdout(text), redirect_stderr(text):
        assert main(command.split()) == 0
    return " ".join(text.getvalue().split())


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A folder with a run on own graphs, and what training printed."""
    with chdir(folder := tmp_path_factory.mktemp("own")):
        save_dataset(make_dataset("er", 8, 6), "own.npz", "bellman_ford")
        save_dataset(make_dataset("er", 3, 6, split="test"), "test.npz", "bellman_ford")
        options = "--data own.npz --batch-size 4 --max-epochs 1 --seeds 1"
        return folder, call(f"train --model relax --target bellman_ford {options}")


@pytest.fixture
def printed(trained, monkeypatch):
    """What training printed; the folder of the run is the current one."""
    monkeypatch.chdir(trained[0])
    return trained[1]


RUN = "runs/relax-bellman_ford"


def test_train_suggests_an_evaluation_on_own_graphs(printed):
    (run,) = Path("runs").glob("*/*")
    assert printed.endswith(f"next algotransfer evaluate {run} --data TEST.npz")


def test_train_suggests_an_evaluation_on_its_preset(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(PRESETS, "small", Preset(7, 1, 1, num_nodes=6, family=("er",)))
    options = "--preset small --batch-size 4 --max-epochs 1 --seeds 1"
    text = call(f"train --model relax --target bellman_ford {options}")
    (run,) = Path("runs").glob("*/*")
    assert text.endswith(f"next algotransfer evaluate {run} --preset small")


def test_evaluate_says_that_it_replaces_a_table(printed):
    replaced = "replaced the earlier table; --keep keeps its rows of other sizes"
    assert replaced not in call(f"evaluate {RUN} --data test.npz")
    assert replaced in call(f"evaluate {RUN} --data test.npz")
    assert replaced not in call(f"evaluate {RUN} --data test.npz --keep")
