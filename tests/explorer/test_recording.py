"""What is shown is what evaluation measures, and nothing of the truth slips in."""

import dataclasses

import jax
import numpy as np
import pytest

from algotransfer.algorithms import run
from algotransfer.errors import UserError
from algotransfer.evaluation.evaluation_batch import EvaluationBatch
from algotransfer.evaluation.execute import execute
from algotransfer.explorer import recording
from algotransfer.explorer.recording import record_execution
from algotransfer.graphs import sample_graphs
from algotransfer.training import load_model

KINDS = {
    "tf": {"target": "dfs", "supervision": "tf"},  # whose keys have a unit
    "parallel tf": {"target": "bellman_ford", "supervision": "tf"},
    "bits": {"target": "bfs", "supervision": "tf"},
    "multitask": {"target": "dijkstra", "method": "multitask", "base": ("prim",)},
}
GRAPH = sample_graphs("er", 4, 9, seed=3, split="test")[1]


# The other kinds are held against evaluation's metrics in test_comparison.py.
@pytest.mark.parametrize("kind", ["tf", "parallel tf", "multitask"])
def test_steps_are_those_of_the_evaluation(model, kind):
    trained = model(**KINDS[kind])
    seen = record_execution(trained, GRAPH).execution
    batch = jax.tree.map(lambda leaf: np.asarray(leaf)[None], GRAPH)
    batch = EvaluationBatch.prepare(trained.networks, [0], trained.experiment, batch)
    wanted = batch.execute(np.array([0]))
    wanted = jax.tree.map(lambda leaf: np.asarray(leaf)[0, 0], wanted)

    algorithm, unit = batch.target.algorithm, batch.target.algorithm.unit(9)
    assert np.allclose(seen.key[-1] / unit, wanted.key[-1], rtol=1e-5, atol=1e-6)
    if not batch.target.supervision.told_steps and algorithm.sequential:
        assert np.array_equal(seen.chosen, wanted.chosen)
        for step, node in enumerate(wanted.chosen):
            assert (seen.pred[step + 1 :, node] == wanted.pointer[step, node]).all()
            assert (seen.pred[: step + 1, node] == -1)[1:].all()
        assert np.allclose(seen.stop, jax.nn.sigmoid(wanted.stop), atol=1e-5)
    else:
        held = seen.held[-1]
        assert np.array_equal(seen.pred[-1][held], wanted.pointer[-1][held])
    steps = int(run(algorithm, GRAPH).length) if "na" in trained.experiment.supervision else 9
    assert seen.num_steps == steps


def test_bits_have_no_pointers(model):
    seen = record_execution(model(**KINDS["bits"]), GRAPH).execution
    assert (seen.pred[1:] == -1).all()  # which of several equal parents is listed is not learned
    assert set(np.unique(seen.key)) <= {0.0, 1.0}


@pytest.mark.parametrize("kind", ["tf", "multitask"])
def test_probabilities_belong_to_the_choices(model, kind):
    seen = record_execution(model(**KINDS[kind]), GRAPH).execution
    assert np.allclose(seen.probability.sum(axis=1), 1, atol=1e-5)
    assert np.array_equal(np.argmax(seen.probability, axis=1), seen.chosen)
    assert (seen.probability[seen.visited[:-1]] == 0).all()
    assert len(set(seen.chosen.tolist())) == seen.num_steps  # no node is visited twice


def test_nothing_but_the_two_numbers_is_read(model, monkeypatch):
    trained = model(**KINDS["multitask"])
    before = record_execution(trained, GRAPH).execution
    honest = recording.first_and_last

    def corrupted(algorithm, graphs):
        ends = honest(algorithm, graphs)
        key = ends.key.copy()
        key[:, -1] = np.where(key[:, -1] == key[:, -1].max(), key[:, -1], 0.123)
        pred = ends.pred.copy()
        pred[:, -1] = 7
        visited = ends.visited.copy()
        visited[:, -1] = False
        return dataclasses.replace(ends, key=key, pred=pred, visited=visited)

    monkeypatch.setattr(recording, "first_and_last", corrupted)
    after = record_execution(trained, GRAPH).execution
    assert np.array_equal(before.key, after.key)
    assert np.array_equal(before.pred, after.pred)


def test_a_blind_run_is_that_of_execute(model):
    trained = model(**KINDS["multitask"])
    recorded, answer = record_execution(trained, GRAPH, blind=True), execute(trained, GRAPH)
    assert np.array_equal(recorded.execution.pred[-1], answer.pred)
    assert np.allclose(recorded.execution.key[-1], answer.key, rtol=1e-5)
    assert recorded.execution.num_steps == answer.steps == 8  # the longest training rollout
    assert recorded.infinity == answer.infinity
    assert "told nothing" in recorded.told
    assert "read after step 8 (horizon)" in recorded.told


def test_the_halting_rule_ends_the_recorded_steps(model):
    trained = model(**KINDS["multitask"])
    told = record_execution(trained, GRAPH)
    horizon, settled = (record_execution(trained, GRAPH, halt=h) for h in ("horizon", "settled"))
    assert horizon.execution.num_steps == 8
    assert np.array_equal(horizon.execution.pred, told.execution.pred[:9])
    assert "number of steps" in told.told
    assert "number of steps" not in horizon.told
    assert settled.told.endswith(f"after step {settled.execution.num_steps} (settled).")
    with pytest.raises(UserError, match="choose termination"):
        record_execution(model(**KINDS["tf"]), GRAPH, halt="horizon")


def test_what_the_network_does_not_hold_is_not_shown(model):
    seen = record_execution(model(**KINDS["tf"]), GRAPH).execution
    assert np.array_equal(seen.held[1:], seen.visited[1:])
    assert seen.held[0].sum() == 1
    carried = record_execution(model(**KINDS["multitask"]), GRAPH).execution
    assert carried.held[1:].all()


def test_every_seed_can_be_watched():
    trained = load_model("ne-dijkstra-tf")
    first, last = (record_execution(trained, GRAPH, seed=seed) for seed in (0, 2))
    assert first.seed == 0
    assert last.seed == 2
    assert not np.array_equal(first.execution.key, last.execution.key)
    with pytest.raises(ValueError, match="no seed 9"):
        record_execution(trained, GRAPH, seed=9)
