"""Traces of all nine algorithms: bit for bit a plain replay, and the answers of other libraries."""

import numpy as np
import pytest
from algorithms import batches, oracles
from hypothesis import given

from algotransfer.algorithms import ALGORITHMS, run
from algotransfer.algorithms.registry import PAPER_ALGORITHMS
from algotransfer.graphs import concatenate

EACH_ALGORITHM = pytest.mark.parametrize("name", PAPER_ALGORITHMS)
LAYOUTS = ("dense", "sparse")


def assert_replayed(name, graphs, layouts=LAYOUTS):
    """All layouts give the replayed trace, every step and every bit of it."""
    key, pred, visited, length = oracles.replay(name, graphs)
    for layout in layouts:
        trace = run(name, graphs, layout=layout)
        np.testing.assert_array_equal(trace.key, key)
        np.testing.assert_array_equal(trace.pred, pred)
        np.testing.assert_array_equal(trace.length, length)
        assert trace.key.dtype == np.float32
        assert trace.pred.dtype == trace.length.dtype == np.int32
        if ALGORITHMS[name].sequential:
            np.testing.assert_array_equal(trace.visited, visited)
        else:
            assert trace.visited is None


@EACH_ALGORITHM
@given(graphs=batches.random_batches())
def test_random_graphs_are_replayed(name, graphs):
    assert_replayed(name, graphs)


@EACH_ALGORITHM
def test_hand_made_graphs_are_replayed(name):
    assert_replayed(name, batches.hand_made())


@EACH_ALGORITHM
def test_the_paper_s_families_are_replayed(name):
    assert_replayed(name, batches.families(num_nodes=20, num_graphs=60, seed=3))


@EACH_ALGORITHM
def test_one_node_is_replayed(name):
    assert_replayed(name, concatenate([batches.graph(1, [])]), layouts=["dense"])


@pytest.mark.parametrize("name", ["widest_par", "dijkstra"])
def test_one_node_is_replayed_by_the_sparse_engines(name):
    assert_replayed(name, concatenate([batches.graph(1, [])]), layouts=["sparse"])


@EACH_ALGORITHM
def test_two_nodes_are_replayed(name):
    joined, apart = batches.graph(2, [(0, 1)], source=1), batches.graph(2, [])
    assert_replayed(name, concatenate([joined, apart]), layouts=["dense"])


@pytest.mark.parametrize("name", ["reliable_par", "prim", "dfs"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_final_record_is_the_last_step(name, layout):
    graphs = batches.families(num_nodes=20, num_graphs=60, seed=4)
    full = run(name, graphs, layout=layout)
    final = run(name, graphs, record="final", layout=layout)
    assert final.key.shape == (180, 1, 20)
    np.testing.assert_array_equal(final.final_key, full.final_key)
    np.testing.assert_array_equal(final.final_pred, full.final_pred)
    np.testing.assert_array_equal(final.length, full.length)
    if full.visited is not None:
        np.testing.assert_array_equal(final.visited, full.visited[:, -1:])


def test_one_graph_and_a_batch_agree():
    graphs = batches.hand_made()
    batch = run("dijkstra", graphs)
    for i in (0, 4, 13):
        single = run("dijkstra", graphs[i])
        assert single.key.shape == (batches.NUM_NODES + 1, batches.NUM_NODES)
        assert single.length.shape == ()
        np.testing.assert_array_equal(single.key, batch[i].key)
        np.testing.assert_array_equal(single.pred, batch[i].pred)
        np.testing.assert_array_equal(single.visited, batch[i].visited)


@pytest.mark.parametrize("name", ["bfs", "dfs"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_searches_take_any_weights(name, layout):
    edges = [(0, 1), (1, 2), (2, 3), (0, 3)]
    usual = run(name, batches.graph(5, edges), layout=layout)
    odd = run(name, batches.graph(5, edges, weights=[-1.0, 0.0, 7.0, -0.0]), layout=layout)
    np.testing.assert_array_equal(odd.key, usual.key)
    np.testing.assert_array_equal(odd.pred, usual.pred)


# Answers. Sums and products in float32 differ from float64 by rounding; choices do not.


def each(oracle, graphs):
    return np.stack([oracle(graphs[i]) for i in range(len(graphs))])


def reached(name, key):
    return key != ALGORITHMS[name].unreached_key


ANSWERS = {
    "bellman_ford": (oracles.distances, 2e-6),
    "dijkstra": (oracles.distances, 2e-6),
    "reliable_par": (oracles.reliabilities, 2e-6),
    "reliable_seq": (oracles.reliabilities, 2e-6),
    "widest_par": (oracles.bottlenecks, 0),
    "widest_seq": (oracles.bottlenecks, 0),
}


@pytest.mark.parametrize("name", ANSWERS)
@given(graphs=batches.random_batches())
def test_keys_are_optimal(name, graphs):
    oracle, tolerance = ANSWERS[name]
    key = np.asarray(run(name, graphs).final_key)
    np.testing.assert_allclose(key, each(oracle, graphs), rtol=tolerance)


@EACH_ALGORITHM
@given(graphs=batches.random_batches())
def test_the_source_s_component_is_reached(name, graphs):
    key = np.asarray(run(name, graphs).final_key)
    np.testing.assert_array_equal(reached(name, key), np.isfinite(each(oracles.hops, graphs)))


@given(graphs=batches.random_batches())
def test_prim_s_tree_has_least_weight(graphs):
    key = np.asarray(run("prim", graphs).final_key, np.float64)
    weight = np.where(np.isfinite(key), key, 0).sum(-1)
    np.testing.assert_allclose(weight, each(oracles.tree_weight, graphs), rtol=1e-12)


@given(graphs=batches.random_batches())
def test_bfs_reaches_a_node_after_as_many_steps_as_hops(graphs):
    trace, hops = run("bfs", graphs), each(oracles.hops, graphs)
    step = np.arange(graphs.num_nodes + 1)[:, None]
    np.testing.assert_array_equal(trace.key, hops[:, None] <= step)
    farthest = np.max(hops, axis=1, where=np.isfinite(hops), initial=0)
    np.testing.assert_array_equal(trace.length, farthest + 1)


@pytest.mark.parametrize("name", [name for name in PAPER_ALGORITHMS if name != "bfs"])
@given(graphs=batches.random_batches())
def test_every_key_comes_through_its_predecessor(name, graphs):
    """A final key is what its predecessor's key and their edge give, to the last bit."""
    trace, relax = run(name, graphs), oracles.RULES[name].candidate
    for i in range(0, len(graphs), 5):
        around = oracles.neighbours(graphs[i])
        key, pred = np.asarray(trace.final_key[i]), np.asarray(trace.final_pred[i])
        for v in np.flatnonzero((pred >= 0) & (pred != np.arange(len(pred)))):
            assert key[v] == relax(key[pred[v]], around[pred[v]][v])
