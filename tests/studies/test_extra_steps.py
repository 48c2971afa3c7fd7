"""The variants of the study on extra steps train, and differ in what they say they differ in."""

import dataclasses

import extra_steps
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from algotransfer.datasets import Splits, make_dataset
from algotransfer.supervisions import SUPERVISIONS
from algotransfer.training.examples import make_examples, tasks_of

LENGTH = np.array([20, 20, 18, 20, 16, 20])


def test_exact_steps_are_the_same_for_every_graph():
    steps = SUPERVISIONS["na_exact10"].training_steps(LENGTH, 0)
    assert np.array_equal(steps, LENGTH + 10)


def test_progressive_steps_are_true_on_every_second_graph_and_in_range_elsewhere():
    length = np.full(1000, 20)
    steps = SUPERVISIONS["na_progressive"].training_steps(length, 0)
    assert np.all(steps[::2] == 20)
    assert steps[1::2].min() >= 1
    assert steps[1::2].max() == 30
    assert len(set(steps[1::2].tolist())) > 25


@pytest.mark.parametrize("variant", ["exact10", "progressive"])
def test_variants_train(variant, monkeypatch, tmp_path):
    small = {"max_epochs": 1, "hidden": 4, "trajectories": 2, "batch_size": 8}
    experiment = dataclasses.replace(extra_steps.VARIANTS[variant], **small)
    splits = Splits(*(make_dataset("er", 16, 8, split=s) for s in ("train", "validation")), {})
    monkeypatch.setitem(extra_steps.VARIANTS, variant, experiment)
    monkeypatch.setattr(extra_steps, "make_splits", lambda name: splits)
    path = extra_steps.train_variant(variant, tmp_path, float("inf"), (0, 1))
    assert (path / "weights.npz").exists()


def test_progressive_detaches_the_first_steps():
    """The gradient of a graph that is read one step after n detached ones is that of one step."""
    (task,) = tasks_of(extra_steps.VARIANTS["progressive"])
    dataset = make_dataset("er", 4, 6)
    examples = make_examples((task,), dataset, "instance")
    truth = jax.tree.map(lambda leaf: leaf[1], examples.truths[0])
    noise = jax.random.gumbel(jax.random.key(0), (examples.num_steps, 6))
    driver = task.supervision.driver(task.algorithm, truth, noise)
    assert 0 <= int(driver.detached_steps) < int(truth.length)
    plain = dataclasses.replace(truth, length=jnp.sum(truth.visited[-1]))
    driver = task.supervision.driver(task.algorithm, plain, noise)
    assert int(driver.detached_steps) == 0
