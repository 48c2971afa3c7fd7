"""The folded rollout and its late weight gradients against the network's own steps."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from jax import lax
from jax.flatten_util import ravel_pytree
from networks.small import quick_jit
from training.small import examples_of, graphs, networks, tasks_of

from algotransfer.networks import MaxMPNN
from algotransfer.training import objective, training_rollouts
from algotransfer.training.training_rollouts import folded_latents, plain_latents

CASES = {
    "taught": (("dijkstra",), ("tf",)),
    "free": (("dijkstra",), ("na",)),
    "free, parallel": (("bellman_ford",), ("na",)),
    "free, a bit": (("bfs",), ("na",)),
    "two, sequential": (("prim", "dijkstra"), ("tf", "na")),
    "two, two kinds of edges": (("bfs", "bellman_ford"), ("tf", "na")),
}
QUICK = [("ne", "taught"), ("ne", "free"), ("ne++", "two, sequential")]
SLOW = [
    pytest.param(model, case, marks=pytest.mark.slow)
    for model in ("ne", "ne++")
    for case in CASES
    if (model, case) not in QUICK
]


def values_and_gradients(latents, network, tasks, examples):
    """All latents of a batch, and the gradient of a fixed random sum of them."""
    num_graphs = len(examples)
    noise = jax.random.gumbel(
        jax.random.key(3), (num_graphs, examples.num_steps, examples.layouts.num_nodes)
    )

    def run(network):
        def one(layout, truths, noise):
            drivers = tuple(
                t.supervision.driver(t.algorithm, truth, noise if t.samples else None)
                for t, truth in zip(tasks, truths, strict=True)
            )
            found = latents(network, layout, drivers, examples.num_steps)
            # Steps after an algorithm's last are nobody's business.
            return [
                jax.tree.map(lambda a, t=t, truth=truth: a * _own(a, t, truth), latent)
                for latent, t, truth in zip(found, tasks, truths, strict=True)
            ]

        return jax.vmap(one)(examples.layouts, examples.truths, noise)

    def total(network):
        flat, _ = ravel_pytree(run(network))
        return jnp.sum(flat * jax.random.normal(jax.random.key(4), flat.shape))

    return quick_jit(lambda n: (ravel_pytree(run(n))[0], ravel_pytree(jax.grad(total)(n))[0]))(
        network
    )


def _own(array, task, truth):
    if task.supervision.samples:
        return 1.0
    steps = jnp.arange(array.shape[0]) < truth.length
    return steps.reshape(-1, *[1] * (array.ndim - 1)).astype(array.dtype)


@pytest.mark.parametrize(("model", "case"), QUICK + SLOW)
def test_folded_is_plain(model, case):
    names, supervisions = CASES[case]
    layout = "sparse" if case == "free" else "dense"
    tasks = tasks_of(names, supervisions)
    examples = examples_of(tasks, graphs(per_family=2), layout=layout)
    network, _ = networks(model, names)
    expected = values_and_gradients(plain_latents, network, tasks, examples)
    found = values_and_gradients(folded_latents, network, tasks, examples)
    for a, b in zip(expected, found, strict=True):
        np.testing.assert_allclose(b, a, rtol=2e-4, atol=2e-5 * float(jnp.max(jnp.abs(a))))


@pytest.mark.slow
@pytest.mark.parametrize("model", ["ne", "ne++"])
def test_two_processors(model):
    tasks = tasks_of(("dijkstra",), ("na",))
    examples = examples_of(tasks, graphs(per_family=2))
    network, _ = networks(model, ("dijkstra",))
    (first,) = network.processors
    second = jax.tree.map(lambda w: -0.5 * w, first)
    assert isinstance(second, MaxMPNN)
    network = type(network)(**{**vars(network), "processors": (first, second)})
    expected = values_and_gradients(plain_latents, network, tasks, examples)
    found = values_and_gradients(folded_latents, network, tasks, examples)
    for a, b in zip(expected, found, strict=True):
        np.testing.assert_allclose(b, a, rtol=2e-4, atol=2e-5 * float(jnp.max(jnp.abs(a))))


def test_no_small_weight_gradients_in_the_backward_loop():
    """The matrices' gradients come from products after the loop, not from one in every step."""
    tasks = tasks_of(("dijkstra",), ("tf",))
    examples = examples_of(tasks, graphs(per_family=2))
    network, _ = networks("ne", ("dijkstra",))
    counts = {}
    for latents in (plain_latents, folded_latents):

        def total(network, latents=latents):
            def one(layout, truths):
                driver = tasks[0].supervision.driver(tasks[0].algorithm, truths[0], None)
                return latents(network, layout, (driver,), examples.num_steps)

            found = jax.vmap(one)(examples.layouts, examples.truths)
            return sum(jnp.sum(leaf) for leaf in jax.tree.leaves(found))

        jaxpr = jax.make_jaxpr(jax.grad(total))(network)
        loops = [e for e in jaxpr.jaxpr.eqns if e.primitive.name == "scan"]
        counts[latents] = sum(str(e.params["jaxpr"]).count("dot_general") for e in loops)
    assert counts[folded_latents] <= counts[plain_latents] // 2


@pytest.mark.slow
@pytest.mark.parametrize(("model", "supervision"), [("ne", "tf"), ("ne", "na"), ("ne++", "na")])
def test_a_hundred_steps_of_training_have_the_same_losses(model, supervision, monkeypatch):
    tasks = tasks_of(("dijkstra",), (supervision,))
    examples = examples_of(tasks, graphs(per_family=2))
    network, _ = networks(model, ("dijkstra",), seed=1)
    optimiser = optax.adam(5e-4)

    def losses(latents):
        for module in (objective, training_rollouts):
            monkeypatch.setattr(module, "training_latents", latents)

        def loss(network, key):
            noise = objective.draw_noise(tasks, examples, 2, key)
            return jnp.mean(objective.objective(network, tasks, examples, noise, "best")[0])

        def step(carry, key):
            network, state = carry
            value, gradient = jax.value_and_grad(loss)(network, key)
            updates, state = optimiser.update(gradient, state)
            return (eqx.apply_updates(network, updates), state), value

        keys = jax.random.split(jax.random.key(5), 100)
        run = quick_jit(lambda network: lax.scan(step, (network, optimiser.init(network)), keys)[1])
        return run(network)

    expected, found = losses(plain_latents), losses(folded_latents)
    assert expected[-1] < expected[0]
    np.testing.assert_allclose(found, expected, rtol=1e-4)
