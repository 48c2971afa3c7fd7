"""Transfer methods: where processors come from, which weights learn, and that the others do not."""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from networks.plain import PLAIN
from networks.small import padded_layout, quick_jit, random_graphs
from networks.weights import draw_weights, to_network
from training.small import examples_of, graphs

from algotransfer.experiment import Experiment
from algotransfer.networks import MaxMPNN
from algotransfer.training.examples import network_of
from algotransfer.training.examples import tasks_of as tasks_of_experiment
from algotransfer.training.program import Program
from algotransfer.training.transfer import METHODS, trainable, transfer

HIDDEN = 4


@functools.cache
def base(seed=9):
    """A processor as if it had been trained on something else."""
    weights = draw_weights(np.random.default_rng(seed), "ne", ("prim",), HIDDEN)
    return to_network("ne", ("prim",), weights).processors[0]


@functools.cache
def fresh(model, seed=0):
    experiment = Experiment(model=model, target="dijkstra", hidden=HIDDEN)
    return network_of(experiment, jax.random.key(seed))


def equal(ours, theirs):
    return jax.tree.all(jax.tree.map(np.array_equal, ours, theirs))


EXPECTED = {  # where the processors come from and which of them learn
    "none": [("fresh", True)],
    "freeze": [("base", False)],
    "fine_tune": [("base", True)],
    "two_processor": [("base", False), ("fresh", True)],
    "multitask": [("fresh", True)],
}


def test_all_methods_are_expected():
    assert METHODS.keys() == EXPECTED.keys()
    assert [name for name, method in METHODS.items() if method.joint] == ["multitask"]


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("model", PLAIN)
def test_a_method_decides_the_processors_and_what_learns(model, name):
    network = fresh(model)
    built = transfer(METHODS[name], network, base())
    origin = {"fresh": network.processors[0], "base": base()}
    assert len(built.processors) == len(EXPECTED[name])
    for processor, (source, _) in zip(built.processors, EXPECTED[name], strict=True):
        assert equal(processor, origin[source])
    rest, untouched = (eqx.tree_at(lambda n: n.processors, n, replace=()) for n in (built, network))
    assert equal(rest, untouched)  # everything else stays fresh

    mask = trainable(METHODS[name], built)
    assert jax.tree.structure(mask) == jax.tree.structure(built)
    for processor, (_, learns) in zip(mask.processors, EXPECTED[name], strict=True):
        assert jax.tree.leaves(processor) == [learns] * 2
    rest = eqx.tree_at(lambda n: n.processors, mask, replace=())
    assert all(jax.tree.leaves(rest))


@pytest.mark.parametrize("model", PLAIN)
def test_outputs_of_two_processors_are_summed_and_the_residual_is_added_once(model):
    network = fresh(model)
    both = transfer(METHODS["two_processor"], network, base())
    rng = np.random.default_rng(0)
    layout = padded_layout(random_graphs(rng, 1, 5)[0], network.kinds, "dense")
    features = (jnp.asarray(rng.normal(size=(5, 2)), jnp.float32),)
    before = jnp.asarray(rng.normal(size=(5, HIDDEN)), jnp.float32)

    @quick_jit
    def hidden_and_inputs(network):
        memory = jax.tree.map(lambda _: before, network.start(layout))
        _, (latent,) = network.process(features, memory, layout)
        return latent.hidden, latent.inputs

    def with_processors(*processors):
        return eqx.tree_at(lambda n: n.processors, network, processors)

    nothing = jax.tree.map(jnp.zeros_like, base())
    summed, _ = hidden_and_inputs(both)
    one, inputs = hidden_and_inputs(with_processors(base()))
    other, _ = hidden_and_inputs(with_processors(network.processors[0]))
    residual, _ = hidden_and_inputs(with_processors(nothing))
    np.testing.assert_allclose(summed, one + other - residual, rtol=1e-5, atol=1e-5)
    expected = inputs if model == "ne" else np.zeros_like(residual)
    np.testing.assert_allclose(residual, expected, rtol=1e-6)


def test_seeds_share_the_base_but_not_fresh_parts():
    ours, theirs = (transfer(METHODS["two_processor"], fresh("ne", k), base()) for k in (0, 1))
    assert equal(ours.processors[0], theirs.processors[0])
    for leaf, other in zip(
        jax.tree.leaves((ours.processors[1], ours.heads, ours.encoder, ours.edge)),
        jax.tree.leaves((theirs.processors[1], theirs.heads, theirs.encoder, theirs.edge)),
        strict=True,
    ):
        assert not np.any(np.asarray(leaf) == np.asarray(other))


@pytest.mark.parametrize(
    ("model", "name"),
    [("ne", "two_processor"), pytest.param("ne++", "freeze", marks=pytest.mark.slow)],
)
def test_frozen_weights_stay_as_they_are_to_the_last_bit(model, name):
    """And every other weight learns."""
    experiment = Experiment(
        model=model, target="bellman_ford", supervision="tf", hidden=HIDDEN, batch_size=2
    )
    tasks = tasks_of_experiment(experiment)
    network = transfer(METHODS[name], network_of(experiment, jax.random.key(1)), base())
    program = Program(experiment, tasks, trainable(METHODS[name], network))
    examples = examples_of(tasks, graphs())
    epoch = quick_jit(program.epoch)
    state = program.start(network, jax.random.key(0))
    for _ in range(2):
        state, report = epoch(state, examples, examples)
    assert np.isfinite(report["train_loss"])
    frozen = [not learns for _, learns in EXPECTED[name]]
    for processor, before, stays in zip(
        state.network.processors, network.processors, frozen, strict=True
    ):
        assert isinstance(processor, MaxMPNN)
        assert equal(processor, before) == stays
    rest, untouched = (
        jax.tree.leaves(eqx.tree_at(lambda n: n.processors, n, replace=()))
        for n in (state.network, network)
    )
    assert not any(np.array_equal(a, b) for a, b in zip(rest, untouched, strict=True))
    # The optimiser keeps no moments of what does not learn.
    learning = len(jax.tree.leaves(eqx.filter(network, program.mask)))
    moments = [leaf for leaf in jax.tree.leaves(state.optimiser) if leaf.ndim == 2]
    assert len(moments) == 2 * learning
