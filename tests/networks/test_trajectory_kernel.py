"""The kernel that samples trajectories, interpreted on the CPU, against the plain steps."""

import dataclasses
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.sharding import AbstractDevice, AbstractMesh, use_abstract_mesh
from networks.small import quick_jit
from training.small import examples_of, graphs, tasks_of

from algotransfer.networks import create_network, trajectory_kernel, trajectory_program
from algotransfer.networks.layouts import edge_kernel
from algotransfer.networks.trajectory_kernel import fits, kernel_latents
from algotransfer.training import training_rollouts
from algotransfer.training.objective import SELECTION_PRECISION, draw_noise, objective
from algotransfer.training.training_rollouts import plain_latents

TRAJECTORIES = 7  # two programs, of which the second has unused rows
TASKS = tasks_of(("dijkstra",), ("na",))
EXAMPLES = pytest.mark.parametrize(
    ("model", "hidden", "processors"),
    [("ne", 32, 1), ("ne++", 32, 1), ("ne++", 16, 1), ("ne++", 32, 2)],
)


def some_network(model, hidden=32, processors=1):
    """Return a network whose hidden states neither vanish nor explode."""
    network = create_network(model, (TASKS[0].algorithm,), hidden, jax.random.key(2))
    network = jax.tree.map(lambda leaf: 0.8 / processors**0.5 * leaf, network)
    return dataclasses.replace(network, processors=network.processors * processors)


@pytest.fixture(scope="module")
def examples():
    return examples_of(TASKS, graphs(), layout="dense")


@pytest.fixture(scope="module")
def noise(examples):
    return draw_noise(TASKS, examples, TRAJECTORIES, jax.random.key(3))


def driver_of(truth, noise, **changes):
    driver = TASKS[0].supervision.driver(TASKS[0].algorithm, truth, noise)
    return dataclasses.replace(driver, **changes)


def by_kernel(network, layout, truth, noise, **changes):
    return kernel_latents(
        network, layout.with_neighbours(), driver_of(truth, noise[0], **changes), noise
    )


def by_steps(network, layout, truth, noise):
    def one(noise):
        return plain_latents(network, layout, (driver_of(truth, noise),), len(noise))[0]

    return jax.vmap(one)(noise)


def on_graphs(latents_of, network, **changes):
    return jax.vmap(partial(latents_of, network, **changes))


@EXAMPLES
def test_latents_are_those_of_plain_steps(model, hidden, processors, examples, noise):
    network = some_network(model, hidden, processors)
    arguments = examples.layouts, examples.truths[0], noise
    found = quick_jit(on_graphs(by_kernel, network))(*arguments)
    expected = quick_jit(on_graphs(by_steps, network))(*arguments)
    assert np.ptp(np.asarray(expected.hidden), axis=1).max() > 0.1  # noise matters
    agree = []
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        assert a.shape == b.shape
        near = np.isclose(a, b, rtol=1e-2, atol=1e-2 * float(jnp.max(jnp.abs(b))))
        agree.append(near.reshape(len(examples) * TRAJECTORIES, -1).all(axis=1))
    # Rounding decides a near tie between two nodes, so a trajectory may visit another one.
    assert np.sum(~np.all(agree, axis=0)) <= 1


def test_without_steps_latents_are_zero(examples, noise):
    run = on_graphs(by_kernel, some_network("ne++"), steps=jnp.int32(0))
    for leaf in jax.tree.leaves(quick_jit(run)(examples.layouts, examples.truths[0], noise)):
        assert not np.any(leaf)


@pytest.mark.parametrize("model", ["ne", "ne++"])
def test_the_program_lowers_for_a_gpu(model, examples, noise, monkeypatch):
    for module in (edge_kernel, trajectory_program):
        monkeypatch.setattr(module, "interpreted", lambda: False)
    run = jax.jit(on_graphs(by_kernel, some_network(model)))
    gpu = AbstractDevice(device_kind="NVIDIA H200", num_cores=None, platform="gpu")
    with use_abstract_mesh(AbstractMesh((1,), ("one",), abstract_device=gpu)):
        traced = run.trace(examples.layouts, examples.truths[0], noise)
    assert "xla.gpu.triton" in traced.lower(lowering_platforms=("cuda",)).as_text()


def equations(jaxpr, name):
    """Yield the equations of one primitive, also those of inner programs."""
    for equation in jaxpr.eqns:
        if equation.primitive.name == name:
            yield equation
        for value in jax.tree.leaves(
            equation.params, is_leaf=lambda v: hasattr(v, "eqns") or hasattr(v, "jaxpr")
        ):
            inner = getattr(value, "jaxpr", value)
            if hasattr(inner, "eqns"):
                yield from equations(inner, name)


def test_products_do_not_depend_on_the_precision_of_the_choice(examples, noise):
    run = on_graphs(by_kernel, some_network("ne++"))
    with jax.default_matmul_precision(SELECTION_PRECISION):
        traced = jax.make_jaxpr(run)(examples.layouts, examples.truths[0], noise)
    (kernel,) = equations(traced.jaxpr, "pallas_call")
    precisions = {e.params["precision"] for e in equations(kernel.params["jaxpr"], "dot_general")}
    assert precisions == {(lax.Precision.DEFAULT, lax.Precision.DEFAULT)}


@pytest.mark.parametrize("model", ["ne", "ne++"])
def test_training_learns_from_the_trajectory_that_the_kernel_chooses(
    model, examples, noise, monkeypatch
):
    network = some_network(model)
    calls = []

    def losses():
        return quick_jit(lambda: objective(network, TASKS, examples, noise, "best")[0])()

    def spy(*arguments):
        calls.append(arguments)
        return kernel_latents(*arguments)

    expected = losses()
    monkeypatch.setattr(trajectory_kernel, "kernel_latents", spy)
    monkeypatch.setattr(type(network), "folded_on", ("cpu",))
    monkeypatch.setattr(training_rollouts, "kernels_run", lambda: True)
    found = losses()
    assert calls
    np.testing.assert_allclose(found, expected, rtol=1e-4)


def test_other_rollouts_are_left_to_the_plain_path(examples, noise):
    truth = jax.tree.map(lambda leaf: leaf[0], examples.truths[0])
    driver = driver_of(truth, noise[0, 0])
    assert fits(some_network("ne++"), driver)
    assert not fits(some_network("ne++", hidden=24), driver)
    assert not fits(some_network("ne", hidden=8), driver)
    assert not fits(some_network("ne", processors=3), driver)
    assert not fits(some_network("ne"), dataclasses.replace(driver, carry_all=False))
    assert not fits(some_network("ne"), dataclasses.replace(driver, noise=None))
    assert not fits(some_network("ne"), dataclasses.replace(driver, teacher=truth.start))
