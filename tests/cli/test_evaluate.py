"""`algotransfer evaluate` writes into the folder of a run, alone, and into no other."""

from importlib import import_module

import pandas
import pytest

from algotransfer.cli import main
from algotransfer.evaluation import COLUMNS
from algotransfer.locks import locked
from algotransfer.training import committed_weights

NAME = "ne-dijkstra-na"
MODULE = import_module("algotransfer.evaluation.evaluate")  # the function has the same name


@pytest.fixture
def quick(monkeypatch):
    """Networks are evaluated in no time; the table is made up."""
    rows = [("network", 0, "er", 20, "pred", None, 0.1, 9)]
    frame = pandas.DataFrame(rows, columns=list(COLUMNS)).astype(COLUMNS)
    monkeypatch.setattr(MODULE, "evaluate", lambda *_: frame)


def test_a_folder_with_the_name_of_weights_is_not_their_run(quick, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / NAME).mkdir()
    assert main(["evaluate", NAME, "--num-nodes", "6", "--num-graphs", "1"]) == 0
    assert f"wrote {NAME}-evaluation.csv" in capsys.readouterr().out
    assert list((tmp_path / NAME).iterdir()) == []
    assert len(pandas.read_csv(f"{NAME}-evaluation.csv")) == 1


def test_a_replaced_table_of_a_named_model_is_noted(quick, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    call, said = ["evaluate", NAME, "--num-nodes", "6", "--num-graphs", "1"], []
    for options in ([], [], ["--out", f"{NAME}-evaluation.csv"]):
        assert main([*call, *options]) == 0
        said.append("replaced the earlier table; --out FILE" in capsys.readouterr().out)
    assert said == [False, True, False]


def test_one_writer_at_a_time(quick, tmp_path, capsys):
    (tmp_path / "weights.npz").write_bytes(committed_weights()[NAME].read_bytes())
    call = ["evaluate", str(tmp_path), "--num-nodes", "6", "--num-graphs", "1"]
    with locked(tmp_path):
        assert main(call) == 2
        assert f"{tmp_path} is in use by process" in capsys.readouterr().err
        assert not (tmp_path / "evaluation.csv").exists()
    assert main(call) == 0
    names = ["SHA256SUMS", "evaluation.csv", "weights.npz"]
    assert sorted(path.name for path in tmp_path.iterdir()) == names
