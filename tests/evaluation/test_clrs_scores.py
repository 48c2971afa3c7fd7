"""Scores of CLRS-30, against dm-clrs' own evaluation."""

import json

import numpy as np
import pandas
import pytest
from evaluation import clrs_predictions

from algotransfer.cli import main
from algotransfer.datasets import make_dataset, make_test_sets
from algotransfer.evaluation import evaluate
from algotransfer.evaluation.clrs_scores import clrs_scores, mask_score, pointer_score
from algotransfer.experiment import Experiment
from algotransfer.training import train


@pytest.mark.parametrize("name", clrs_predictions.SCORES)
def test_scores_are_those_of_dm_clrs(name):
    predicted, truth = clrs_predictions.predictions()[name]
    score = pointer_score if name == "pointers" else mask_score
    assert score(predicted, truth) == pytest.approx(clrs_predictions.SCORES[name], abs=1e-6)


MODEL = "relax-bellman_ford"


def test_scores_of_a_model():
    scores = clrs_scores(MODEL, "bellman_ford")
    assert (scores["score"] > 0.99).all()
    frame = evaluate(MODEL, make_test_sets("clrs30", task="bellman_ford"))
    rows = frame[(frame["metric"] == "micro_f1") & frame["hop"].isna()]
    ours = rows[rows["row"] == "network"].set_index("seed")["value"]
    np.testing.assert_allclose(scores.set_index("seed")["score"], ours, atol=1e-12)
    (algorithm,) = rows[rows["row"] == "algorithm"]["value"]
    assert algorithm == 1


def test_the_diagonal_of_floyd_warshall_is_reported_apart():
    scores = clrs_scores(MODEL, "floyd_warshall", "validation")
    assert (scores["off_diagonal"] > 0.99).all()
    assert (scores["score"] < scores["off_diagonal"]).all()


def test_evaluate_prints_the_score(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["evaluate", MODEL, "--preset", "clrs30", "--task", "bfs"]) == 0
    out = capsys.readouterr().out
    assert "micro_f1" in out
    assert "Score of CLRS-30" in out
    assert main(["evaluate", MODEL, "--task", "bfs"]) == 2
    assert "--task names a task of CLRS-30; add --preset clrs30" in capsys.readouterr().err
    assert main(["evaluate", MODEL, "--preset", "clrs30", "--task", "mst_prim"]) == 2
    assert "choose one of prim, minimax_par" in capsys.readouterr().err


def test_micro_f1_is_left_out_where_predecessors_are_not_the_output(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    experiment = Experiment(model="relax", target="minimax_par", batch_size=4, max_epochs=1)
    run, _ = train(experiment, 1, data=make_dataset("er", 8, 6), show=False)
    options = ["--preset", "clrs30", "--task", "mst_prim", "--out", "table.csv"]
    assert main(["evaluate", str(run), *options]) == 0
    out = capsys.readouterr().out
    assert "Score of CLRS-30" in out
    assert "micro_f1" not in out + (tmp_path / "table.csv").read_text()


def test_the_score_is_read_by_the_halting_rule(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options = ["--preset", "clrs30", "--halt", "horizon", "--out", "table.csv", "--json"]
    assert main(["evaluate", "ne++-dijkstra", *options]) == 0
    scores = [row["score"] for row in json.loads(capsys.readouterr().out)["clrs30"]]
    frame = pandas.read_csv("table.csv")
    ours = frame[(frame["metric"] == "micro_f1") & frame["hop"].isna() & frame["seed"].notna()]
    np.testing.assert_allclose(scores, ours["value"], atol=1e-12)


def test_models_of_other_algorithms_are_refused(capsys):
    with pytest.raises(ValueError, match="unknown algorithm of the task mst_prim 'bellman_ford'"):
        clrs_scores(MODEL, "mst_prim")
    with pytest.raises(ValueError, match="predicts no predecessors, which bfs asks for"):
        clrs_scores("ne-bfs-tf", "bfs")
    with pytest.raises(ValueError, match="no task for reliable_par; choose a model of one of bel"):
        clrs_scores("relax-reliable_par")
    assert main(["evaluate", "relax-reliable_par", "--preset", "clrs30"]) == 2
    assert "bfs, dag_shortest_paths, dijkstra, minimax_par, prim, or" in capsys.readouterr().err
