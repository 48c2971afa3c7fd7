"""The backward pass of a step keeps nothing with a hidden vector per pair of nodes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from networks.naive import NAIVE
from networks.plain import PLAIN
from networks.small import LAYOUTS, complete_graph, to_graphs
from networks.weights import draw_weights, to_network

from algotransfer.networks import make_layouts

NUM_NODES, HIDDEN = 24, 8
PER_PAIR = NUM_NODES**2 * HIDDEN  # numbers, if every pair of nodes had a hidden vector


def complete(model, layout):
    """A network and a complete graph: as many edges as there can be."""
    weights = draw_weights(np.random.default_rng(0), model, ("dijkstra",), HIDDEN)
    network = to_network(model, ("dijkstra",), weights)
    layouts = make_layouts(to_graphs([complete_graph(NUM_NODES)]), network.kinds, layout)
    return network, jax.tree.map(lambda leaf: leaf[0], layouts)


def repeated(step, layout, num_steps):
    """Several steps as a rollout makes them, as a function of all that is differentiated."""

    def run(network, features):
        def one(memory, _):
            memory, *_ = step(network, (features,), memory, layout)
            return memory, None

        memory, _ = jax.lax.scan(one, network.start(layout), length=num_steps)
        return sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(memory))

    return run


def largest_kept(step, network, layout, num_steps):
    """Size per step of the largest array that the backward pass is handed, in float32 numbers."""
    features = jnp.ones((NUM_NODES, 2))
    _, backward = jax.vjp(repeated(step, layout, num_steps), network, features)
    return max(leaf.nbytes for leaf in jax.tree.leaves(backward)) / 4 / num_steps


def process(network, features, memory, layout):
    return network.process(features, memory, layout)


@pytest.mark.parametrize("layout_name", LAYOUTS)
@pytest.mark.parametrize("model", PLAIN)
def test_no_numbers_per_pair_are_kept_for_the_backward_pass(model, layout_name):
    network, layout = complete(model, layout_name)
    # A truth value per pair and unit takes a quarter: NE++ keeps which neighbours attain a maximum.
    assert largest_kept(process, network, layout, num_steps=8) <= PER_PAIR / 4


def test_the_plain_formula_would_keep_it():
    """The measure above does notice."""
    network, layout = complete("ne", "dense")
    assert largest_kept(NAIVE["ne"], network, layout, num_steps=8) >= PER_PAIR


@pytest.mark.parametrize("layout_name", LAYOUTS)
def test_memory_of_the_compiled_program_does_not_grow_by_pairs(layout_name):
    """What XLA sets aside for NE's forward and backward pass, per additional step."""
    network, layout = complete("ne", layout_name)

    def workspace(num_steps):
        run = jax.grad(repeated(process, layout, num_steps), (0, 1))
        compiled = jax.jit(run).lower(network, jnp.ones((NUM_NODES, 2))).compile()
        return compiled.memory_analysis().temp_size_in_bytes

    growth = (workspace(24) - workspace(8)) / 16
    assert growth < PER_PAIR * 4 / 4
