"""Halting rules: the step they read, and the numbers that evaluation makes of it."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from algotransfer import evaluate, load_model, make_dataset
from algotransfer.errors import UserError
from algotransfer.evaluation import HALTING_RULES, evaluate_by_step
from algotransfer.evaluation.halting import PATIENCE, read_at
from algotransfer.evaluation.harness import Execution
from algotransfer.evaluation.horizon import training_horizon

GRAPHS = [make_dataset(("er", "grid"), 3, 12, split="test")]
STEPS = 20


def execution(changes, stop=None):
    """Pointers of three nodes that change at the given steps only."""
    pointer = np.cumsum(np.isin(np.arange(1, STEPS + 1), changes))[:, None] + np.zeros(3, int)
    return Execution(
        key=jnp.arange(STEPS * 3.0).reshape(STEPS, 3),
        pointer=jnp.asarray(pointer, jnp.int32),
        stop=jnp.full(STEPS, -1.0) if stop is None else jnp.asarray(stop),
    )


@pytest.mark.parametrize(
    ("changes", "step"),
    [
        ([], 1 + PATIENCE),
        ([2, 3], 3 + PATIENCE),
        ([2, 2 + PATIENCE, 3 + PATIENCE], 2 * PATIENCE + 3),
        (range(2, STEPS + 1), STEPS),  # never settles: the last step
    ],
)
def test_settled_reads_once_nothing_has_changed_for_a_while(changes, step):
    one, got = read_at("settled", execution(changes), 7, 0)
    assert int(got) == step
    assert one.key.tolist() == [[3.0 * (step - 1), 3.0 * (step - 1) + 1, 3.0 * (step - 1) + 2]]


def test_other_rules_read_the_step_of_their_name():
    stop = np.where(np.arange(STEPS) >= 8, 1.0, -1.0)
    for halt, step in (("told", 7), ("horizon", 5), ("termination", 9)):
        assert int(read_at(halt, execution([], stop), 7, 5)[1]) == step
    assert int(read_at("horizon", execution([]), 7, 50)[1]) == STEPS  # no more were recorded
    assert int(read_at("termination", execution([]), 7, 0)[1]) == STEPS  # never stops


@pytest.fixture(scope="module")
def model():
    return load_model("ne++-dijkstra-na")


def predecessor_errors(frame):
    chosen = frame[(frame["row"] == "network") & (frame["metric"] == "pred") & frame["hop"].isna()]
    return chosen.set_index(["seed", "family"])["value"].sort_index()


# Mean errors over families on `GRAPHS`, seeds 0 to 2, as first measured: keys, then predecessors.
KNOWN_ERRORS = {
    ("ne++-dijkstra-na", "network"): [0.07043, 0.016616, 0.046459, 0.430556, 0.083333, 0.362374],
    ("ne-bellman_ford-tf", "masked"): [0.000132, 0.000105, 0.0000985, 0.002315, 0, 0],
    ("ne-bellman_ford-tf", "network"): [0.05582, 0.048828, 0.0245335, 0.092382, 0.08712, 0.066261],
}


@pytest.mark.parametrize("weights", ["ne++-dijkstra-na", "ne-bellman_ford-tf"])
def test_told_and_masked_keep_their_numbers(weights):
    frame = evaluate(weights, GRAPHS)
    frame = frame[frame["hop"].isna() & frame["metric"].isin(["key", "pred"])]
    means = frame.groupby(["row", "metric", "seed"])["value"].mean()
    for (name, row), errors in KNOWN_ERRORS.items():
        if name == weights:
            np.testing.assert_allclose(means[row], errors, rtol=1e-2, atol=1e-6)


@pytest.mark.slow
def test_errors_by_step_hold_the_errors_of_every_rule(model):
    by_step = evaluate_by_step(model, GRAPHS)
    assert set(by_step["step"]) == set(range(1, 43))  # 12 nodes and 30 steps more
    at = by_step.set_index(["step", "seed", "family"])["value"]
    horizon = evaluate(model, GRAPHS, halt="horizon")
    np.testing.assert_allclose(
        predecessor_errors(horizon), at[training_horizon(model)].sort_index()
    )
    lengths = np.asarray(GRAPHS[0].trace("dijkstra").length)
    if len(set(lengths.tolist())) == 1:
        told = predecessor_errors(evaluate(model, GRAPHS))
        np.testing.assert_allclose(told, at[lengths[0]].sort_index())


def test_the_fast_path_of_told_reads_what_the_recorded_steps_hold(model):
    """`told` keeps the last step of the scan alone; the recorded steps give the same numbers."""
    from algotransfer.evaluation.evaluation_batch import EvaluationBatch

    prepared = EvaluationBatch.prepare(model, GRAPHS[0].graphs)
    index = np.arange(len(GRAPHS[0]))
    fast = prepared.run.run(GRAPHS[0].graphs, index, "last")
    steps = prepared.run.run(GRAPHS[0].graphs, index, "steps")
    length = np.asarray(prepared.end.length)
    pointer = np.asarray(steps.pointer)[:, index, length - 1]
    np.testing.assert_array_equal(np.asarray(fast.pointer)[:, :, 0], pointer)


def test_the_horizon_is_the_longest_training_rollout(model):
    assert training_horizon(model) == 20
    experiment = dataclasses.replace(model.experiment, extra_steps=10)
    assert training_horizon(dataclasses.replace(model, experiment=experiment)) == 30
    recorded = dataclasses.replace(model, card={**model.card, "horizon": 17})
    assert training_horizon(recorded) == 17


@pytest.mark.parametrize(
    ("weights", "halt", "sentence"),
    [
        ("ne-dijkstra-na", "termination", "choose told, horizon or settled"),
        ("ne-dijkstra-tf", "settled", "it predicts its own termination, so leave halt out"),
        ("ne-dijkstra-na", "setled", "did you mean 'settled'"),
    ],
)
def test_rules_that_do_not_fit_are_refused(weights, halt, sentence):
    with pytest.raises(UserError, match=sentence):
        evaluate(weights, GRAPHS, halt=halt)


def test_every_rule_is_a_function_of_recorded_steps():
    for halt in HALTING_RULES:
        assert jax.eval_shape(lambda e, h=halt: read_at(h, e, 3, 3)[1], execution([])).shape == ()
