"""What holds at every step of every trace, whatever the graph."""

from types import SimpleNamespace

import numpy as np
import pytest
from algorithms import batches, oracles
from hypothesis import given

from algotransfer.algorithms import ALGORITHMS, run
from algotransfer.algorithms.registry import PAPER_ALGORITHMS

SEQUENTIAL = [name for name in PAPER_ALGORITHMS if ALGORITHMS[name].sequential]
PARALLEL = [name for name in PAPER_ALGORITHMS if name not in SEQUENTIAL]
EACH_ALGORITHM = pytest.mark.parametrize("name", PAPER_ALGORITHMS)


def traced(name, graphs):
    """The trace as NumPy arrays, with the nodes reached at each step."""
    trace = run(name, graphs)
    key, pred = np.asarray(trace.key), np.asarray(trace.pred)
    return SimpleNamespace(
        key=key,
        pred=pred,
        visited=None if trace.visited is None else np.asarray(trace.visited),
        length=np.asarray(trace.length),
        reached=key != oracles.RULES[name].unreached,
        is_source=np.arange(graphs.num_nodes) == graphs.source[:, None],
        step=np.arange(graphs.num_nodes + 1),
    )


def better(name, a, b):
    return a < b if oracles.RULES[name].smaller else a > b


def at(values, step):
    """The state of each graph at its own step."""
    return values[np.arange(len(values)), step]


@EACH_ALGORITHM
@given(graphs=batches.random_batches())
def test_step_0_is_the_initial_state(name, graphs):
    trace, rule, n = traced(name, graphs), oracles.RULES[name], graphs.num_nodes
    source_key = np.float32(rule.source_key(n))
    np.testing.assert_array_equal(
        trace.key[:, 0], np.where(trace.is_source, source_key, rule.unreached)
    )
    np.testing.assert_array_equal(
        trace.pred[:, 0], np.where(trace.is_source, graphs.source[:, None], -1)
    )
    assert trace.key.shape == trace.pred.shape == (len(graphs), n + 1, n)
    assert name in PARALLEL or not trace.visited[:, 0].any()


@EACH_ALGORITHM
@given(graphs=batches.random_batches())
def test_steps_after_the_last_repeat_it(name, graphs):
    trace = traced(name, graphs)
    assert np.all((trace.length >= 1) & (trace.length <= graphs.num_nodes))
    late = np.minimum(trace.step, trace.length[:, None])
    for values in (trace.key, trace.pred, trace.visited):
        if values is not None:
            repeated = np.take_along_axis(values, late[:, :, None], axis=1)
            np.testing.assert_array_equal(values, repeated)


@EACH_ALGORITHM
@given(graphs=batches.random_batches())
def test_keys_only_get_better(name, graphs):
    key = traced(name, graphs).key
    worse = better(name, key[:, :-1], key[:, 1:])
    assert not worse.any()


@EACH_ALGORITHM
@given(graphs=batches.random_batches())
def test_predecessors_change_only_with_the_key(name, graphs):
    trace = traced(name, graphs)
    changed = trace.pred[:, 1:] != trace.pred[:, :-1]
    assert np.all(better(name, trace.key[:, 1:], trace.key[:, :-1])[changed])


@EACH_ALGORITHM
@given(graphs=batches.random_batches())
def test_predecessors_are_a_tree_at_every_step(name, graphs):
    assert_trees(name, graphs)


@EACH_ALGORITHM
def test_predecessors_are_a_tree_in_hand_made_graphs(name):
    assert_trees(name, batches.hand_made())


@EACH_ALGORITHM
def test_predecessors_are_a_tree_in_the_paper_s_families(name):
    assert_trees(name, batches.families(num_nodes=20, num_graphs=60, seed=5))


def assert_trees(name, graphs):
    """Reached nodes, and they alone, lead to the source along edges."""
    trace, n = traced(name, graphs), graphs.num_nodes
    np.testing.assert_array_equal(trace.pred >= 0, trace.reached)
    source = graphs.source[:, None, None]
    assert np.all(np.where(trace.is_source[:, None], trace.pred == source, True))

    is_edge = np.zeros((len(graphs), n + 1, n + 1), bool)
    is_edge[np.arange(len(graphs))[:, None], graphs.senders, graphs.receivers] = True
    graph, step, node = np.nonzero(trace.reached & ~trace.is_source[:, None])
    assert is_edge[graph, trace.pred[graph, step, node], node].all()

    ancestor = np.where(trace.reached, trace.pred, source)
    for _ in range(n.bit_length()):  # each round doubles the length of the way
        ancestor = np.take_along_axis(ancestor, ancestor, axis=2)
    assert np.all(ancestor == source)


@pytest.mark.parametrize("name", PARALLEL)
@given(graphs=batches.random_batches())
def test_a_parallel_trace_ends_with_the_first_step_that_changes_nothing(name, graphs):
    trace = traced(name, graphs)
    np.testing.assert_array_equal(at(trace.key, trace.length), at(trace.key, trace.length - 1))
    changed = np.any(trace.key[:, 1:] != trace.key[:, :-1], axis=-1)  # by step 1, 2, …
    np.testing.assert_array_equal(changed, trace.step[1:] < trace.length[:, None])


@pytest.mark.parametrize("name", SEQUENTIAL)
@given(graphs=batches.random_batches())
def test_a_sequential_step_visits_the_best_queued_node(name, graphs):
    trace = traced(name, graphs)
    before, after = trace.visited[:, :-1], trace.visited[:, 1:]
    queued = trace.reached[:, :-1] & ~before
    worst = np.inf if oracles.RULES[name].smaller else -np.inf
    pick = np.argmin if oracles.RULES[name].smaller else np.argmax  # the first of equals
    popped = pick(np.where(queued, trace.key[:, :-1], worst), axis=-1)
    chosen = queued & (np.arange(graphs.num_nodes) == popped[..., None])
    np.testing.assert_array_equal(after, before | chosen)
    np.testing.assert_array_equal(trace.length, chosen.any(-1).sum(-1))
    # In the end all that is reached has been visited; what has been visited never changes.
    np.testing.assert_array_equal(trace.visited[:, -1], trace.reached[:, -1])
    np.testing.assert_array_equal(trace.key[:, 1:][before], trace.key[:, :-1][before])
    np.testing.assert_array_equal(trace.pred[:, 1:][before], trace.pred[:, :-1][before])


@given(graphs=batches.random_batches())
def test_dfs_visits_deepest_first_and_keeps_the_first_predecessor(graphs):
    """The paper's search: a parent is the first discoverer, a key is n minus the depth."""
    trace, n = traced("dfs", graphs), graphs.num_nodes
    graph, step, node = np.nonzero(trace.reached[:, 1:] & ~trace.reached[:, :-1])
    popped = np.argmax(trace.visited[:, 1:] & ~trace.visited[:, :-1], axis=-1)
    discoverer = trace.pred[graph, step + 1, node]
    np.testing.assert_array_equal(discoverer, popped[graph, step])
    np.testing.assert_array_equal(discoverer, trace.pred[graph, -1, node])
    depth = n - trace.key[:, -1]
    np.testing.assert_array_equal(depth[graph, node], depth[graph, discoverer] + 1)
    # A popped node discovers every neighbour that is still unreached, all at once.
    for i in range(0, len(graphs), 10):
        around = oracles.neighbours(graphs[i])
        for t in range(trace.length[i]):
            neighbours = list(around[popped[i, t]])
            assert trace.reached[i, t + 1, neighbours].all()
