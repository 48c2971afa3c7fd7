"""What the network is shown and held to, against plain loops over raw traces."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from training.by_hand import record
from training.small import graphs, one, tasks_of

from algotransfer.algorithms import ALGORITHMS, SEQUENTIAL
from algotransfer.algorithms.registry import PAPER_ALGORITHMS
from algotransfer.algorithms.truth import make_truth, stand_in_for
from algotransfer.training.examples import make_examples


def truth_of(name, dataset, infinity="instance"):
    (truth,) = make_examples(tasks_of((name,), ("tf",)), dataset, infinity).truths
    return truth


@pytest.mark.parametrize(
    ("name", "infinity"),
    [*((name, "instance") for name in PAPER_ALGORITHMS), ("dfs", 7.5), ("widest_par", 7.5)],
)
def test_truth_holds_what_plain_loops_say(name, infinity):
    dataset = graphs()
    truths = truth_of(name, dataset, infinity)
    algorithm = ALGORITHMS[name]
    num_steps = int(np.max(truths.length))
    for number in range(len(dataset)):
        truth, expected = one(truths, number), record(name, dataset, number, infinity)
        assert truth.key.shape == (num_steps + 1, dataset.num_nodes)
        assert truth.length == expected.length
        assert truth.source == expected.source
        np.testing.assert_array_equal(truth.pred, expected.pred[: num_steps + 1])
        np.testing.assert_array_equal(np.flatnonzero(truth.reached), expected.reached(-1))
        teacher = algorithm.framework.teacher(truth)
        for t in range(num_steps + 1):
            keys = [expected.shown(t, v) for v in range(dataset.num_nodes)]
            np.testing.assert_allclose(truth.key[t], keys, rtol=1e-6)
            done = expected.visited[t] if algorithm.sequential else expected.reached(t)
            done = np.flatnonzero(done) if algorithm.sequential else done
            np.testing.assert_array_equal(np.flatnonzero(truth.visited[t]), done)
        for t in range(num_steps):
            seen = expected.teacher(t)
            np.testing.assert_allclose(teacher.key[t], seen[:, -1], rtol=1e-6)
            if algorithm.sequential:
                np.testing.assert_array_equal(teacher.visited[t], seen[:, 0])
                tied = expected.next_nodes(t)
                share = np.isin(np.arange(dataset.num_nodes), tied) / max(1, len(tied))
                np.testing.assert_allclose(truth.next_node[t], share, rtol=1e-6)
                assert bool(tied) == (t < expected.length)
        np.testing.assert_allclose(truth.start.key, expected.teacher(0)[:, -1], rtol=1e-6)


def test_a_sequential_trace_shows_a_key_only_once_its_node_has_been_visited():
    """Dijkstra finds keys long before it visits; prim improves them meanwhile."""
    truths = truth_of("prim", graphs())
    hidden = 0
    for number in range(len(graphs())):
        truth = one(truths, number)
        teacher = SEQUENTIAL.teacher(truth)
        unvisited = ~truth.visited[:-1]
        initial = np.broadcast_to(truth.key[0], teacher.key.shape)
        np.testing.assert_array_equal(teacher.key[unvisited], initial[unvisited])
        np.testing.assert_array_equal(teacher.key[~unvisited], truth.key[:-1][~unvisited])
        hidden += np.sum(truth.key[:-1] != teacher.key)
    assert hidden > 10  # there was something to hide


STAND_INS = {  # final keys of a graph of four nodes -> what stands for ∞
    "dijkstra": ([0, 0.5, 2.5, np.inf], 3.5),
    "bellman_ford": ([0, 0.5, 2.5, np.inf], 3.5),
    "widest_par": ([np.inf, 0.5, 0.75, 0], 1.75),
    "widest_seq": ([np.inf, 0.5, 0.75, 0], 1.75),
    "prim": ([0, 0.5, 2.5, np.inf], 2),
    "dfs": ([4, 3, 2, np.inf], 5),
}


@pytest.mark.parametrize("name", STAND_INS)
def test_infinity_has_a_finite_stand_in(name):
    final, expected = STAND_INS[name]
    batch = jnp.array([final], jnp.float32)
    np.testing.assert_allclose(stand_in_for(ALGORITHMS[name], batch, "instance"), [expected])
    np.testing.assert_allclose(stand_in_for(ALGORITHMS[name], batch, 40.0), [40.0])


def test_keys_of_depth_first_search_are_divided_by_the_number_of_nodes():
    dataset = graphs()
    truth = truth_of("dfs", dataset)
    raw = np.asarray(dataset.trace("dfs").key)[:, : truth.key.shape[1]]
    finite = np.isfinite(raw)
    np.testing.assert_allclose(np.asarray(truth.key)[finite], raw[finite] / 6, rtol=1e-6)
    np.testing.assert_allclose(np.asarray(truth.key)[~finite], 7 / 6, rtol=1e-6)


def test_there_are_ties_to_share():
    """In widest_seq and dfs ties are the rule; the data of these tests has them."""
    for name in ("dfs", "widest_seq"):
        share = np.asarray(truth_of(name, graphs()).next_node)
        assert np.any((share > 0) & (share < 1))


def test_a_truth_of_one_graph_needs_no_batch():
    dataset = graphs()
    algorithm = ALGORITHMS["dijkstra"]
    trace = dataset.trace(algorithm)
    batch = make_truth(algorithm, trace, "instance", 6)
    single = make_truth(algorithm, trace[1], "instance", 6)
    for ours, theirs in zip(jax.tree.leaves(single), jax.tree.leaves(one(batch, 1)), strict=True):
        np.testing.assert_array_equal(ours, theirs)
