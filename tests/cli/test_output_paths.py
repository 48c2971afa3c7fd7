"""Commands find out before the work where they cannot write."""

import os

import pytest

from algotransfer.cli import main

COMMANDS = {
    "evaluate": ["ne-dijkstra-na", "--out", "{}.csv"],
    "execute": ["ne-dijkstra-na", "graph.csv", "--out", "{}.csv"],
    "explore": ["--out", "{}.html"],
    "bench": ["--out", "{}.json"],
    "reproduce": ["--pack", "{}.tar.gz"],
    "data": ["--algorithm", "bfs", "--out", "{}.npz"],
}


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_place_that_is_not_there(command, capsys):
    words = [word.format("none/x") for word in COMMANDS[command]]
    assert main([command, *words]) == 2
    assert "there is no folder none; create it first" in capsys.readouterr().err
    assert os.listdir() == []


@pytest.mark.parametrize("command", sorted(COMMANDS.keys() - {"data"}))
def test_a_folder_in_place_of_a_file(command, tmp_path, capsys):
    words = [word.format("x") for word in COMMANDS[command]]
    (tmp_path / words[-1]).mkdir()
    assert main([command, *words]) == 2
    assert "it is a folder; name a file in it" in capsys.readouterr().err


@pytest.mark.parametrize("command", COMMANDS)
def test_a_pipe_in_place_of_a_file(command, tmp_path, capsys):
    words = [word.format("x") for word in COMMANDS[command]]
    os.mkfifo(words[-1])
    assert main([command, *words]) == 2
    assert "it is not a regular file; name another" in capsys.readouterr().err
    assert (tmp_path / words[-1]).is_fifo()


@pytest.mark.parametrize(
    "words",
    [
        ["train", "--folder"],
        ["sweep", "--model", "ne", "--folder"],
        ["reproduce", "--folder"],
        ["data", "--preset", "small", "--out"],
        ["compare", "ne-dijkstra", "--out"],
        ["report", "--folder", "runs", "--weights"],
    ],
)
@pytest.mark.parametrize("path", ["file", "file/runs"])
def test_a_file_in_place_of_a_folder(words, path, tmp_path, capsys):
    (tmp_path / "file").touch()
    assert main([*words, path]) == 2
    said = f"error: cannot write to {path}: file is a file; name a folder\n"
    assert capsys.readouterr().err == said


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("evaluate ne-dijkstra-na --data own.npz --out own.npz", "ends in .csv"),
        ("execute ne-dijkstra own.csv --out own.csv", "this command reads it; name another file"),
        ("execute ne-dijkstra-na own.csv --out ./own.csv", "this command reads it"),
        ("explore --graph own.csv --out own.csv", "ends in .html"),
        ("certify own.json --out own.json", "this command reads it"),
        ("discover --target bfs --data own.npz --out own.npz", "ends in .json"),
        ("data --graph own.csv --out own.csv", "name a file that ends in .npz"),
        ("reproduce --pack own.npz", "ends in .tar.gz"),
        ("bench --out own.npz", "ends in .json"),
        ("bench --baseline own.json --out own.json", "this command reads it"),
    ],
)
def test_an_input_or_a_file_of_another_kind_is_not_replaced(command, said, tmp_path, capsys):
    words = command.split()
    (tmp_path / words[-1]).write_text("kept")
    assert main(words) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert (tmp_path / words[-1]).read_text() == "kept"
