"""Losses of whole executions against plain NumPy, and the choice among trajectories."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from networks.plain import PLAIN
from networks.small import LAYOUTS, quick_jit
from training import by_hand
from training.small import examples_of, graphs, networks, plain_graph, tasks_of

from algotransfer.training import objective as module
from algotransfer.training.objective import objective

TEACHER_FORCED = [
    ("ne", ("dijkstra",), ("tf",)),
    ("ne", ("widest_seq",), ("tf",)),  # ties
    ("ne", ("dfs",), ("tf",)),  # ties, and keys in other units
    ("ne", ("bellman_ford",), ("tf",)),
    ("ne", ("bfs",), ("tf",)),
    ("ne++", ("prim",), ("tf",)),
    ("ne++", ("reliable_par",), ("tf",)),
    ("ne++", ("prim", "bfs"), ("tf", "tf")),
]
NO_ALGORITHM = [
    ("ne", ("dijkstra",), ("na",)),
    ("ne", ("bfs",), ("na",)),
    ("ne", ("widest_par",), ("na",)),
    ("ne++", ("dijkstra",), ("na",)),
    ("ne", ("bfs", "bellman_ford"), ("tf", "na")),
    ("ne", ("bellman_ford", "dijkstra"), ("tf", "na")),  # of different length
    ("ne++", ("dijkstra", "dijkstra"), ("tf", "na")),
]
TRAJECTORIES = 4


def case_id(case):
    model, names, supervisions = case
    return "-".join([model, *(f"{n}_{s}" for n, s in zip(names, supervisions, strict=True))])


@partial(quick_jit, static_argnums=(1, 4))
def graph_losses(network, tasks, examples, noise, select):
    """`objective` with its noise given."""

    def one(layout, truths, noise):
        return module._graph_losses(network, tasks, layout, truths, noise, select)[0]

    return jax.vmap(one)(examples.layouts, examples.truths, noise)


def draw_noise(tasks, examples, dataset):
    if not tasks[-1].samples:
        return None
    shape = (len(dataset), TRAJECTORIES, examples.num_steps, dataset.num_nodes)
    return jnp.asarray(np.random.default_rng(8).gumbel(size=shape), jnp.float32)


def trajectories_by_hand(case, dataset, noise, infinity="instance"):
    """Losses of every graph and trajectory: [graph][trajectory][task] -> name -> number."""
    model, names, supervisions = case
    _, plain = networks(model, names)
    return [
        [
            by_hand.losses(
                plain,
                plain_graph(dataset, number),
                [by_hand.record(name, dataset, number, infinity) for name in names],
                supervisions,
                sample,
            )
            for sample in ([None] if noise is None else noise[number])
        ]
        for number in range(len(dataset))
    ]


def selected(trajectories, select):
    """The target's best trajectory or the mean, the base averaged over trajectories."""
    *base, target = ([t[task] for t in trajectories] for task in range(len(trajectories[0])))

    def mean(losses):
        return {name: np.mean([loss[name] for loss in losses]) for name in losses[0]}

    best = min(target, key=lambda losses: sum(losses.values()))
    return [*map(mean, base), best if select == "best" else mean(target)]


def check(results, expected):
    """Named losses of every task and graph."""
    for task, named in enumerate(results):
        assert all(named.keys() == graph[task].keys() for graph in expected)
        for name, values in named.items():
            numbers = [graph[task][name] for graph in expected]
            np.testing.assert_allclose(values, numbers, rtol=1e-4, atol=1e-5, err_msg=name)


@pytest.mark.parametrize("case", TEACHER_FORCED, ids=case_id)
def test_teacher_forced_losses_are_those_worked_out_by_hand(case):
    model, names, supervisions = case
    dataset, tasks = graphs(), tasks_of(names, supervisions)
    network, _ = networks(model, names)
    examples = examples_of(tasks, dataset)
    results = graph_losses(network, tasks, examples, None, "best")
    check(results, [graph[0] for graph in trajectories_by_hand(case, dataset, None)])


@pytest.mark.parametrize("case", NO_ALGORITHM, ids=case_id)
def test_losses_without_the_algorithm_are_those_worked_out_by_hand(case):
    model, names, supervisions = case
    dataset, tasks = graphs(), tasks_of(names, supervisions)
    network, _ = networks(model, names)
    examples = examples_of(tasks, dataset)
    noise = draw_noise(tasks, examples, dataset)
    trajectories = trajectories_by_hand(case, dataset, noise)
    for select in ("best", "mean") if noise is not None else ("best",):
        results = graph_losses(network, tasks, examples, noise, select)
        check(results, [selected(graph, select) for graph in trajectories])


def test_a_constant_stand_in_for_infinity():
    case = ("ne", ("dijkstra",), ("tf",))
    dataset, tasks = graphs(), tasks_of(*case[1:])
    network, _ = networks(*case[:2])
    results = graph_losses(network, tasks, examples_of(tasks, dataset, 3.25), None, "best")
    expected = trajectories_by_hand(case, dataset, None, infinity=3.25)
    check(results, [graph[0] for graph in expected])


