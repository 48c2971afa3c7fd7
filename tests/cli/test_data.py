"""`algotransfer data` and `algotransfer list`."""

import os
from pathlib import Path

import networkx
import numpy as np
import pytest

from algotransfer.cli import main
from algotransfer.datasets import load_dataset, make_dataset, save_dataset
from algotransfer.datasets.presets import PRESETS, Preset
from algotransfer.graphs import from_networkx, write_graph
from algotransfer.trained_models import list_models


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")


def words(arguments):
    return arguments.split()


def test_the_command_of_the_contract(tmp_path, capsys):
    options = "--algorithm dijkstra --family er --num-graphs 30 --num-nodes 20 --seed 0"
    assert main(words(f"data {options} --out FILE.npz")) == 0
    text = capsys.readouterr().out
    assert "wrote FILE.npz\n" in text
    assert "next  algotransfer data --statistics FILE.npz\n" in text
    assert "30 graphs and their traces made in" in text
    save_dataset(make_dataset("er", 30, 20, 0), "same.npz", "dijkstra")
    assert (tmp_path / "FILE.npz").read_bytes() == (tmp_path / "same.npz").read_bytes()


def test_statistics_of_a_file(capsys):
    save_dataset(make_dataset(("er", "grid"), 5, 6), "data.npz", "prim")
    assert main(words("data --statistics data.npz")) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["grid", "5", "6", "7.0", "2.3", "(3)", "3.0", "(3)", "100.0%", "100.0%"] in lines
    assert ["algorithm", "er", "grid"] in lines
    assert [line[0] for line in lines if line and line[-1] == "(6)"] == ["prim"]
    assert os.listdir() == ["data.npz"]


def test_without_out_nothing_is_written(capsys):
    assert main(words("data --num-graphs 2 --num-nodes 6 --algorithm bfs dfs")) == 0
    assert "next  add --out PATH to write this data" in capsys.readouterr().out
    assert os.listdir() == []


def test_a_preset_becomes_a_folder(monkeypatch, capsys):
    monkeypatch.setitem(PRESETS, "small", Preset(3, 2, 2, num_nodes=6, test_sizes=(6, 8)))
    assert main(words("data --preset small --algorithm bfs prim --out data --seed 4")) == 0
    text = capsys.readouterr().out
    assert "wrote data/train/bfs.npz and 1 more" in text
    assert sorted(os.listdir("data")) == ["test_6", "test_8", "train", "validation"]
    test = load_dataset("data/test_8/prim.npz")
    assert test.arguments == make_dataset(("er", "ba", "grid"), 2, 8, 4, split="test").arguments
    np.testing.assert_array_equal(
        test.graphs.weights,
        make_dataset(("er", "ba", "grid"), 2, 8, 4, split="test").graphs.weights,
    )


