"""NE and NE++ against what plain NumPy says, from files and on random weights."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from networks import golden
from networks.plain import PLAIN, PlainGraph
from networks.small import LAYOUTS, as_matrix, padded_layout, quick_jit, random_graphs
from networks.weights import draw_weights, plain_network, to_network

from algotransfer.algorithms import ALGORITHMS
from algotransfer.networks import MODELS


@quick_jit
def run_step(network, layout, features, memory):
    """The next memory and what every head says."""
    memory, latents = network.process(features, memory, layout)
    heads = [
        (
            network.decode(task, latent),
            network.scores(task, latent, layout),
            network.terminate(task, latent, layout),
        )
        for task, latent in enumerate(latents)
    ]
    return memory, heads


def hidden_of(memory):
    """The hidden states of NE, or of every algorithm of NE++."""
    hidden = np.stack(jax.tree.leaves(memory))
    return hidden if isinstance(memory, tuple) else hidden[0]


def close(ours, theirs):
    np.testing.assert_allclose(ours, theirs, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("case", golden.CASES)
def test_files_hold_what_plain_numpy_works_out(case):
    file, now = golden.read(case), golden.work_out(case)
    assert jax.tree.structure(file) == jax.tree.structure(now)
    for committed, fresh in zip(jax.tree.leaves(file), jax.tree.leaves(now), strict=True):
        if isinstance(committed, float):
            assert committed == pytest.approx(fresh, abs=1e-9)
        else:
            assert committed == fresh


@pytest.mark.parametrize("layout_name", LAYOUTS)
@pytest.mark.parametrize("case", golden.CASES)
def test_networks_give_what_the_files_say(case, layout_name):
    file = golden.read(case)
    names = tuple(file["algorithms"])
    network = to_network(file["model"], names, file["weights"])
    graph = PlainGraph(file["num_nodes"], {(u, v): w for u, v, w in file["edges"]})
    layout = padded_layout(graph, network.kinds, layout_name)
    memory = network.start(layout)
    for step in file["steps"]:
        features = tuple(jnp.asarray(x) for x in step["features"])
        memory, heads = run_step(network, layout, features, memory)
        close(hidden_of(memory), np.array(step["hidden"]))
        for expected, (y, scores, stop) in zip(step["outputs"], heads, strict=True):
            close(y, np.array(expected["y"]))
            close(stop, expected["stop"])
            matrix = as_matrix(layout, scores)
            assert len(expected["scores"]) == np.sum(~np.isnan(matrix))
            for i, j, score in expected["scores"]:
                close(matrix[i, j], score)


@pytest.mark.parametrize("model", PLAIN)
def test_random_weights_on_graphs_from_empty_to_complete(model):
    rng = np.random.default_rng(5)
    names = ("widest_seq", "bfs")
    weights = draw_weights(rng, model, names, hidden=5, processors=2)
    network, plain = to_network(model, names, weights), plain_network(model, names, weights)
    for layout_name in LAYOUTS:
        for graph in random_graphs(rng, 3, num_nodes=7):
            layout = padded_layout(graph, network.kinds, layout_name)
            memory, expected_memory = network.start(layout), plain.start(7)
            for _ in range(2):
                features = (rng.normal(size=(7, 2)), rng.normal(size=(7, 1)))
                single = tuple(jnp.asarray(x, jnp.float32) for x in features)
                memory, heads = run_step(network, layout, single, memory)
                expected_memory, expected = plain.step(graph, features, expected_memory)
                close(hidden_of(memory), np.asarray(expected_memory))
                for output, (y, scores, stop) in zip(expected, heads, strict=True):
                    close(y, output.y)
                    close(as_matrix(layout, scores), output.scores)
                    close(stop, output.stop)


@partial(quick_jit, static_argnums=0)
def create(model, seed):
    return MODELS[model].create((ALGORITHMS["dijkstra"],), 32, jax.random.key(seed))


@pytest.mark.parametrize(("model", "size"), [("ne", 11_584), ("ne++", 38_916)])
def test_sizes_are_those_of_the_paper(model, size):
    """About 12 thousand weights in NE, about 37 thousand in NE++, none of them a bias."""
    weights = draw_weights(np.random.default_rng(0), model, ("dijkstra",), hidden=32)
    shapes = [leaf.shape for leaf in jax.tree.leaves(create(model, 0))]
    expected = to_network(model, ("dijkstra",), weights)
    assert shapes == [leaf.shape for leaf in jax.tree.leaves(expected)]
    assert all(len(shape) == 2 for shape in shapes)
    assert sum(map(np.prod, shapes)) == size


@pytest.mark.parametrize("model", PLAIN)
def test_fresh_weights_are_glorot_uniform(model):
    leaves = [np.asarray(leaf) for leaf in jax.tree.leaves(create(model, 0))]
    for leaf in leaves:
        limit = np.sqrt(6 / sum(leaf.shape))
        assert np.abs(leaf).max() <= limit
        if leaf.size > 500:  # fills its interval, evenly
            assert np.abs(leaf).max() > 0.98 * limit
            assert np.std(leaf) == pytest.approx(limit / np.sqrt(3), rel=0.1)
    ratios = [leaf.ravel()[0] / leaf.ravel()[1] for leaf in leaves]
    assert len(set(ratios)) == len(ratios)  # every matrix has random numbers of its own


@pytest.mark.parametrize("model", PLAIN)
def test_another_seed_gives_other_weights(model):
    for one, other in zip(
        jax.tree.leaves(create(model, 0)),
        jax.tree.leaves(create(model, 1)),
        strict=True,
    ):
        assert not np.any(np.asarray(one) == np.asarray(other))
