"""The kernel for NE++'s hidden layer, interpreted on the CPU, against the plain formula."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from networks.small import complete_graph, random_graphs, to_graphs
from training.small import examples_of, graphs, networks, tasks_of

from algotransfer.networks import latents, make_layouts
from algotransfer.networks.edge_kernel import ROWS, best_through_hidden_layer, fits
from algotransfer.networks.layouts.listed import with_neighbours

UNITS, OUTPUTS, COPIES = 64, 32, 3


@pytest.mark.parametrize("num_nodes", [1, 2, 7, 20, 33])
@pytest.mark.parametrize("kinds", [("weight",), ("weight", "one")])
def test_best_of_all_neighbours(num_nodes, kinds):
    plain = [*random_graphs(np.random.default_rng(1), 4, num_nodes), complete_graph(num_nodes)]
    layouts = make_layouts(to_graphs(plain), kinds, "dense")
    keys = jax.random.split(jax.random.key(num_nodes), 4)
    shape = (len(plain), COPIES, num_nodes, 2 * UNITS + OUTPUTS + 5)
    product = jax.random.normal(keys[0], shape)
    along = jax.random.normal(keys[1], (len(kinds), OUTPUTS))
    hidden_along = jax.random.normal(keys[2], (len(kinds), UNITS))
    second = jax.random.normal(keys[3], (UNITS, OUTPUTS))

    def by_kernel(products, layout):
        layout = with_neighbours(layout)

        def one(product):
            return best_through_hidden_layer(product, layout, along, hidden_along, second)

        return jax.vmap(one)(products)

    def by_formula(products, layout):
        return jax.vmap(lambda product: formula(product, layout))(products)

    def formula(product, layout):
        receiver, sender, linear = jnp.split(product, [UNITS, 2 * UNITS], axis=-1)
        layer = jax.nn.relu(layout.pairs(receiver, sender, hidden_along))
        return layout.max(layout.pairs(None, linear[:, :OUTPUTS], along) + layer @ second)

    found, expected = (jax.vmap(f)(product, layouts) for f in (by_kernel, by_formula))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
    # All copies of a graph share programs.
    programs = -(-COPIES * num_nodes // ROWS)
    assert f"grid=({len(plain)}, {programs})" in str(
        jax.make_jaxpr(jax.vmap(by_kernel))(product, layouts)
    )


def test_hidden_layers_that_cannot_be_cut_into_tiles_are_left_alone():
    assert fits(jnp.zeros((96, 32)))
    assert fits(jnp.zeros((192, 64)))  # two processors
    assert not fits(jnp.zeros((24, 8)))
    assert not fits(jnp.zeros((96, 48)))


@pytest.mark.parametrize("hidden", [3, 32])
def test_rollouts_that_nothing_is_learned_from(hidden, monkeypatch):
    monkeypatch.setattr(latents, "KERNEL_ON", ("cpu",))
    (task,) = tasks = tasks_of(("dijkstra",), ("na",))
    examples = examples_of(tasks, graphs(per_family=1), layout="dense")
    network, _ = networks("ne++", ("dijkstra",), hidden=hidden)
    noise = jax.random.gumbel(jax.random.key(3), (examples.num_steps, examples.layouts.num_nodes))

    def run(learning):
        def one(layout, truths):
            driver = task.supervision.driver(True, truths[0], noise)
            return latents.folded_latents(network, layout, (driver,), examples.num_steps, learning)

        return jax.vmap(one)(examples.layouts, examples.truths)

    expected, found = (jax.tree.leaves(run(learning)) for learning in (True, False))
    for a, b in zip(expected, found, strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-4, atol=1e-4 * float(jnp.max(jnp.abs(a))))
    kernel = "pallas_call" in str(jax.make_jaxpr(lambda: run(False))())
    assert kernel == (hidden == 32)