def test_tables_of_many_tasks_fit_on_the_screen(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    assert main(words("data --preset clrs30 --task bfs dijkstra dag_shortest_paths")) == 0
    text = capsys.readouterr().out
    assert "…" not in text
    lines = [line.split() for line in text.splitlines()]
    assert ["dag_shortest_paths/validation", "dag_shortest_paths", "2.8", "(5)"] in lines


def test_own_graphs(capsys):
    for name, network in (("a", networkx.path_graph(4)), ("b", networkx.star_graph(3))):
        write_graph(f"{name}.csv", from_networkx(network).graph)
    command = "data --graph a.csv b.csv --source 3 --algorithm bellman_ford --out own.npz"
    assert main(words(command)) == 0
    assert "wrote own.npz" in capsys.readouterr().out
    dataset = load_dataset("own.npz")
    assert dataset.graphs.source.tolist() == [3, 3]
    assert dataset.families == ("own",)
    assert dataset.trace("bellman_ford").final_key.tolist() == [[3, 2, 1, 0], [1, 2, 2, 0]]


def test_own_graphs_of_different_sizes(capsys):
    Path("a.csv").write_text("source,target\na,b\nb,c\n")
    Path("b.csv").write_text("source,target\na,b\n")
    assert main(words("data --graph a.csv b.csv --algorithm bfs --out own.npz")) == 0
    assert "graphs of 2 to 3 nodes; smaller ones are padded" in capsys.readouterr().out
    assert load_dataset("own.npz").named_graph(1).names == ("a", "b")


def test_algorithms_that_do_not_fit_own_graphs_are_left_out(capsys):
    Path("metres.csv").write_text("from,to,weight\na,b,400\nb,a,300\n")
    assert main(words("data --graph metres.csv --out own")) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "left out reliable_par, prim, reliable_seq, dag_shortest_paths, which" in said
    assert "--algorithm NAME says why" in said
    assert sorted(os.listdir("own"))[:3] == ["bellman_ford.npz", "bfs.npz", "dfs.npz"]
    assert main(words("data --graph metres.csv --algorithm prim --out prim.npz")) == 2


def test_a_graph_that_does_not_fit_is_named_by_its_file_and_nodes(capsys):
    Path("a.csv").write_text("source,target,weight\na,b,0.5\n")
    Path("b.csv").write_text("source,target,weight\nx,y,0.5\ny,z,2\n")
    assert main(words("data --graph a.csv b.csv --algorithm reliable_seq")) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "error: b.csv: reliable_seq needs finite weights above 0 and at most 1" in said
    assert "the edge between nodes 'y' and 'z' has weight 2" in said


@pytest.mark.parametrize(("source", "index"), [("b", 1), ("2", 2)])
def test_a_source_by_name_or_index(source, index):
    Path("path.csv").write_text("source,target\na,b\nb,c\n")
    command = f"data --graph path.csv --source {source} --algorithm bfs --out own.npz"
    assert main(words(command)) == 0
    assert load_dataset("own.npz").graphs.source.tolist() == [index]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--algorithm dijkstr", "unknown algorithm 'dijkstr' (did you mean 'dijkstra'?)"),
        ("--family gird", "unknown graph family 'gird' (did you mean 'grid'?)"),
        ("--preset samll", "unknown preset 'samll' (did you mean 'small'?)"),
        ("--family grid --num-nodes 23 --algorithm bfs", "num_nodes is 23; expected a product"),
        ("--num-nodes 1", "num_nodes is 1; expected at least 2"),
        ("--num-graphs 0", "num_graphs is 0; expected at least 1"),
        ("--seed -1", "seed is -1; expected at least 0"),
        ("--family ba --num-nodes 4", "attachments is 4 and num_nodes is 4"),
        ("--family er er", "each of them once"),
        ("--preset paper --num-nodes 8", "--preset and --num-nodes cannot be combined"),
        ("--graph a.csv --seed 3", "--graph and --seed cannot be combined"),
        ("--statistics a.npz --out b.npz", "--statistics and --out cannot be combined"),
        ("--preset paper --graph a.csv", "--preset and --graph cannot be combined"),
        ("--preset small --task bfs dijkstra", "task 'bfs' with a preset of random families"),
        ("--source 2", "add --graph FILE"),
        ("--out x.npz", "x.npz can hold one dataset with the traces of one algorithm"),
        ("--preset small --algorithm bfs --out x.npz", "set --out to a folder"),
        ("--algorithm bfs --out none/x.npz", "there is no folder none; create it first"),
        ("--algorithm bfs --out file/x.npz", "file is a file, not a folder"),
        ("--algorithm bfs --out folder.npz", "it is a folder; name a file in it"),
        ("--algorithm bfs --num-graphs 2 --out file", "file is a file; name a folder"),
        ("--statistics none.npz", "there is no file none.npz"),
        ("--statistics file", "file does not end in .npz; expected a data file"),
        ("--graph none.csv", "none.csv"),
        ("--num-nodes 2001 --num-graphs 1 --algorithm bfs", "above 2000 nodes"),
    ],
)
def test_mistakes(options, message, capsys, tmp_path):
    (tmp_path / "file").write_text("text")
    (tmp_path / "folder.npz").mkdir()
    assert main(["data", *words(options)]) == 2
    captured = capsys.readouterr()
    *before, said = captured.err.splitlines()
    assert said.startswith("error: ")
    assert before in ([], ["making graphs and traces …"], ["reading graphs …"])
    assert message in captured.err
    assert captured.out == ""
    assert sorted(os.listdir()) == ["file", "folder.npz"]
    assert os.listdir("folder.npz") == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--graph directed.csv --algorithm bfs prim", "directed.csv: prim needs undirected"),
        (
            "--preset clrs30 --task mst_prim dag_shortest_paths --algorithm prim",
            "dag_shortest_paths/train: prim needs undirected graphs",
        ),
    ],
)
def test_no_file_is_written_if_an_algorithm_does_not_fit(options, message, capsys):
    Path("directed.csv").write_text("from,to,weight\na,b,0.4\nb,a,0.3\n")
    assert main(["data", *words(options), "--out", "own"]) == 2
    assert message in capsys.readouterr().err
    assert os.listdir() == ["directed.csv"]


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_no_permission(tmp_path, capsys):
    tmp_path.chmod(0o500)
    assert main(words("data --algorithm bfs --out x.npz")) == 2
    assert "no permission; choose another path" in capsys.readouterr().err


def test_list_shows_every_name(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["list"]) == 0
    text = capsys.readouterr().out
    for name in ("reliable_seq", "Most reliable path (parallel)", "grid", "5000 × 20", "max_mpnn"):
        assert name in text
    names = [model.name for model in list_models()]
    assert all(f"{name} " in text for name in names)  # to be copied, in one piece
    assert "next  algotransfer data" in text
