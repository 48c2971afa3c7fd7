"""Training on tasks of CLRS-30, on directed graphs too."""

import warnings

import pytest

from algotransfer import Experiment, evaluate, train
from algotransfer.datasets import make_test_sets
from algotransfer.evaluation.clrs_scores import clrs_scores
from algotransfer.files import Notice


@pytest.mark.slow
def test_train_and_score(tmp_path):
    experiment = Experiment(model="relax", target="dag_shortest_paths", max_epochs=2)
    _, model = train(experiment, 1, data="clrs30", folder=tmp_path, show=False)
    assert model.card["data"]["train"]["task"] == "dag_shortest_paths"
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # weights of one distribution need no notice
        frame = evaluate(model, make_test_sets("clrs30", task="dag_shortest_paths"))
        (score,) = clrs_scores(model)["score"]
    with pytest.warns(Notice, match="the model was validated on 32 of these 32 graphs") as notices:
        clrs_scores(model, split="validation")  # as many nodes as in training
    assert len(notices) == 1
    rows = frame[(frame["metric"] == "micro_f1") & (frame["row"] == "network")]
    assert score == pytest.approx(rows[rows["hop"].isna()]["value"].item())
