"""The relaxation executor against plain NumPy, and what holds it together."""

import dataclasses
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from networks.plain_relax import plain_step
from networks.small import (
    LAYOUTS,
    as_matrix,
    complete_graph,
    padded_layout,
    quick_jit,
    random_graphs,
)

from algotransfer.algorithms import ALGORITHMS, run
from algotransfer.algorithms.truth import make_truth
from algotransfer.evaluation.harness import FreeRun
from algotransfer.graphs import from_edges, sample_graphs
from algotransfer.networks import MODELS, RelaxationExecutor
from algotransfer.networks.relax import (
    Relaxation,
    Selection,
    _one_hot_argmax,
    read_at_pointer,
    sparse_weight,
)
from algotransfer.supervisions import SUPERVISIONS
from algotransfer.training.objective import Task

# θ whose one term is exact: sparse_weight(ONE) = 1.
ONE = (0.1 + np.sqrt(0.01 + 4)) / 2
EXACT = {  # algorithm: (θ of the terms 1, x, w, x(w − 1), max(0, x − w)), direction
    "bellman_ford": ([0, 0, ONE, 0, 0], -1.0),
    "dijkstra": ([0, 0, ONE, 0, 0], -1.0),
    "reliable_par": ([0, 0, 0, ONE, 0], 1.0),
    "reliable_seq": ([0, 0, 0, ONE, 0], 1.0),
    "widest_par": ([0, 0, 0, 0, -ONE], 1.0),
    "bfs": ([0, 0, 0, 0, 0], 1.0),
}


def create(*names: str, seed: int = 0) -> RelaxationExecutor:
    algorithms = tuple(ALGORITHMS[name] for name in names)
    return RelaxationExecutor.create(algorithms, 4, jax.random.key(seed))


def with_relaxation(network: RelaxationExecutor, theta, direction) -> RelaxationExecutor:
    """The network with weights of our choice in its only algorithm."""
    relaxation = Relaxation(jnp.array([theta], jnp.float32), jnp.full((1, 1), direction))
    return eqx.tree_at(lambda n: n.specialists[0].relaxation, network, relaxation)


@quick_jit
def run_step(network, layout, features):
    memory, latents = network.process(features, network.start(layout), layout)
    assert memory == ()
    return [
        (network.decode(k, latent), network.scores(k, latent, layout))
        for k, latent in enumerate(latents)
    ]


@pytest.mark.parametrize("layout_name", LAYOUTS)
@pytest.mark.parametrize("name", ["dijkstra", "bellman_ford", "bfs"])
def test_a_step_is_that_of_plain_numpy(name, layout_name):
    """On graphs from empty to complete, with two selections whose scores are summed."""
    rng = np.random.default_rng(4)
    sequential = ALGORITHMS[name].sequential
    theta, direction = rng.uniform(-0.8, 0.8, 5).astype(np.float32), -0.5
    selections = [{name: rng.normal(size=size) for name, size in SIZES.items()} for _ in range(2)]
    network = with_relaxation(create(name), theta, direction)
    processors = tuple(
        Selection(**{k: jnp.asarray(v, jnp.float32).reshape(1, -1) for k, v in one.items()})
        for one in selections
    )
    network = eqx.tree_at(lambda n: n.processors, network, processors)
    plain = [{k: np.squeeze(v) for k, v in one.items()} for one in selections]
    for graph in random_graphs(rng, 4, num_nodes=6):
        key = rng.uniform(0, 2, 6).astype(np.float32)
        visited = rng.integers(0, 2, 6).astype(np.float32) if sequential else None
        x = np.stack([visited, key] if sequential else [key], axis=-1)
        layout = padded_layout(graph, network.kinds, layout_name)
        ((y, scores),) = run_step(network, layout, (jnp.asarray(x),))
        new_key, expected, logits = plain_step(
            theta, direction, plain, graph, network.kinds[0], key, visited
        )
        np.testing.assert_allclose(as_matrix(layout, scores), expected, rtol=2e-4, atol=2e-3)
        if name == "bfs":
            of_key, bias = np.asarray(network.specialists[0].bit)[0]
            new_key = of_key * new_key + bias
        np.testing.assert_allclose(y[:, -1], new_key, rtol=1e-5, atol=1e-5)
        if sequential:
            np.testing.assert_allclose(y[:, 0], logits, rtol=1e-4, atol=1e-4)


SIZES = {"choice": 3, "gain": 1, "unvisited": 1, "settled": 1}


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("infinity", ["instance", 50.0])
def test_the_algorithms_themselves_are_among_the_weights(name, infinity):
    """With the right weights the executor is the algorithm, at sizes far from any training."""
    network = with_relaxation(create(name), *EXACT[name])
    algorithm = ALGORITHMS[name]
    graphs = jax.tree.map(jnp.asarray, sample_graphs("grid", 3, 60, seed=2))
    trace = run(algorithm, graphs)
    truth = jax.vmap(lambda t: make_truth(algorithm, t, infinity, 60))(trace)
    networks = jax.tree.map(lambda leaf: leaf[None], network)
    free_run = FreeRun.told(networks, (Task(algorithm, SUPERVISIONS["na"]),), [trace], infinity)
    execution = free_run.run(graphs, np.arange(3), "last")
    reached = np.asarray(truth.pred[:, -1]) >= 0
    key = np.asarray(execution.key)[0, :, 0][reached]
    np.testing.assert_allclose(key, np.asarray(truth.key[:, -1])[reached], rtol=1e-4, atol=1e-6)
    if name not in ("bfs", "widest_par"):  # where several predecessors are equally good
        pointer = np.asarray(execution.pointer)[0, :, 0][reached]
        np.testing.assert_array_equal(pointer, np.asarray(truth.pred[:, -1])[reached])