def test_both_layouts_give_the_same_losses_and_gradients():
    dataset, tasks = graphs(), tasks_of(("dijkstra",), ("tf",))
    network, _ = networks("ne", ("dijkstra",))

    @jax.jit
    def value_and_gradient(network, examples, noise):
        def of_one(network, layout, truths, noise):
            losses = module._graph_losses(network, tasks, layout, truths, noise, "best")[0]
            return sum(loss for task in losses for loss in task.values())

        def total(network):
            of_all = jax.vmap(partial(of_one, network))
            return jnp.sum(of_all(examples.layouts, examples.truths, noise))

        return jax.value_and_grad(total)(network)

    results = []
    for layout in LAYOUTS:
        examples = examples_of(tasks, dataset, layout=layout)
        noise = draw_noise(tasks, examples, dataset)
        results.append(jax.tree.leaves(value_and_gradient(network, examples, noise)))
    for dense, sparse in zip(*results, strict=True):
        np.testing.assert_allclose(dense, sparse, rtol=1e-3, atol=1e-4 * np.abs(dense).max())


@pytest.mark.parametrize(
    ("model", "names", "supervisions"),
    [
        ("ne", ("dijkstra",), ("na",)),
        pytest.param("ne++", ("bellman_ford", "prim"), ("tf", "na"), marks=pytest.mark.slow),
    ],
)
def test_running_the_best_trajectory_again_is_going_back_through_the_minimum(
    model, names, supervisions
):
    """Value and gradient of the short cut, against all trajectories and the least of them.

    With full optimisation: what is compiled together must not change what a gradient is.
    """
    dataset, tasks = graphs(), tasks_of(names, supervisions)
    network, _ = networks(model, names)
    assert network.independent  # else there is no short cut
    examples = examples_of(tasks, dataset)
    noise = draw_noise(tasks, examples, dataset)

    def short_cut(network, layout, truths, noise):
        losses = module._graph_losses(network, tasks, layout, truths, noise, "best")[0]
        return sum(loss for task in losses for loss in task.values())

    def all_the_way(network, layout, truths, noise):
        *base, target = jax.vmap(
            lambda noise: module._trajectory_losses(network, tasks, layout, truths, noise)[0]
        )(noise)
        averaged = sum(jnp.mean(loss) for task in base for loss in task.values())
        total = sum(target.values())
        return averaged + total[jnp.argmin(total)]  # of trajectories with equal choices the first

    @jax.jit
    def both(network):
        def total(function, network):
            run = jax.vmap(partial(function, network))
            return jnp.sum(run(examples.layouts, examples.truths, noise))

        return [
            jax.value_and_grad(partial(total, function))(network)
            for function in (short_cut, all_the_way)
        ]

    (value, gradient), (expected, expected_gradient) = both(network)
    np.testing.assert_allclose(value, expected, rtol=1e-5)
    pairs = zip(jax.tree.leaves(gradient), jax.tree.leaves(expected_gradient), strict=True)
    for ours, theirs in pairs:
        np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-4 * np.abs(theirs).max())


def test_the_best_trajectory_is_better_than_their_mean():
    dataset, tasks = graphs(), tasks_of(("dijkstra",), ("na",))
    network, _ = networks("ne", ("dijkstra",))
    examples = examples_of(tasks, dataset)
    noise = draw_noise(tasks, examples, dataset)
    run = quick_jit(objective, static_argnums=(1, 4))
    best, mean = (run(network, tasks, examples, noise, select)[0] for select in ("best", "mean"))
    assert np.all(best <= mean)
    assert np.any(best < mean - 0.01)


@pytest.mark.parametrize("model", PLAIN)
def test_the_objective_is_the_sum_of_its_parts_and_its_key_decides_the_noise(model):
    dataset, tasks = graphs(), tasks_of(("bfs", "prim"), ("tf", "na"))
    network, _ = networks(model, ("bfs", "prim"))
    examples = examples_of(tasks, dataset)

    @quick_jit
    def run(key):
        noise = module.draw_noise(tasks, examples, 2, key)
        return objective(network, tasks, examples, noise, "best")

    total, parts = run(jax.random.key(0))
    assert total.shape == (len(dataset),)
    added = sum(loss for task in parts for loss in task.values())
    np.testing.assert_allclose(total, added, rtol=1e-5)
    again, _ = run(jax.random.key(0))
    other, _ = run(jax.random.key(1))
    np.testing.assert_array_equal(total, again)
    assert np.any(total != other)


def test_a_trajectory_that_overflowed_is_never_the_best():
    losses = jnp.array([jnp.nan, 3.0, jnp.inf, 2.0])
    assert module._argmin(losses) == 3
