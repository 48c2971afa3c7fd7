"""Seeds side by side in one program: each stops for itself, and none can hurt another."""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from algotransfer.datasets import make_dataset
from algotransfer.experiment import Experiment
from algotransfer.training.examples import make_examples
from algotransfer.training.program import start_seeds

EXPERIMENT = Experiment(
    target="bellman_ford", supervision="tf", hidden=4, batch_size=8, patience=2, max_epochs=50
)
SEEDS = (0, 1, 2)


@pytest.fixture(scope="module")
def data():
    program, _ = start_seeds(EXPERIMENT, SEEDS)
    return tuple(
        make_examples(program.tasks, make_dataset("er", count, 6, split=split), "instance")
        for split, count in (("train", 24), ("validation", 8))
    )


@pytest.fixture(scope="module")
def epoch(data):
    program, _ = start_seeds(EXPERIMENT, SEEDS)
    compiled = jax.jit(jax.vmap(program.epoch, in_axes=(0, None, None)))
    return lambda states: compiled(states, *data)


@functools.cache
def start():
    return start_seeds(EXPERIMENT, SEEDS)[1]


def of_seed(states, k):
    return [np.asarray(leaf)[k] for leaf in jax.tree.leaves(states)]


def same(ours, theirs):
    return all(
        np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
        for a, b in zip(ours, theirs, strict=True)
    )


@pytest.mark.slow
def test_a_diverging_seed_is_recorded_and_does_not_hurt_the_others(epoch):
    poisoned = start()
    poisoned = eqx.tree_at(
        lambda states: states.network.edge, poisoned, poisoned.network.edge.at[1].set(jnp.nan)
    )
    healthy, _ = epoch(start())
    after, report = epoch(poisoned)
    assert after.diverged.tolist() == [False, True, False]
    assert after.stopped.tolist() == [False, True, False]
    assert np.isfinite(np.asarray(report["train_loss"])).tolist() == [True, False, True]
    for k in (0, 2):
        assert same(of_seed(after, k), of_seed(healthy, k))
    later, _ = epoch(after)
    assert same(of_seed(later, 1), of_seed(after, 1))  # ended: nothing changes any more
    assert later.epoch.tolist() == [2, 1, 2]
    # Its best weights are those it had before anything went wrong.
    assert np.isfinite(np.asarray(later.best.processors[0].message[1])).all()


def test_the_best_weights_are_kept_by_value_and_patience_ends_a_seed(epoch):
    unbeatable = eqx.tree_at(
        lambda states: states.best_loss, start(), jnp.array([0.0, jnp.inf, jnp.inf])
    )
    first, _ = epoch(unbeatable)
    assert first.wait.tolist() == [1, 0, 0]
    assert same(of_seed(first.best, 0), of_seed(unbeatable.best, 0))
    assert not same(of_seed(first.network, 0), of_seed(unbeatable.network, 0))
    assert same(of_seed(first.best, 1), of_seed(first.network, 1))
    second, _ = epoch(first)
    assert second.stopped.tolist() == [True, False, False]
    third, _ = epoch(second)
    assert same(of_seed(third, 0), of_seed(second, 0))
    assert third.best_loss[0] == 0.0


def test_the_same_states_give_the_same_epoch_to_the_last_bit(epoch):
    (ours, report), (theirs, again) = epoch(start()), epoch(start())
    assert all(same(of_seed(ours, k), of_seed(theirs, k)) for k in range(3))
    assert all(np.array_equal(report[name], again[name]) for name in report)


def test_a_seed_does_not_depend_on_its_company(epoch, data):
    program, alone = start_seeds(EXPERIMENT, (2,))
    alone, _ = jax.jit(jax.vmap(program.epoch, in_axes=(0, None, None)))(alone, *data)
    together, _ = epoch(start())
    for ours, theirs in zip(of_seed(alone, 0), of_seed(together, 2), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)


def test_seeds_differ(epoch):
    states, report = epoch(start())
    assert len(set(np.asarray(report["train_loss"]).tolist())) == 3
    assert not same(of_seed(states.network, 0), of_seed(states.network, 1))
