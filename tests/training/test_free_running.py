"""A free-running execution reads of the truth its start, and without the algorithm its length."""

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from networks.small import quick_jit
from training.small import examples_of, graphs, networks, one, tasks_of

from algotransfer.algorithms.truth import Truth
from algotransfer.networks import rollout

CASES = [
    ("ne", ("dijkstra",), ("tf",)),
    ("ne", ("bfs", "bellman_ford"), ("tf", "na")),
    ("ne++", ("prim",), ("na",)),
    ("ne++", ("widest_par",), ("tf",)),
]


def corrupted(truth: Truth, supervision: str, rng: np.random.Generator) -> Truth:
    """A truth of which only the initial state is left, and in `na` the number of steps."""
    later = np.arange(truth.key.shape[0])[:, None] > 0
    num_nodes = truth.key.shape[-1]
    garbage = Truth(
        key=jnp.where(later, jnp.nan, truth.key),
        pred=jnp.asarray(rng.integers(-1, num_nodes, truth.pred.shape), jnp.int32),
        visited=jnp.where(later, rng.random(truth.visited.shape) < 0.5, truth.visited),
        next_node=None if truth.next_node is None else jnp.full_like(truth.next_node, jnp.nan),
        source=(truth.source + 1) % num_nodes,
        length=truth.length if supervision == "na" else truth.length // 2,
    )
    assert not np.array_equal(garbage.pred, truth.pred)
    return garbage


@partial(quick_jit, static_argnums=(1, 4))
def run_freely(network, tasks, layout, truths, num_steps):
    """Every state of every step, and all outputs of the last ones."""
    steps = [
        truth.length if task.supervision.told_steps else jnp.int32(num_steps)
        for task, truth in zip(tasks, truths, strict=True)
    ]
    drivers = tuple(
        task.supervision.free_driver(task.algorithm, truth.start, count)
        for task, truth, count in zip(tasks, truths, steps, strict=True)
    )
    return rollout(network, layout, drivers, num_steps, lambda before, latents, after: after)


@pytest.mark.parametrize(("model", "names", "supervisions"), CASES)
def test_corrupting_every_later_step_changes_nothing(model, names, supervisions):
    dataset, tasks = graphs(), tasks_of(names, supervisions)
    network, _ = networks(model, names)
    examples = examples_of(tasks, dataset)
    rng = np.random.default_rng(0)
    for number in (0, 2, 5):
        layout, truths = one(examples.layouts, number), one(examples.truths, number)
        garbage = tuple(map(partial(corrupted, rng=rng), truths, supervisions))
        run = partial(run_freely, network, tasks, layout, num_steps=dataset.num_nodes)
        for ours, theirs in zip(
            jax.tree.leaves(run(truths=truths)), jax.tree.leaves(run(truths=garbage)), strict=True
        ):
            assert np.all(np.isfinite(ours))
            np.testing.assert_array_equal(ours, theirs)


def test_without_the_algorithm_the_number_of_steps_is_given():
    """The one other number: with fewer steps the answer is another."""
    dataset, tasks = graphs(), tasks_of(("prim",), ("na",))
    network, _ = networks("ne++", ("prim",))
    examples = examples_of(tasks, dataset)
    layout, (truth,) = one(examples.layouts, 0), one(examples.truths, 0)
    shorter = eqx.tree_at(lambda truth: truth.length, truth, truth.length - 1)
    whole, part = (
        run_freely(network, tasks, layout, (t,), dataset.num_nodes) for t in (truth, shorter)
    )
    assert np.sum(whole.states[0].visited) == np.sum(part.states[0].visited) + 1
