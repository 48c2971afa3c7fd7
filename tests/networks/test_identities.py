"""The two identities that make the networks cheap, values and gradients, on both layouts."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from networks.naive import NAIVE
from networks.plain import PLAIN
from networks.small import (
    LAYOUTS,
    as_matrix,
    complete_graph,
    quick_jit,
    random_graphs,
    to_graphs,
)
from networks.weights import draw_weights, to_network

from algotransfer.networks import layouts, make_layouts
from algotransfer.networks.layouts import faster_layout

CASES = {  # algorithms, processors
    "two_kinds": (("bfs", "reliable_seq"), 1),
    "two_processor": (("bellman_ford",), 2),
}


def step(network, features, memory, layout):
    """The package's step in the naive one's words."""
    memory, latents = network.process(features, memory, layout)
    outputs = [
        (
            network.decode(task, latent),
            network.scores(task, latent, layout),
            network.terminate(task, latent, layout),
        )
        for task, latent in enumerate(latents)
    ]
    return memory, outputs


def summed(memory, outputs, weigh_memory, weigh_outputs, on_edges):
    """Everything that comes out, as one number with a random weight on each part."""
    total = sum(jnp.vdot(a, b) for a, b in zip(memory, weigh_memory, strict=True))
    for (y, scores, stop), (on_y, on_scores) in zip(outputs, weigh_outputs, strict=True):
        total += jnp.vdot(y, on_y) + jnp.sum(on_edges(scores, on_scores)) + stop
    return total


@partial(quick_jit, static_argnums=0)
def value_and_gradients(model, network, features, memory, dense, sparse, weigh):
    """Of the naive formula, of the dense and of the sparse layout: for a batch of graphs."""

    def dense_edges(layout):
        return lambda scores, weights: jnp.where(layout.edges, scores * weights, 0.0)

    def sparse_edges(layout):
        def weighted(scores, weights):
            weights = weights.at[layout.i, layout.j].get(mode="fill", fill_value=0.0)
            return scores * weights

        return weighted

    def of(run, on_edges):
        def value(network, features, memory, layout, weigh):
            memory, outputs = run(network, features, memory, layout)
            return summed(jax.tree.leaves(memory), outputs, *weigh, on_edges(layout))

        return jax.vmap(jax.value_and_grad(value, (0, 1, 2)), (None, 0, 0, 0, 0))

    return {
        "naive": of(NAIVE[model], dense_edges)(network, features, memory, dense, weigh),
        "dense": of(step, dense_edges)(network, features, memory, dense, weigh),
        "sparse": of(step, sparse_edges)(network, features, memory, sparse, weigh),
    }


def draw_case(rng, model, names, processors, num_nodes, hidden, grid=None):
    """A network, a batch of graphs from empty to complete, and inputs for one step of each.

    With a `grid`, inputs are multiples of 1/grid: sums are exact, and ties common.
    """
    network = to_network(model, names, draw_weights(rng, model, names, hidden, processors))
    graphs = to_graphs(random_graphs(rng, 3, num_nodes))
    dense, sparse = (make_layouts(graphs, network.kinds, layout) for layout in LAYOUTS)

    def draw(*shape):
        if grid is None:
            return jnp.asarray(rng.normal(size=(3, *shape)), jnp.float32)
        return jnp.asarray(rng.integers(-grid, grid + 1, (3, *shape)) / grid, jnp.float32)

    features = tuple(draw(num_nodes, 2 if a.sequential else 1) for a in network.algorithms)
    start = network.start(jax.tree.map(lambda leaf: leaf[0], dense))
    memory = jax.tree.map(lambda leaf: draw(*leaf.shape), start)
    weigh = (
        [draw(*leaf.shape) for leaf in jax.tree.leaves(start)],
        [
            (draw(num_nodes, 2 if a.sequential else 1), draw(num_nodes, num_nodes))
            for a in network.algorithms
        ],
    )
    return network, features, memory, dense, sparse, weigh


def check_equal(results):
    """Both layouts give the naive formula's values and gradients."""
    for layout in LAYOUTS:
        for expected, ours in zip(
            jax.tree.leaves(results["naive"]), jax.tree.leaves(results[layout]), strict=True
        ):
            scale = 1 + np.abs(expected).max(initial=0)
            np.testing.assert_allclose(ours / scale, expected / scale, atol=3e-6, rtol=0)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("model", PLAIN)
