"""With --json the standard output is one JSON document, with the numbers of the tables."""

import json

import pytest

from algotransfer.cli import main
from algotransfer.cli.console import output, print_json


@pytest.fixture
def document(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "path.csv").write_text("source,target,weight\na,b,0.5\nb,c,0.25\nd,e,0.5\n")

    def run(command):
        assert main([*command.split(), "--json"]) == 0
        assert not output.quiet
        return json.loads(capsys.readouterr().out)

    return run


def test_list(document):
    names = document("list")
    assert {"algorithms", "families", "networks", "models"} < set(names)
    assert names["algorithms"][0]["name"] == "bfs"
    models = document("list models --target dijkstra")["models"]
    assert {model["target"] for model in models} == {"dijkstra"}
    assert {"name": "relax-dijkstra", "target": "dijkstra", "seeds": 5} in models


def test_data(document):
    shown = document("data --algorithm bfs --num-graphs 3 --num-nodes 6 --out x.npz")
    assert shown["files"] == ["x.npz"]
    (graphs,) = shown["graphs"]["train"]
    assert (graphs["family"], graphs["graphs"], graphs["nodes"]) == ("er", 3, 6)
    assert document("data --statistics x.npz")["graphs"]["x.npz"] == [graphs]


def test_execute(document):
    answer = document("execute relax-dijkstra path.csv")
    assert (answer["reached"], answer["worse"]) == (3, 0)
    by_name = {row["node"]: row for row in answer["nodes"]}
    assert by_name["c"]["predecessor"] == "b"
    assert by_name["c"]["true key"] == pytest.approx(0.75)
    assert by_name["d"]["true key"] is None  # ∞


def test_evaluate(document):
    shown = document("evaluate relax-dijkstra --num-nodes 6 --num-graphs 2 --family er")
    (line,) = [
        line for line in shown["summary"] if (line["row"], line["metric"]) == ("network", "pred")
    ]
    assert (line["median"], line["num_seeds"]) == (0, 5)


@pytest.mark.parametrize("command", ["reproduce --table seq-na", "sweep --model ne ne++"])
def test_steps(document, command):
    steps = document(f"{command} --dry-run")
    assert all(step["step"].startswith(("train", "evaluate")) for step in steps)
    assert not any(step["finished"] for step in steps)


def test_mistakes_leave_the_standard_output_empty(capsys):
    assert main(["evaluate", "ne-dijkstraa", "--json"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "did you mean" in said.err


def test_values_that_json_does_not_have(capsys):
    print_json({"a": float("inf"), "b": (float("nan"), 1)})
    assert json.loads(capsys.readouterr().out) == {"a": None, "b": [None, 1]}
