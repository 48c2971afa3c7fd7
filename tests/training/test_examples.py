"""What a program trains on: traces padded to one length, and answers that must last."""

import dataclasses

import jax
import numpy as np
import pytest

from algotransfer import Experiment, make_dataset
from algotransfer.errors import UserError
from algotransfer.experiment import MAX_EXTRA_STEPS
from algotransfer.training.examples import make_examples, tasks_of, typical_infinity

TOGETHER = Experiment(model="ne++", target="dijkstra", method="multitask", base=("prim",))


@pytest.fixture(scope="module")
def dataset():
    return make_dataset(("er", "grid"), num_graphs=8, num_nodes=8, seed=1)


def test_an_answer_must_last_none_to_so_many_steps(dataset):
    tasks = tasks_of(TOGETHER)
    plain = make_examples(tasks, dataset, "instance")
    longer = make_examples(tasks, dataset, "instance", extra_steps=3)
    (base, target), (long_base, long_target) = plain.truths, longer.truths
    assert longer.num_steps == np.max(target.length) + 3 == long_target.key.shape[1] - 1
    more = np.asarray(long_target.length - target.length)
    assert set(more.tolist()) == {0, 1, 2, 3}
    np.testing.assert_array_equal(long_base.length, base.length)  # shown step by step
    for short, long in ((base, long_base), (target, long_target)):
        steps = short.key.shape[1]
        for name in ("key", "pred", "visited"):
            before, after = np.asarray(getattr(short, name)), np.asarray(getattr(long, name))
            np.testing.assert_array_equal(after[:, :steps], before)
            np.testing.assert_array_equal(after[:, steps:], np.repeat(before[:, -1:], 3, axis=1))


def test_without_it_nothing_changes(dataset):
    """Names, hashes and numbers of experiments that do not ask for it."""
    assert "extra_steps" not in TOGETHER.to_json()
    extended = dataclasses.replace(TOGETHER, extra_steps=3)
    assert Experiment.from_json(extended.to_json()) == extended
    assert extended.name == f"{TOGETHER.name}-extra3"
    same = jax.tree.map(
        np.array_equal,
        make_examples(tasks_of(TOGETHER), dataset, "instance"),
        make_examples(tasks_of(TOGETHER), dataset, "instance", extra_steps=0),
    )
    assert all(jax.tree.leaves(same))


def test_a_base_is_the_same_for_all():
    transfer = Experiment(method="freeze", base=("prim",), extra_steps=5)
    assert transfer.pretraining() == Experiment(target="prim", supervision="tf")


@pytest.mark.parametrize("extra_steps", [-1, MAX_EXTRA_STEPS + 1])
def test_steps_out_of_range_are_refused(extra_steps):
    with pytest.raises(ValueError, match=rf"extra_steps={extra_steps}; expected 0 to"):
        Experiment(extra_steps=extra_steps)


def test_the_largest_infinity_is_a_number_that_a_card_can_hold(dataset):
    largest = float(np.finfo(np.float32).max)
    assert typical_infinity(tasks_of(TOGETHER), dataset, largest) == [largest, largest]


def test_an_infinity_that_no_card_can_hold_is_refused(dataset):
    (task,) = tasks_of(Experiment(target="dijkstra"))
    algorithm = dataclasses.replace(
        task.algorithm, stand_in=lambda final_key: -final_key[..., 0] - 1
    )
    with pytest.raises(UserError, match="stands for ∞ in dijkstra is -.* on average over"):
        typical_infinity((task._replace(algorithm=algorithm),), dataset, "instance")
