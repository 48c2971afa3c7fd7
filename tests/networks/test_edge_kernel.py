"""The kernels for what happens on edges, interpreted on the CPU, against the plain formula."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from networks.small import complete_graph, quick_jit, random_graphs, to_graphs
from training.small import examples_of, graphs, networks, tasks_of

from algotransfer.networks import make_layouts
from algotransfer.networks.layouts.edge_kernel import fits, max_over_neighbours
from algotransfer.networks.layouts.edge_programs import ROWS, Weights
from algotransfer.training import training_rollouts
from algotransfer.training.objective import draw_noise, objective

UNITS, OUTPUTS, COPIES = 64, 32, 3
CASES = pytest.mark.parametrize(
    ("units", "kinds"), [(0, ("weight",)), (UNITS, ("weight",)), (UNITS, ("weight", "one"))]
)


def some_graphs(num_nodes, kinds):
    plain = [*random_graphs(np.random.default_rng(1), 4, num_nodes), complete_graph(num_nodes)]
    return make_layouts(to_graphs(plain), kinds, "dense"), len(plain)


def some_weights(key, kinds, units):
    keys = jax.random.split(key, 3)
    edge = jax.random.normal(keys[0], (len(kinds), OUTPUTS))
    if not units:
        return edge, None, None
    hidden_edge = jax.random.normal(keys[1], (len(kinds), units))
    return edge, hidden_edge, jax.random.normal(keys[2], (units, OUTPUTS)) / 8


def by_kernel(product, layout, weights):
    return max_over_neighbours(product, layout.with_neighbours().neighbours, Weights(*weights))


def by_formula(product, layout, weights):
    edge, hidden_edge, second = weights
    if hidden_edge is None:
        return layout.max_plus(product[:, :OUTPUTS], edge)
    receiver, sender, linear = jnp.split(product, [UNITS, 2 * UNITS], axis=-1)
    layer = jax.nn.relu(layout.pairs(receiver, sender, hidden_edge))
    return layout.max(layout.pairs(None, linear[:, :OUTPUTS], edge) + layer @ second)


@CASES
@pytest.mark.parametrize("num_nodes", [1, 20])
def test_best_of_all_neighbours(num_nodes, kinds, units):
    layouts, count = some_graphs(num_nodes, kinds)
    keys = jax.random.split(jax.random.key(num_nodes))
    weights = some_weights(keys[0], kinds, units)
    shape = (count, COPIES, num_nodes, 2 * units + OUTPUTS + 5)
    product = jax.random.normal(keys[1], shape)

    def on_copies(function):
        def one(products, layout):
            return jax.vmap(lambda p: function(p, layout, weights))(products)

        return jax.vmap(one)

    kernel = on_copies(by_kernel)
    found, expected = (quick_jit(f)(product, layouts) for f in (kernel, on_copies(by_formula)))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
    # All copies of all graphs share programs.
    programs = -(-count * COPIES * num_nodes // ROWS)
    assert f"grid=({programs},)" in str(jax.make_jaxpr(kernel)(product, layouts))


@CASES
@pytest.mark.parametrize("num_nodes", [1, ROWS - 4])
def test_gradients(num_nodes, kinds, units):
    layouts, count = some_graphs(num_nodes, kinds)
    keys = jax.random.split(jax.random.key(num_nodes), 3)
    weights = some_weights(keys[0], kinds, units)
    product = jax.random.normal(keys[1], (count, num_nodes, 2 * units + OUTPUTS + 5))
    compare_gradients(product, layouts, weights, keys[2])


@pytest.mark.parametrize("units", [0, UNITS])
@pytest.mark.parametrize("num_nodes", [20])
def test_gradients_are_shared_among_ties(num_nodes, units):
    layouts, count = some_graphs(num_nodes, ("one",))
    keys = jax.random.split(jax.random.key(num_nodes), 3)
    weights = some_weights(keys[0], ("one",), units)
    # All nodes are alike, so that every neighbour wins every maximum (a node's own loop has no 1).
    one = jax.random.normal(keys[1], (2 * units + OUTPUTS + 5,))
    compare_gradients(
        jnp.broadcast_to(one, (count, num_nodes, one.size)), layouts, weights, keys[2]
    )


def compare_gradients(product, layouts, weights, key):
    probe = jax.random.normal(key, (*product.shape[:2], OUTPUTS))

    def loss(function):
        def all_graphs(product, weights):
            best = jax.vmap(lambda p, layout: function(p, layout, weights))(product, layouts)
            return jnp.sum(probe * best)

        return quick_jit(jax.value_and_grad(all_graphs, (0, 1)))(product, weights)

    found, expected = (jax.tree.leaves(loss(f)) for f in (by_kernel, by_formula))
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4 * (1 + float(jnp.max(jnp.abs(b)))))


def test_what_cannot_be_cut_into_tiles_is_left_alone():
    def possible(units, outputs, num_nodes=20, kinds=1):
        edge, hidden_edge = jnp.zeros((kinds, outputs)), jnp.zeros((kinds, units))
        second = jnp.zeros((units, outputs))
        return fits(num_nodes, Weights(edge, hidden_edge, second) if units else Weights(edge))

    assert possible(96, 32)
    assert possible(0, 32)
    assert possible(192, 64)  # two processors
    assert possible(48, 16)  # several algorithms together
    assert not possible(24, 8)
    assert not possible(96, 48)
    assert possible(96, 32, 30)
    assert not possible(96, 32, 31)
    assert not possible(96, 32, 30, kinds=2)


@pytest.mark.parametrize("supervision", ["tf", "na"])
@pytest.mark.parametrize(("model", "hidden"), [("ne", 32), ("ne++", 32), ("ne++", 3)])
def test_losses_and_gradients(model, hidden, supervision, monkeypatch):
    tasks = tasks_of(("dijkstra",), (supervision,))
    examples = examples_of(tasks, graphs(per_family=1), layout="dense")
    network, _ = networks(model, ("dijkstra",), hidden=hidden)
    noise = draw_noise(tasks, examples, 2, jax.random.key(3))
    monkeypatch.setattr(type(network), "folded_on", ("cpu",))

    def loss(network):
        losses, _ = objective(network, tasks, examples, noise, "best")
        return jnp.mean(losses)

    def run():
        return jax.tree.leaves(quick_jit(jax.value_and_grad(loss))(network))

    expected = run()
    monkeypatch.setattr(training_rollouts, "kernels_run", lambda: True)
    for a, b in zip(expected, run(), strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-3, atol=1e-4 * (1 + float(jnp.max(jnp.abs(a)))))
    kernels = str(jax.make_jaxpr(jax.grad(loss))(network)).count("pallas_call")
    assert (kernels > 0) == (hidden == 32)