def test_values_and_gradients_are_those_of_the_plain_formula(model, case):
    """With respect to all weights, node features and hidden states; graphs under a vmap."""
    rng = np.random.default_rng(3)
    arguments = draw_case(rng, model, *CASES[case], num_nodes=6, hidden=4)
    results = value_and_gradients(model, *arguments)
    assert all(np.abs(leaf).max() > 0 for leaf in jax.tree.leaves(results["naive"]))
    check_equal(results)


@pytest.mark.slow
@pytest.mark.parametrize("model", PLAIN)
@given(
    num_nodes=st.integers(1, 9),
    hidden=st.integers(1, 5),
    grid=st.sampled_from([None, 1]),
    seed=st.integers(0, 2**32),
)
@settings(max_examples=2)  # each shape is compiled anew
def test_identities_at_random_sizes(model, num_nodes, hidden, grid, seed):
    rng = np.random.default_rng(seed)
    arguments = draw_case(rng, model, ("prim",), 1, num_nodes, hidden, grid)
    check_equal(value_and_gradients(model, *arguments))


@pytest.mark.parametrize("layout_name", LAYOUTS)
def test_ties_share_the_gradient_equally(layout_name):
    """All nodes alike and all weights 1: self wins where the edge is a loss, else all others do."""
    num_nodes = 5
    layout = jax.tree.map(
        lambda leaf: leaf[0],
        make_layouts(to_graphs([complete_graph(num_nodes)]), ("weight",), layout_name),
    )
    node = jnp.ones((num_nodes, 3))
    edge = jnp.array([[-1.0, 1.0, 0.0]])

    def max_of_pairs(node, edge):  # the same maximum by way of values on edges, as in NE++
        return layout.max(layout.pairs(jnp.zeros_like(node), node, edge))

    @quick_jit
    def pull_back():
        at_two = jnp.zeros((num_nodes, 3)).at[2].set(1.0)
        pairs = [jax.vjp(function, node, edge) for function in (layout.max_plus, max_of_pairs)]
        return [(best, *backward(at_two)) for best, backward in pairs]

    is_two = np.arange(num_nodes) == 2
    for best, d_node, d_edge in pull_back():
        np.testing.assert_array_equal(best, [[1.0, 2.0, 1.0]] * num_nodes)
        expected = np.stack([is_two, ~is_two / 4, np.full(num_nodes, 1 / 5)], axis=1)
        np.testing.assert_allclose(d_node, expected, rtol=1e-6)
        np.testing.assert_allclose(d_edge, [[0.0, 1.0, 4 / 5]], rtol=1e-6)


@pytest.mark.parametrize("layout_name", LAYOUTS)
def test_the_compiler_does_not_lose_the_winner(layout_name):
    """Values computed again are equal to the last bit, whatever they are compiled together with.

    With full optimisation, and a vmap over graphs and one over steps: here a product that was
    rounded in one loop and joined with a sum in another made the backward pass miss most maxima.
    """
    rng = np.random.default_rng(7)
    graphs = random_graphs(rng, 8, num_nodes=6)
    layouts = make_layouts(to_graphs(graphs), ("weight",), layout_name)
    nodes, weigh = rng.normal(size=(2, len(graphs), 6, 6, 3)).astype(np.float32)
    edge = rng.normal(size=(1, 3)).astype(np.float32)

    @jax.jit
    def gradient(edge, nodes):
        def value(edge, nodes):
            on_steps = jax.vmap(lambda layout, node: layout.max_plus(node, edge), (None, 0))
            return jnp.vdot(jax.vmap(on_steps)(layouts, nodes), weigh)

        return jax.grad(value, (0, 1))(edge, nodes)

    d_edge, d_node = np.zeros((1, 3)), np.zeros(nodes.shape)
    for g, t, i, h in np.ndindex(nodes.shape):
        values = {
            j: nodes[g, t, j, h] + weight * edge[0, h]
            for j, (weight,) in graphs[g].senders(i, ("weight",))
        }
        winner = max(values, key=values.get)
        d_node[g, t, winner, h] += weigh[g, t, i, h]
        d_edge[0, h] += weigh[g, t, i, h] * dict(graphs[g].senders(i, ("weight",)))[winner][0]
    by_edge, by_node = gradient(jnp.asarray(edge), jnp.asarray(nodes))
    np.testing.assert_allclose(by_node, d_node, atol=1e-5)
    np.testing.assert_allclose(by_edge, d_edge, atol=1e-3)


