"""What an epoch is made of: every graph once, batches in pieces, fixed noise in validation."""

import dataclasses
from functools import partial
from itertools import combinations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from networks.small import quick_jit
from training.small import examples_of, graphs

from algotransfer.experiment import Experiment
from algotransfer.training import program as program_module
from algotransfer.training.examples import network_of, tasks_of
from algotransfer.training.objective import objective
from algotransfer.training.program import Program
from algotransfer.training.transfer import METHODS, trainable

# So small a learning rate that weights stay as they are: what an epoch reports is then known.
STILL = Experiment(
    target="bellman_ford", supervision="tf", hidden=3, batch_size=2, learning_rate=1e-30
)
SAMPLING = dataclasses.replace(STILL, target="prim", supervision="na", trajectories=3)


def prepare(experiment, **options):
    """A program, its network and its data: six graphs."""
    tasks = tasks_of(experiment)
    network = network_of(experiment, jax.random.key(0))
    mask = trainable(METHODS[experiment.method], network)
    return Program(experiment, tasks, mask, **options), network, examples_of(tasks, graphs())


def losses_of(program, network, examples):
    """The loss of every graph."""
    run = quick_jit(partial(objective, tasks=program.tasks, noise=None, select="best"))
    total, _ = run(network, examples=examples)
    return np.asarray(total)


def test_an_epoch_sees_every_graph_once_and_is_traced_once(monkeypatch):
    traced = []

    def counted(*arguments):
        traced.append(len(arguments[2]))
        return objective(*arguments)

    monkeypatch.setattr(program_module, "objective", counted)
    program, network, examples = prepare(STILL)
    epoch = quick_jit(program.epoch)
    state = program.start(network, jax.random.key(1))
    state, report = epoch(state, examples, examples)
    mean = losses_of(program, network, examples).mean()
    np.testing.assert_allclose(report["train_loss"], mean, rtol=1e-5)
    np.testing.assert_allclose(report["validation_loss"], mean, rtol=1e-5)
    parts = [report[f"train_0_{name}"] for name in ("key", "predecessor", "termination")]
    np.testing.assert_allclose(sum(parts), mean, rtol=1e-5)

    first = list(traced)
    assert set(first) == {2, 6}  # a batch in training, all graphs in validation
    other = examples[jnp.array([3, 3, 2, 1, 0, 5])]
    epoch(state, other, examples)
    epoch(program.start(network, jax.random.key(2)), examples, other)
    assert traced == first  # other data, other weights: the same program
    assert epoch._cache_size() == 1


@pytest.mark.slow
def test_the_remainder_of_an_epoch_is_dropped_and_another_one_each_time():
    program, network, examples = prepare(dataclasses.replace(STILL, batch_size=4))
    losses = losses_of(program, network, examples)
    means = [np.mean(losses[list(chosen)]) for chosen in combinations(range(6), 4)]
    epoch = quick_jit(program.epoch)
    state = program.start(network, jax.random.key(1))
    seen = set()
    for _ in range(4):
        state, report = epoch(state, examples, examples)
        distance = np.abs(means - np.asarray(report["train_loss"]))
        assert distance.min() < 1e-5 * losses.max()
        seen.add(int(distance.argmin()))
    assert len(seen) > 1
    assert state.epoch == 4


@pytest.mark.slow
def test_validation_noise_is_the_same_in_every_epoch():
    program, network, examples = prepare(SAMPLING)
    epoch = quick_jit(program.epoch)
    state = program.start(network, jax.random.key(1))
    reports = []
    for _ in range(2):
        state, report = epoch(state, examples, examples)
        reports.append(report)
    first, second = reports
    assert first["validation_loss"] == second["validation_loss"]
    assert first["train_loss"] != second["train_loss"]  # training draws anew
    _, other = epoch(program.start(network, jax.random.key(2)), examples, examples)
    assert other["validation_loss"] != first["validation_loss"]  # as does another seed


def test_validation_in_chunks_counts_every_graph_once(monkeypatch):
    program, network, examples = prepare(STILL)
    mean = losses_of(program, network, examples).mean()
    for chunk in (4, 6):  # 4: two chunks of three
        monkeypatch.setattr(program_module, "VALIDATION_CHUNK", chunk)
        validate = quick_jit(lambda network: program.validate(network, examples, jax.random.key(0)))
        np.testing.assert_allclose(validate(network), mean, rtol=1e-5)
    monkeypatch.setattr(program_module, "VALIDATION_CHUNK", 4)
    five = examples[jnp.arange(5)]  # chunks of three: one graph is there for the shape alone
    validate = quick_jit(lambda network: program.validate(network, five, jax.random.key(0)))
    expected = losses_of(program, network, five).mean()
    np.testing.assert_allclose(validate(network), expected, rtol=1e-5)


@pytest.mark.parametrize("experiment", [STILL, SAMPLING], ids=["taught", "sampling"])
@pytest.mark.parametrize("model", ["ne", pytest.param("ne++", marks=pytest.mark.slow)])
def test_a_batch_in_pieces_has_the_same_loss_and_gradient(model, experiment):
    results = []
    for pieces in (1, 3):
        changed = dataclasses.replace(experiment, model=model)
        program, network, examples = prepare(changed, pieces=pieces)
        gradient = quick_jit(lambda n, e, p=program: p._gradient(n, e, jax.random.key(0)))
        results.append(jax.tree.leaves(gradient(network, examples)))
    for whole, in_pieces in zip(*results, strict=True):
        scale = np.abs(whole).max()
        np.testing.assert_allclose(whole, in_pieces, rtol=1e-4, atol=1e-5 * scale)


def test_the_optimiser_is_clipped_adam():
    program, network, _ = prepare(dataclasses.replace(STILL, learning_rate=5e-4))
    optimiser = program.optimiser
    huge = jax.tree.map(lambda leaf: jnp.full_like(leaf, 1e6), network)
    updates, state = optimiser.update(huge, optimiser.init(network), network)
    first, second = (jax.tree.leaves(moments) for moments in (state[1][0].mu, state[1][0].nu))
    norm = np.sqrt(sum(np.sum(np.square(leaf)) for leaf in first))
    np.testing.assert_allclose(norm, 0.1 * 8, rtol=1e-4)  # a tenth of a gradient of norm 8
    total = sum(np.sum(leaf) for leaf in second)
    np.testing.assert_allclose(total, 0.001 * 8**2, rtol=1e-3)
    for leaf in jax.tree.leaves(updates):
        np.testing.assert_allclose(leaf, np.full(leaf.shape, -5e-4), rtol=1e-3)
