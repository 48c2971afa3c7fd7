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