@pytest.mark.parametrize("layout_name", LAYOUTS)
def test_a_node_without_neighbours_receives_only_its_own_message(layout_name):
    graphs = to_graphs([random_graphs(np.random.default_rng(0), 2, 4)[0], complete_graph(4)])
    layouts = make_layouts(graphs, ("weight",), layout_name)
    layout = jax.tree.map(lambda leaf: leaf[0], layouts)
    node = jnp.arange(12.0).reshape(4, 3)

    @quick_jit
    def pull_back(node):
        best, backward = jax.vjp(layout.max_plus, node, jnp.ones((1, 3)))
        return best, *backward(node)

    best, d_node, d_edge = pull_back(node)
    np.testing.assert_array_equal(best, node)
    np.testing.assert_array_equal(d_node, node)
    np.testing.assert_array_equal(d_edge, np.zeros((1, 3)))


@pytest.mark.parametrize("layout_name", LAYOUTS)
def test_extreme_values_do_not_become_nan(layout_name):
    """Keys explode out of distribution; a maximum of huge numbers still has one gradient."""
    graphs = to_graphs(random_graphs(np.random.default_rng(0), 3, 5))
    layouts = make_layouts(graphs, ("weight",), layout_name)
    node = 1e30 * jnp.arange(-7.0, 8.0).reshape(5, 3)

    def value(layout, node):
        return jnp.sum(layout.max_plus(node, jnp.full((1, 3), 1e-30)))

    gradient = quick_jit(jax.vmap(jax.grad(value, 1), (0, None)))(layouts, node)
    np.testing.assert_allclose(np.sum(gradient, axis=1), np.full((3, 3), 5.0))


def as_arrays(layout):
    return [as_matrix(layout, row) for row in layout.features]


def test_both_layouts_hold_the_same_features():
    graphs = to_graphs(random_graphs(np.random.default_rng(1), 4, 6))
    dense, sparse = (make_layouts(graphs, ("one", "weight"), layout) for layout in LAYOUTS)
    for number in range(4):
        one, other = (jax.tree.map(lambda leaf, n=number: leaf[n], x) for x in (dense, sparse))
        np.testing.assert_array_equal(as_arrays(one), as_arrays(other))
        ones, weights = as_arrays(one)
        np.testing.assert_array_equal(np.diag(ones), np.zeros(6))  # self-loops have feature 0
        off = ~np.isnan(ones) & ~np.eye(6, dtype=bool)
        assert np.all(ones[off] == 1)
        np.testing.assert_array_equal(weights[off], graphs[number].weight_matrix()[off])
        np.testing.assert_array_equal(as_arrays(one.with_features((1,))), [weights])
        np.testing.assert_array_equal(as_arrays(other.with_features((1,))), [weights])


def test_the_layout_is_chosen_by_device_and_size(monkeypatch):
    assert faster_layout(4) == "sparse"
    graphs = to_graphs([random_graphs(np.random.default_rng(0), 2, 5)[0]])
    assert type(make_layouts(graphs, ("weight",))).__name__ == "Sparse"
    monkeypatch.setattr(layouts, "default_platform", lambda: "gpu")
    assert faster_layout(256) == "dense"
    assert faster_layout(257) == "sparse"
    assert type(make_layouts(graphs, ("weight",))).__name__ == "Dense"
