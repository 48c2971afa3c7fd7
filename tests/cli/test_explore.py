"""`algotransfer explore`: one command, one file."""

import json
import re

from algotransfer.cli import main
from algotransfer.evaluation.harness import FreeRun


def scene(path):
    [text] = re.findall(r'id="data">(.*?)</script>', path.read_text(encoding="utf-8"), re.S)
    return json.loads(text)


def test_an_algorithm_alone(tmp_path, capsys):
    out = tmp_path / "a.html"
    words = ["--family", "grid", "--num-nodes", "12", "--seed", "3", "--source", "5"]
    assert main(["explore", *words, "--algorithm", "bfs", "dfs", "--out", str(out)]) == 0
    assert f"wrote {out}" in capsys.readouterr().out.replace("\n", "")
    data = scene(out)
    assert data["title"] == "grid graph of 12 nodes, seed 3"
    assert data["graph"]["source"] == 5
    assert [each["name"] for each in data["algorithms"]] == ["bfs", "dfs"]


def test_models_on_a_graph_of_the_user(tmp_path, capsys):
    path, out = tmp_path / "huts.csv", tmp_path / "b.html"
    path.write_text("source,target,weight\nvalley,lake,0.35\nvalley,mill,0.3\nlake,mill,0.4\n")
    words = ["--graph", str(path), "--source", "lake", "--blind", "--model-seed", "1"]
    assert main(["explore", "ne-dijkstra-tf", *words, "--out", str(out)]) == 0
    assert f"wrote {out}" in capsys.readouterr().out.replace("\n", "")
    data = scene(out)
    assert data["title"] == "huts.csv"
    assert data["graph"]["names"][data["graph"]["source"]] == "lake"
    [model] = data["models"]
    assert (model["label"], model["seed"]) == ("NE tf", 1)
    assert data["blind"]
    assert data["live"]


def test_networks_of_the_package_are_not_compiled(tmp_path, monkeypatch):
    def refuse(*arguments):
        raise AssertionError("a network ran in Python")

    monkeypatch.setattr(FreeRun, "run", refuse)
    out = tmp_path / "c.html"
    assert main(["explore", "ne-dijkstra-tf", "ne++-dijkstra-na", "--out", str(out)]) == 0
    assert len(scene(out)["models"]) == 2


def test_mistakes_get_a_sentence(tmp_path, capsys):
    for words, said in {
        ("--out", "x.txt"): "expected a name that ends in .html",
        ("--family", "tree"): "unknown graph family 'tree'",
        ("--algorithm", "dijkstar"): "did you mean 'dijkstra'?",
        ("--source", "lake"): "nodes of a sampled graph are numbers",
        ("--source", "99"): "no node is named 99",
        ("--graph", "a.csv", "--num-nodes", "9"): "--num-nodes samples a graph; leave it out",
        ("no-such-model",): "no-such-model is neither a run folder",
    }.items():
        assert main(["explore", *words]) == 2
        assert said in capsys.readouterr().err.replace("\n", " ")
