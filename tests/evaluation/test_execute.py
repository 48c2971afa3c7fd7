"""`execute` on people's own graphs: nothing of the answer is read, and both answers are told."""

import dataclasses
from functools import cache

import numpy as np
import pytest

from algotransfer.cli import main
from algotransfer.datasets import Preset, make_splits
from algotransfer.evaluation.execute import execute
from algotransfer.experiment import Experiment
from algotransfer.graphs import read_graph, sample_graphs
from algotransfer.training import train

pytestmark = pytest.mark.usefixtures("quick_to_compile")
TINY = Preset(family=("er",), train=32, validation=8, test=4, num_nodes=8, test_sizes=(8,))
HORIZON = 5  # steps of Bellman–Ford on the training graphs
FAST = Experiment(target="dijkstra", hidden=4, batch_size=16, max_epochs=1, trajectories=2)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder, splits = tmp_path_factory.mktemp("runs"), make_splits(TINY)
    changes = {
        "na": {},
        "tf": {"supervision": "tf"},
        "parallel": {"supervision": "tf", "target": "bellman_ford"},
        "multitask": {"target": "bellman_ford", "method": "multitask", "base": ("bfs",)},
    }

    @cache
    def trained(name):
        experiment = dataclasses.replace(FAST, **changes[name])
        return train(experiment, 2, data=splits, folder=folder, show=False)[0]

    return trained


@pytest.mark.parametrize(
    "name",
    ["na", "tf", *(pytest.param(n, marks=pytest.mark.slow) for n in ("parallel", "multitask"))],
)
def test_every_kind_of_model_answers(runs, name):
    graph = sample_graphs("er", 1, 11, seed=5)[0]
    answer = execute(runs(name), graph)
    told_nothing = {"na": 8, "multitask": HORIZON}  # the longest training rollout
    assert answer.steps == told_nothing.get(name, 11)
    assert answer.key.shape == answer.pred.shape == (11,)
    weights = np.asarray(graph.adjacency()) | np.eye(11, dtype=bool)
    assert weights[np.arange(11), answer.pred].all()  # pointers go along edges or to oneself
    assert answer.true_pred[int(graph.source)] == int(graph.source)
    again = execute(runs(name), graph, seed=0)
    assert np.array_equal(again.key, answer.key)
    other = execute(runs(name), graph, seed=1)
    assert not np.array_equal(other.key, answer.key)


def test_the_answer_depends_on_steps_and_infinity(runs):
    graph = sample_graphs("er", 1, 9, seed=1)[0]
    default = execute(runs("na"), graph)
    assert not np.array_equal(execute(runs("na"), graph, steps=2).key, default.key)
    assert not np.array_equal(execute(runs("na"), graph, infinity=50.0).key, default.key)


@pytest.mark.slow
def test_steps_beyond_the_last_node_change_nothing(runs):
    for graph in map(sample_graphs("er", 8, 9).__getitem__, range(8)):  # of one shape
        exact, more = (execute(runs("tf"), graph, steps=steps) for steps in (9, 25))
        assert np.array_equal(exact.pred, more.pred)


def test_a_graph_of_one_node(runs, tmp_path):
    path = tmp_path / "one.csv"
    path.write_text("source,target,weight\nalone,,\n")
    answer = execute(runs("na"), read_graph(path).graph)
    assert answer.pred.tolist() == [0]
    assert answer.true_key.tolist() == [0.0]


def test_mistakes_are_answered_by_sentences(runs):
    graphs = sample_graphs("er", 2, 9)
    with pytest.raises(ValueError, match=r"expected a single graph, not a batch of shape \(2,\)"):
        execute(runs("na"), graphs)
    with pytest.raises(ValueError, match="steps=0; expected 1 to"):
        execute(runs("na"), graphs[0], steps=0)
    with pytest.raises(ValueError, match="steps=3 and halt='horizon' both say when"):
        execute(runs("na"), graphs[0], steps=3, halt="horizon")
    with pytest.raises(ValueError, match="no seed 7; this model has seeds"):
        execute(runs("na"), graphs[0], seed=7)


def test_the_command_writes_both_answers(runs, tmp_path, capsys):
    path = tmp_path / "graph.csv"
    path.write_text("source,target,weight\na,b,0.5\nb,c,0.25\na,c,0.9\n1,c,0.4\n")
    run, csv, graphml = str(runs("na")), tmp_path / "out.csv", tmp_path / "out.graphml"
    assert main(["execute", run, str(path), "--source", "c", "--out", str(csv)]) == 0
    shown = capsys.readouterr().out
    assert "Dijkstra from c, seed 0" in shown
    assert "in place of ∞; the network saw nothing of the" in shown
    lines = csv.read_text().splitlines()
    assert lines[0] == "node,predecessor,true predecessor,key,true key"
    assert [line.split(",")[2] for line in lines[1:]] == ["b", "c", "c", "c"]
    assert main(["execute", run, str(path), "--source", "1", "--out", str(graphml)]) == 0
    assert "true_predecessor" in graphml.read_text()
    assert "Dijkstra from 1" in capsys.readouterr().out  # the name wins over the index
    assert main(["execute", run, str(path), "--source", "0"]) == 0
    assert "Dijkstra from a" in capsys.readouterr().out
    assert main(["execute", run, str(path), "--source", "zz"]) == 2
    assert main(["execute", run, str(path), "--out", "x.txt"]) == 2
    assert "ends in .csv or .graphml" in capsys.readouterr().err


def test_names_of_nodes_are_shown_as_they_are(runs, tmp_path, capsys):
    path = tmp_path / "graph.csv"
    path.write_text("source,target,weight\n[/b],a[red]b,0.5\na[red]b,:car:,0.25\n:car:,d,0.9\n")
    assert main(["execute", str(runs("na")), str(path), "--source", "[/b]"]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in ("from [/b], seed", "a[red]b", ":car:"))
