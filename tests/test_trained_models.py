"""Trained models by name: in the package, in run folders, by their beginning."""

import json
import shutil

import pytest

from algotransfer import list_models, load_model
from algotransfer.array_files import load_card
from algotransfer.cli import main
from algotransfer.experiment import fingerprint
from algotransfer.trained_models import committed_weights, find_weights
from algotransfer.training.runs import card_configuration

NAME = "relax-dijkstra-na-4a6b0caf5adbc5a0"


def make_run(folder, name=NAME, **changes):
    """A finished run with committed weights, and perhaps other settings."""
    path = committed_weights()[name]
    config = card_configuration(load_card(path))
    config["experiment"] |= changes
    run = folder / "relax" / fingerprint(config)
    run.mkdir(parents=True)
    (run / "config.json").write_text(json.dumps(config))
    shutil.copy(path, run / "weights.npz")
    return run


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("relax-dijkstra", NAME),
        ("relax-dijkstra-inf", "relax-dijkstra-na-ca476ca9f1b924cd"),
        (NAME, NAME),
        (NAME[:-6], NAME),
        ("ne++-dijkstra", "ne++-dijkstra-na"),
        ("ne++-dijkstra-extra10", "ne++-dijkstra-na-extra10-ff596c48efc773dc"),
        ("ne++-dijkstra-ex", "ne++-dijkstra-na-extra10-ff596c48efc773dc"),
        ("ne++-dijkstra-tf", "ne++-dijkstra-tf"),
    ],
)
@pytest.mark.filterwarnings("ignore::algotransfer.files.Notice")
def test_names_and_unique_beginnings(name, file):
    assert find_weights(name).stem == file


def test_a_completed_name_is_printed(tmp_path, capsys):
    graph = tmp_path / "roads.csv"
    graph.write_text("source,target,weight\na,b,0.5\n")
    for name, notices in (("relax-prim", 1), ("relax-prim-dijkstra-multitask", 0)):
        assert main(["execute", name, str(graph)]) == 0
        said = "note: relax-prim stands for relax-prim-dijkstra-multitask"
        assert " ".join(capsys.readouterr().err.split()).count(said) == notices


@pytest.mark.slow
def test_every_name_in_the_package_is_unique_and_can_be_loaded():
    models = list_models()
    assert len({model.name for model in models}) == len(models) == len(committed_weights())
    assert all(find_weights(model.name) == model.path for model in models)
    assert load_model("relax-reliable_par").experiment.target == "reliable_par"


def test_ambiguous_and_unknown_names():
    message = r"'relax-dijk' is the beginning of 2 names \(relax-dijkstra, relax-dijkstra-inf100\)"
    with pytest.raises(ValueError, match=message):
        find_weights("relax-dijk")
    with pytest.raises(FileNotFoundError, match="did you mean 'relax-dijkstra' or"):
        find_weights("relx-dijkstra")
    with pytest.raises(ValueError, match="unknown target of a trained model 'dijkstraa'"):
        list_models("dijkstraa")


@pytest.mark.filterwarnings("ignore::algotransfer.files.Notice")
def test_run_folders(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first = make_run(tmp_path / "runs", model="relax", extra_steps=7)
    assert find_weights("relax-dijkstra-extra7") == (first / "weights.npz").relative_to(tmp_path)
    assert find_weights("runs/relax-dij").parent.name == first.name
    assert find_weights(f"{tmp_path}/runs/relax").parent == first
    make_run(tmp_path / "runs", extra_steps=7, learning_rate=0.1)
    with pytest.raises(ValueError, match="beginning of 2 names .*relax-dijkstra-extra7-"):
        find_weights("runs/relax")
    assert find_weights(f"relax-dijkstra-extra7-{first.name[:6]}").parent.name == first.name
    make_run(tmp_path / "runs", later="field")  # of another version
    names = [model.name for model in list_models("dijkstra") if model.name.startswith("runs/")]
    assert len(names) == 2
    assert find_weights("relax-dijkstra") == committed_weights()[NAME]  # the package comes first


def test_a_folder_of_runs_names_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = make_run(tmp_path / "runs", learning_rate=0.1)
    run.parent.rename(tmp_path / "runs" / "relax-dijkstra-na")
    message = f"runs/relax-dijkstra-na is not a run folder; .* runs/relax-dijkstra-na/{run.name}$"
    with pytest.raises(FileNotFoundError, match=message):
        find_weights("runs/relax-dijkstra-na")


def test_a_name_is_suggested_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make_run(tmp_path / "runs", learning_rate=0.1)
    with pytest.raises(FileNotFoundError) as caught:
        find_weights("relx-dijkstra")
    assert str(caught.value).count("'relax-dijkstra'") == 1


def test_runs_that_cannot_be_loaded_are_left_out_with_a_note(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    run = make_run(tmp_path / "runs", model="mine")
    assert main(["list", "models"]) == 0
    shown = capsys.readouterr()
    assert "runs/" not in shown.out
    said = " ".join(shown.err.split())
    assert f"note: runs/relax/{run.name}: unknown network 'mine'" in said
    assert "the run is left out" in said
    assert main(["execute", "relax-dijkstra", "none.csv"]) == 2
    assert "mine" not in capsys.readouterr().err


@pytest.mark.parametrize("name", ["runs/relax-toll", "relax-toll", "runs/relax-toll-extra7"])
def test_a_run_that_cannot_be_loaded_is_found_with_the_reason(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    run = make_run(tmp_path / "runs", target="toll")
    run.parent.rename(tmp_path / "runs" / "relax-toll-na-extra7")
    assert main(["evaluate", name]) == 2
    said = capsys.readouterr().err
    assert f"runs/relax-toll-na-extra7/{run.name} cannot be loaded: unknown algorithm" in said
    assert "run `python FILE` instead of `algotransfer`" in said


def test_list_models_of_a_target(capsys):
    assert main(["list", "models", "--target", "reliable_par"]) == 0
    shown = capsys.readouterr().out
    assert "relax-widest_par-reliable_par-multitask" in shown
    assert "relax-dijkstra" not in shown
    assert "Graph families" not in shown
    assert main(["list", "--target", "prim"]) == 2
    assert "list models --target prim" in capsys.readouterr().err
