"""The research on the relaxation executor: its variants run, its table is kept and added to."""

import itertools
import json
import sys

import jax
import numpy as np
import pandas
import pytest
import relax_research
from relax_variants import VARIANTS

from algotransfer.algorithms import get_algorithm, run
from algotransfer.datasets import make_dataset
from algotransfer.evaluation.evaluate import COLUMNS
from algotransfer.experiment import Experiment
from algotransfer.graphs.graph import resize_graphs
from algotransfer.networks import MODELS, RelaxationExecutor
from algotransfer.training.examples import make_examples, tasks_of
from algotransfer.training.objective import draw_noise, objective
from algotransfer.training.program import start_seeds
from algotransfer.training.runs import Model


def test_added_nodes_change_no_answer():
    graphs = make_dataset("er", 5, 8).graphs
    plain, more = (run("reliable_seq", g) for g in (graphs, resize_graphs(graphs, 12)))
    np.testing.assert_array_equal(plain.length, more.length)
    np.testing.assert_array_equal(plain.final_key, more.final_key[:, :8])
    assert (more.pred[:, -1, 8:] == -1).all()


def test_mixed_sizes_make_as_many_graphs():
    mixed = relax_research.training_graphs((8, 12, 16, 20), 8)
    assert (len(mixed), mixed.num_nodes, mixed.families) == (24, 20, ("er", "ba", "grid"))
    assert mixed.arguments != relax_research.training_graphs((20,), 8).arguments


@pytest.fixture(scope="module")
def examples():
    tasks = tasks_of(Experiment(target="reliable_seq"))
    return tasks, make_examples(tasks, make_dataset("er", 2, 5), "instance")


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_every_variant_can_be_trained(examples, variant):
    tasks, graphs = examples

    def losses(key):
        network = variant.network.create((tasks[0].algorithm,), 4, key)
        noise = draw_noise(tasks, graphs, variant.trajectories or 2, key)
        return objective(network, tasks, graphs, noise, "best")[0]

    assert jax.eval_shape(losses, jax.random.key(0)).shape == (2,)


def test_the_winner_is_the_executor():
    (winner,) = (variant for variant in VARIANTS if variant.name == "capped-l1-0.3")
    algorithms = (get_algorithm("reliable_seq"),)
    ours, theirs = (
        network.create(algorithms, 4, jax.random.key(0)).priors(0)
        for network in (RelaxationExecutor, winner.network)
    )
    assert ours == theirs


def test_the_table_grows(monkeypatch, tmp_path, capsys):
    trained = []

    def fresh(experiment, seeds, **options):
        trained.append((experiment.target, experiment.model, experiment.trajectories))
        _, states = start_seeds(experiment, tuple(range(seeds)))
        return tmp_path, Model(experiment, tuple(range(seeds)), states.network, {})

    def errors(model, judges):
        assert [dict(judge.arguments)["split"] for judge in judges] == ["validation"]
        (nodes,) = (judge.num_nodes for judge in judges)
        places = itertools.product(("network", "random_neighbour"), model.seeds, ("er", "ba"))
        rows = [(*place, nodes, "pred", None, 0.1 + place[1]) for place in places]
        return pandas.DataFrame(rows, columns=list(COLUMNS)[:-1])

    monkeypatch.setattr(relax_research, "train", fresh)
    monkeypatch.setattr(relax_research, "evaluate", errors)
    for name in ("before", "5-trajectories"):
        monkeypatch.setitem(MODELS, name, None)  # so that it is gone afterwards
    out = tmp_path / "research.json"
    sizes = ["--seeds", "2", "--graphs", "4", "--judges", "1", "--num-nodes", "10"]
    for names in (["before"], ["before", "5-trajectories"]):
        options = ["--variant", *names, "--out", str(out), *sizes]
        monkeypatch.setattr(sys, "argv", ["relax_research.py", *options])
        relax_research.main()
    assert trained == [
        ("reliable_par", "before", 2),
        ("reliable_seq", "before", 2),
        ("reliable_seq", "5-trajectories", 5),  # a parallel algorithm samples none
    ]
    rows = json.loads(out.read_text())["rows"]
    assert [row["variant"] for row in rows] == ["before", "before", "5-trajectories"]
    assert all(row["pred"]["10"] == [0.1, 1.1] for row in rows)
    assert all(len(theta) == 5 for row in rows for theta in row["theta"])
    assert "median" in capsys.readouterr().out
