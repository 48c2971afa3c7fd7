"""The rollout: how one step follows another, when the next node is sampled, and lockstep."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from networks.plain import PLAIN, PlainGraph
from networks.small import LAYOUTS, padded_layout, quick_jit, random_graphs
from networks.weights import draw_weights, plain_network, to_network
from scipy.special import softmax
from scipy.stats import chisquare

from algotransfer.algorithms import ALGORITHMS, PARALLEL, SEQUENTIAL
from algotransfer.networks import Driver, State, rollout

PATH = PlainGraph(5, {(0, 1): 0.5, (1, 2): 0.25, (2, 3): 1.0})  # node 4 stays alone


def state(key, visited):
    return State(jnp.array(key, jnp.float32), jnp.array(visited, jnp.float32))


def step(name, now, y, noise=None, carry_all=False, layout="dense"):
    """One `advance` on the path."""
    y = jnp.array(y, jnp.float32)
    path = padded_layout(PATH, ("weight",), layout)
    algorithm = ALGORITHMS[name]
    return algorithm.framework.advance(algorithm, path, now, y, noise, carry_all)


def check(got, key, visited):
    np.testing.assert_array_equal(got.key, np.array(key, np.float32))
    np.testing.assert_array_equal(got.visited, np.array(visited, np.float32))


def test_features_are_visited_and_key():
    now = state([3, 4], [1, 0])
    np.testing.assert_array_equal(SEQUENTIAL.features(now), [[1, 3], [0, 4]])
    np.testing.assert_array_equal(PARALLEL.features(now), [[3], [4]])


Y = [[9, 1], [3, 2], [5, 3], [5, 4], [0, 5]]  # (next-node logit, key) of five nodes


def test_a_sequential_step_visits_the_best_unvisited_node_and_updates_it_alone():
    now = state([10, 20, 30, 40, 50], [1, 0, 0, 0, 0])
    check(step("dijkstra", now, Y), key=[10, 20, 3, 40, 50], visited=[1, 0, 1, 0, 0])


def test_without_the_algorithm_every_key_is_the_networks_own():
    now = state([10, 20, 30, 40, 50], [1, 0, 0, 0, 0])
    got = step("dijkstra", now, Y, carry_all=True)
    check(got, key=[1, 2, 3, 4, 5], visited=[1, 0, 1, 0, 0])


@pytest.mark.parametrize("carry_all", [False, True])
@pytest.mark.parametrize("noise", [None, jnp.zeros(5)])
def test_the_state_stays_when_no_node_is_left(carry_all, noise):
    now = state([10, 20, 30, 40, 50], [1, 1, 1, 1, 1])
    check(step("prim", now, Y, noise, carry_all), now.key, now.visited)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_parallel_step_updates_the_nodes_that_it_reaches(layout):
    now = state([0, 9, 9, 9, 9], [0, 1, 0, 0, 0])
    got = step("bellman_ford", now, [[1], [2], [3], [4], [5]], layout=layout)
    check(got, key=[1, 2, 3, 9, 9], visited=[1, 1, 1, 0, 0])


def test_a_parallel_algorithm_that_is_not_shown_updates_every_key():
    now = state([0, 9, 9, 9, 9], [1, 0, 0, 0, 0])
    got = step("bellman_ford", now, [[1], [2], [3], [4], [5]], carry_all=True)
    check(got, key=[1, 2, 3, 4, 5], visited=now.visited)


@pytest.mark.parametrize("carry_all", [False, True])
def test_keys_of_breadth_first_search_are_thresholded(carry_all):
    now = state([1, 0, 0, 0, 0], [1, 0, 0, 0, 0])
    got = step("bfs", now, [[-1], [0.5], [2], [2], [2]], carry_all=carry_all)
    reached = [0, 1, 1, 1, 1] if carry_all else [0, 1, 0, 0, 0]
    np.testing.assert_array_equal(got.key, np.array(reached, np.float32))


LOGITS = np.array([0.3, 5.0, -1.0, 0.9, 0.1])
VISITED = np.array([0, 1, 0, 0, 0])  # the best logit belongs to a visited node


@quick_jit
def sample(noise):
    y = jnp.stack([jnp.asarray(LOGITS, jnp.float32), jnp.zeros(5)], axis=1)
    now = state(np.zeros(5), VISITED)
    return jax.vmap(lambda noise: step("dijkstra", now, y, noise).visited)(noise)


def test_sampled_nodes_follow_the_softmax_over_unvisited_nodes():
    draws = 20_000
    visited = np.asarray(sample(jax.random.gumbel(jax.random.key(0), (draws, 5))))
    chosen = np.rint(visited) - VISITED
    np.testing.assert_allclose(visited, VISITED + chosen, atol=1e-6)  # hard samples
    np.testing.assert_array_equal(chosen.sum(axis=1), np.ones(draws))  # of one node each
    counts = chosen.sum(axis=0)
    open_nodes = VISITED == 0
    assert counts[1] == 0
    expected = draws * softmax(LOGITS[open_nodes])
    assert chisquare(counts[open_nodes], expected).pvalue > 1e-3
    assert chisquare(counts[open_nodes], np.full(4, draws / 4)).pvalue < 1e-9  # it does notice


def test_the_gradient_of_a_sample_is_that_of_the_softmax():
    noise = jax.random.gumbel(jax.random.key(1), (5,))
    weights = jnp.array([0.7, -0.2, 1.1, 0.4, -0.9])

    def sampled(logits):
        y = jnp.stack([logits, jnp.zeros(5)], axis=1)
        return step("dijkstra", state(np.zeros(5), VISITED), y, noise).visited @ weights

    def soft(logits):
        masked = jnp.where(VISITED == 0, logits + noise, -jnp.inf)
        return jax.nn.softmax(masked) @ weights

    logits = jnp.asarray(LOGITS, jnp.float32)
    hard, soft = (quick_jit(jax.grad(function))(logits) for function in (sampled, soft))
    np.testing.assert_allclose(hard, soft, rtol=1e-5, atol=1e-7)
    assert hard[1] == 0
    assert np.abs(hard).max() > 0.01


def test_no_gradient_and_no_nan_when_no_node_is_left():
    def value(logits):
        y = jnp.stack([logits, logits], axis=1)
        after = step("dijkstra", state(np.zeros(5), np.ones(5)), y, jnp.zeros(5), True)
        return jnp.sum(after.visited + after.key)

    gradient = quick_jit(jax.grad(value))(jnp.asarray(LOGITS, jnp.float32))
    np.testing.assert_array_equal(gradient, np.zeros(5))


def plain_step(now, y, noise, sequential, carry_all, graph):
    """`advance` in plain words: (keys, visited) after a step."""
    key, visited = now[0].copy(), now[1].copy()
    if not sequential:
        reached = np.array(
            [any(visited[j] for j, _ in graph.senders(i, ())) for i in range(len(key))]
        )
        if carry_all:
            return y[:, 0], visited
        return np.where(reached, y[:, 0], key), reached.astype(float)
    left = np.flatnonzero(visited == 0)
    if not len(left):
        return key, visited
    node = left[np.argmax((y[:, 0] + noise)[left])]
    visited[node] = 1
    if carry_all:
        return y[:, 1], visited
    key[node] = y[node, 1]
    return key, visited


NAMES = ("dijkstra", "bellman_ford", "prim")


@partial(quick_jit, static_argnums=5)
def run(network, layout, starts, steps, noises, carry_all):
    """A free rollout of several algorithms; keeps the states and outputs of every step."""
    drivers = tuple(
        Driver(start, count, noise=noise, carry_all=carry)
        for start, count, noise, carry in zip(starts, steps, noises, carry_all, strict=True)
    )

    def emit(before, latents, after):
        ys = tuple(network.decode(task, latent) for task, latent in enumerate(latents))
        return before, after, ys

    return rollout(network, layout, drivers, 7, emit)


@pytest.mark.parametrize("model", PLAIN)
def test_algorithms_of_different_length_run_in_lockstep(model):
    """Against a loop in plain NumPy: one ends early and stays, the others and the memory go on."""
    rng = np.random.default_rng(2)
    graph = random_graphs(rng, 1, 6)[0]
    weights = draw_weights(rng, model, NAMES, hidden=3)
    network, plain = to_network(model, NAMES, weights), plain_network(model, NAMES, weights)
    layout = padded_layout(graph, network.kinds, "dense")
    is_source = np.arange(6) == 2
    lengths, carry_all = (6, 2, 4), (True, False, False)
    noises = (rng.gumbel(size=(7, 6)), None, None)
    starts = [(rng.random(6), is_source * 1.0 * (name == "bellman_ford")) for name in NAMES]

    single = partial(jax.tree.map, lambda leaf: jnp.asarray(leaf, jnp.float32))
    outcome = run(
        network,
        layout,
        tuple(State(*single(start)) for start in starts),
        tuple(jnp.int32(length) for length in lengths),
        single(noises),
        carry_all,
    )
    emitted_before, emitted_after, emitted_ys = outcome.emitted

    states, memory = list(starts), plain.start(6)
    for t in range(max(lengths)):
        inputs = [
            np.stack([visited, key], 1) if ALGORITHMS[name].sequential else key[:, None]
            for name, (key, visited) in zip(NAMES, states, strict=True)
        ]
        memory, outputs = plain.step(graph, inputs, memory)
        for task, name in enumerate(NAMES):
            ours = emitted_before[task]
            np.testing.assert_allclose(ours.key[t], states[task][0], rtol=1e-4, atol=1e-4)
            np.testing.assert_allclose(ours.visited[t], states[task][1], atol=1e-6)
            np.testing.assert_allclose(emitted_ys[task][t], outputs[task].y, rtol=1e-4, atol=1e-4)
            if t < lengths[task]:
                noise = 0 if noises[task] is None else noises[task][t]
                states[task] = plain_step(
                    states[task],
                    outputs[task].y,
                    noise,
                    ALGORITHMS[name].sequential,
                    carry_all[task],
                    graph,
                )
                if t == lengths[task] - 1:  # the latent that remains is that of the last own step
                    last = network.decode(task, outcome.latents[task])
                    np.testing.assert_allclose(last, outputs[task].y, rtol=1e-4, atol=1e-4)
    for task, (key, visited) in enumerate(states):
        np.testing.assert_allclose(outcome.states[task].key, key, rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(outcome.states[task].visited, visited, atol=1e-6)
        # Ended algorithms do not move any more, to the last bit.
        after = emitted_after[task]
        for t in range(lengths[task], 7):
            np.testing.assert_array_equal(after.key[t], after.key[lengths[task] - 1])
            np.testing.assert_array_equal(after.visited[t], after.visited[lengths[task] - 1])


def test_an_algorithm_of_ne_plus_plus_runs_alone_as_it_runs_with_others():
    rng = np.random.default_rng(4)
    graph = random_graphs(rng, 1, 6)[0]
    network = to_network("ne++", NAMES, draw_weights(rng, "ne++", NAMES, hidden=3))
    layout = padded_layout(graph, network.kinds, "dense")
    starts = tuple(state(rng.random(6), np.zeros(6)) for _ in NAMES)
    steps = tuple(jnp.int32(count) for count in (6, 2, 4))
    together = run(network, layout, starts, steps, (None,) * 3, (False,) * 3)
    task = 2
    alone = run(network.for_task(task), layout, starts[task:], steps[task:], (None,), (False,))
    assert network.independent
    assert network.for_task(task).algorithms == network.algorithms[task:]
    np.testing.assert_allclose(alone.states[0].key, together.states[task].key, rtol=1e-5)
    np.testing.assert_array_equal(alone.states[0].visited, together.states[task].visited)


def test_ne_needs_all_of_its_algorithms():
    one, two = (
        to_network("ne", names, draw_weights(np.random.default_rng(0), "ne", names, 2))
        for names in (NAMES[:1], NAMES[:2])
    )
    assert one.independent
    assert not two.independent
    assert two.for_task(1) is two