@pytest.mark.parametrize("name", ["reliable_par", "reliable_seq"])
def test_a_source_keeps_its_key_beside_an_edge_near_one(name):
    """The way there and back is worse by so little that it could count as equal, and be taken."""
    network, algorithm = with_relaxation(create(name), *EXACT[name]), ALGORITHMS[name]
    star, weights = np.array([[0, 0], [1, 2]]), np.array([0.99998, 0.1])
    graphs = from_edges(3, 1, np.zeros(2, int), star, weights, source=np.zeros(1, int))
    graphs = jax.tree.map(jnp.asarray, graphs)
    networks = jax.tree.map(lambda leaf: leaf[None], network)
    tasks = (Task(algorithm, SUPERVISIONS["na"]),)
    free_run = FreeRun.told(networks, tasks, [run(algorithm, graphs)], "instance").with_steps(40)
    execution = free_run.run(graphs, np.array([0]), "last")
    np.testing.assert_array_equal(np.asarray(execution.pointer)[0, 0, 0], [0, 0, 0])
    np.testing.assert_allclose(np.asarray(execution.key)[0, 0, 0], [1, 0.99998, 0.1], rtol=1e-6)


def test_weights_that_are_small_are_none_and_can_come_back():
    theta = jnp.array([-1.0, -0.1, 0.0, 0.05, 0.1, 0.6])
    value, slope = jax.vmap(jax.value_and_grad(sparse_weight))(theta)
    np.testing.assert_allclose(value, [-0.9, 0, 0, 0, 0, 0.3], atol=1e-6)
    np.testing.assert_allclose(slope, [1.9, 0.1, 0.1, 0.1, 0.1, 1.1], atol=1e-6)


@pytest.mark.parametrize("layout_name", LAYOUTS)
def test_reading_at_a_pointer_and_its_gradient(layout_name):
    """Forwards the arg-max, backwards the softmax; with `hard` off, the softmax both ways."""
    graph = random_graphs(np.random.default_rng(3), 2, 5)[1]
    layout = padded_layout(graph, ("weight",), layout_name)
    shape, rng = layout.features[0].shape, np.random.default_rng(0)
    scores, values = (jnp.asarray(rng.normal(size=shape), jnp.float32) for _ in range(2))
    weigh = jnp.asarray(rng.normal(size=5), jnp.float32)

    @partial(quick_jit, static_argnums=0)
    def pull_back(hard):
        read = partial(read_at_pointer, layout, hard=jnp.bool_(hard))
        return jax.vjp(lambda s, v: read(s, v), scores, values)[1](weigh), read(scores, values)

    @quick_jit
    def soft_reference():
        mean = lambda s, v: layout.sum_scores(layout.softmax_scores(s) * v)  # noqa: E731
        return jax.vjp(mean, scores, values)[1](weigh), mean(scores, values)

    (hard_scores, hard_values), hard = pull_back(True)
    (soft_scores, soft_values), soft = pull_back(False)
    (d_scores, d_values), mean = soft_reference()
    np.testing.assert_allclose(soft, mean, rtol=1e-5)
    np.testing.assert_allclose(soft_values, d_values, atol=1e-6)
    np.testing.assert_allclose(soft_scores, d_scores, atol=1e-6)
    np.testing.assert_allclose(hard_scores, d_scores, atol=1e-6)
    pointer = _one_hot_argmax(layout, scores)
    np.testing.assert_allclose(hard, layout.sum_scores(pointer * values), rtol=1e-6)
    np.testing.assert_allclose(hard_values, layout.receiver_scores(weigh) * pointer, rtol=1e-6)


def test_candidates_learn_only_once_the_direction_is_decided():
    layout = padded_layout(complete_graph(4, 0.5), ("weight",), "dense")
    x = jnp.arange(4.0)[:, None]

    def total(relaxation):
        return jnp.sum(relaxation.candidates(x[:, 0], layout))

    relaxation = create("bellman_ford").specialists[0].relaxation
    for direction, learns in ((0.0, False), (0.01, False), (-0.03, True)):
        now = dataclasses.replace(relaxation, direction=jnp.full((1, 1), direction))
        gradient = jax.grad(total)(now)
        assert np.any(np.asarray(gradient.theta) != 0) == learns


def test_an_algorithm_runs_alone_as_it_runs_with_others():
    network = create("prim", "bfs", "bellman_ford")
    rng = np.random.default_rng(1)
    layout = padded_layout(random_graphs(rng, 2, 5)[1], network.kinds, "dense")
    features = tuple(jnp.asarray(rng.random((5, f)), jnp.float32) for f in (2, 1, 1))
    together = run_step(network, layout, features)
    assert network.independent
    for task in range(3):
        (alone,) = run_step(network.for_task(task), layout, features[task : task + 1])
        for ours, theirs in zip(alone, together[task], strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_only_the_weights_of_terms_are_asked_to_be_few():
    network = create("prim", "dijkstra")
    for task in range(2):
        (loss,) = network.priors(task).values()
        theta = np.abs(np.asarray(network.specialists[task].relaxation.theta))
        assert float(loss) == pytest.approx(0.3 * np.sum(np.minimum(theta, 0.3)))
    others = [MODELS[model].create((ALGORITHMS["prim"],), 2, jax.random.key(0)) for model in PAPER]
    assert [network.priors(0) for network in others] == [{}, {}]


PAPER = ("ne", "ne++")
