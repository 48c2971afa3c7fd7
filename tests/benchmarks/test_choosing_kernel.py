"""The kernel that samples trajectories, interpreted on the CPU, against the plain steps."""

import argparse
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from choosing_kernel import kernel, measure, program
from choosing_kernel.kernel import kernel_latents, roll_out
from choosing_kernel.program import Tiling
from networks.small import quick_jit
from training.small import examples_of, graphs, tasks_of

from algotransfer.networks import create_network
from algotransfer.training import objective
from algotransfer.training.objective import SELECTION_PRECISION, draw_noise
from algotransfer.training.training_rollouts import plain_latents

TRAJECTORIES = 5
TASKS = tasks_of(("dijkstra",), ("na",))


def some_network(model):
    """A network whose hidden states neither vanish nor explode."""
    network = create_network(model, (TASKS[0].algorithm,), 32, jax.random.key(2))
    return jax.tree.map(lambda leaf: 0.8 * leaf, network)


def cases():
    examples = examples_of(TASKS, graphs(), layout="dense")
    return examples, draw_noise(TASKS, examples, TRAJECTORIES, jax.random.key(3))


def trajectory_losses(network, latents_of):
    examples, noise = cases()
    one = partial(measure.trajectory_losses, latents_of, TASKS[0], network)
    return quick_jit(jax.vmap(one))(examples.layouts, examples.truths[0], noise)


@pytest.mark.parametrize(
    ("model", "tiling", "tolerance"),
    [
        ("ne++", Tiling(copies=10, edge_product="bf16x3"), 1e-3),
        ("ne++", Tiling(copies=3, rows=32), 1e-2),
        ("ne", Tiling(copies=2, rows=16, warps=1), 1e-4),
    ],
)
def test_losses_of_all_trajectories(model, tiling, tolerance):
    network = some_network(model)
    found = trajectory_losses(network, partial(kernel_latents, tiling))
    expected = trajectory_losses(network, partial(measure.latents_by_steps, plain_latents))
    assert found.shape[1] == TRAJECTORIES
    assert len(np.unique(np.asarray(expected)[0])) > 1  # noise matters
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


def rolled_out(tiling, steps=None):
    network = some_network("ne++")
    folded, (examples, noise) = network.fold((True,)), cases()

    def one(layout, truth, noise):
        lists = network.folded_layout(layout.with_neighbours()).neighbours
        start = jnp.stack([truth.start.visited, truth.start.key])
        length = truth.length if steps is None else jnp.int32(steps)
        return roll_out(folded, lists, start, noise, length, tiling)

    return jax.vmap(one), (examples.layouts, examples.truths[0], noise)


def test_without_steps_everything_is_zero():
    run, arguments = rolled_out(Tiling(copies=2, rows=16), steps=0)
    for each in quick_jit(run)(*arguments):
        assert not np.any(each)


@pytest.mark.parametrize("edge_product", ["f16", "bf16x3"])
def test_the_program_lowers_for_a_gpu(edge_product, monkeypatch):
    for module in (program, kernel):
        monkeypatch.setattr(module, "interpreted", lambda: False)
    run, arguments = rolled_out(Tiling(edge_product=edge_product))
    traced = jax.jit(run).trace(*arguments)
    assert "xla.gpu.triton" in traced.lower(lowering_platforms=("cuda",)).as_text()


def test_products_do_not_depend_on_the_precision_of_the_choosing_pass():
    run, arguments = rolled_out(Tiling())
    with jax.default_matmul_precision(SELECTION_PRECISION):
        assert SELECTION_PRECISION in str(jax.make_jaxpr(lambda a: a @ a)(jnp.ones((2, 2))))
        assert SELECTION_PRECISION not in str(jax.make_jaxpr(run)(*arguments))


def test_training_learns_from_the_trajectory_that_the_kernel_chooses():
    network, (examples, noise) = some_network("ne"), cases()

    def losses():
        return objective.objective(network, TASKS, examples, noise, "best")[0]

    expected = quick_jit(losses)()
    latents = []

    def spy(*arguments):
        latents.append(kernel_latents(*arguments))
        return latents[-1]

    with pytest.MonkeyPatch.context() as patches, measure.choose_by_kernel(Tiling()):
        patches.setattr(measure, "kernel_latents", spy)
        found = quick_jit(lambda: losses())()
    assert latents
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_every_part_is_measured(monkeypatch, quick_to_compile):
    monkeypatch.setattr(measure, "TILINGS", measure.TILINGS[:1])
    sizes = {"seeds": 1, "graphs": 1, "trajectories": 2, "repeats": 1}
    rows = list(measure.measure("ne", argparse.Namespace(**sizes, trace=None)))
    assert [row["part"] for row in rows if row["by"] == "current"] == [
        "choosing pass",
        "training step",
        "choosing pass without choice",
        "choosing pass without edges",
        "choosing pass without choice and edges",
    ]
    assert all(row["milliseconds"] > 0 for row in rows)
    assert all(row["same_choice"] == 1 for row in rows if row["part"] == "choosing pass")
