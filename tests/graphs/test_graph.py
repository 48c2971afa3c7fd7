"""`Graph`: both views, batches, and how edges are put in order."""

import inspect

import jax
import jax.numpy as jnp
import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algotransfer.errors import UserError
from algotransfer.graphs import Graph, concatenate, from_edges
from algotransfer.graphs import graph as graph_module


@st.composite
def batches(draw):
    """Arguments of `from_edges`: a few graphs of one size, edges in any order and direction."""
    num_nodes = draw(st.integers(1, 9))
    num_graphs = draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    chosen = np.triu(rng.random((num_graphs, num_nodes, num_nodes)) < draw(st.floats(0, 1)), 1)
    graph_id, *ends = rng.permutation(np.argwhere(chosen)).T
    ends = rng.permuted(np.stack(ends), axis=0)
    weights = rng.random(len(graph_id))
    source = rng.integers(num_nodes, size=num_graphs)
    return num_nodes, num_graphs, graph_id, ends, weights, source


def matrices(num_nodes, num_graphs, graph_id, ends, weights, source):
    """The weight and adjacency matrices that the edges say."""
    matrix = np.zeros((num_graphs, num_nodes, num_nodes), np.float32)
    adjacency = np.zeros(matrix.shape, bool)
    for first, second in (ends, ends[::-1]):
        matrix[graph_id, first, second] = weights
        adjacency[graph_id, first, second] = True
    return matrix, adjacency


@given(batches())
def test_edges_are_sorted_and_padded(arguments):
    num_nodes, *_, source = arguments
    graph = from_edges(*arguments)
    assert np.array_equal(graph.source, source)
    for number, (matrix, adjacency) in enumerate(zip(*matrices(*arguments), strict=True)):
        senders, receivers = np.nonzero(adjacency)  # in order of sender, then receiver
        count = len(senders)
        assert graph.num_edges()[number] == count // 2
        assert np.array_equal(graph.senders[number, :count], senders)
        assert np.array_equal(graph.receivers[number, :count], receivers)
        assert np.array_equal(graph.weights[number, :count], matrix[senders, receivers])
        assert (graph.senders[number, count:] == num_nodes).all()
        assert (graph.receivers[number, count:] == num_nodes).all()
        assert (graph.weights[number, count:] == 0).all()
    assert graph.edge_mask().sum(1).max() == graph.senders.shape[1]  # no more padding than needed


@given(batches())
@settings(max_examples=6)  # each shape is compiled anew
def test_dense_view_is_the_sparse_one(arguments):
    graph = from_edges(*arguments)
    matrix, adjacency = matrices(*arguments)
    assert np.array_equal(graph.weight_matrix(), matrix)
    assert np.array_equal(graph.adjacency(), adjacency)


@given(batches())
def test_packed_and_indirect_sorting_agree(arguments):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(graph_module, "PACKED_BITS", 0)
        indirectly = from_edges(*arguments)
    assert same(indirectly, from_edges(*arguments))


@given(batches(), st.integers(1, 200))
def test_block_size_does_not_matter(arguments, entries):
    whole = from_edges(*arguments)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(graph_module, "BLOCK_ENTRIES", entries)
        assert same(from_edges(*arguments), whole)


@pytest.mark.parametrize("packed_bits", [0, 32])
@pytest.mark.parametrize("second", [(0, 1), (1, 0), (2, 2)])
def test_an_edge_is_listed_once(monkeypatch, packed_bits, second):
    monkeypatch.setattr(graph_module, "PACKED_BITS", packed_bits)
    with pytest.raises(ValueError, match="an edge is listed twice, or joins a node to itself"):
        from_edges(
            3, 1, np.zeros(2, int), np.array([(0, 1), second]).T, np.ones(2), np.zeros(1, int)
        )


def test_indexing_a_batch(batch):
    assert batch.batch_shape == (3,)
    assert len(batch) == 3
    single = batch[1]
    assert single.batch_shape == ()
    assert single.num_edges() == 2
    assert isinstance(single.source, np.ndarray)
    assert same(batch[1:], batch[np.array([1, 2])])
    assert same(batch[np.array([False, True, True])], batch[1:])
    with pytest.raises(UserError, match=r"a single graph has no length; use graph\.num_nodes"):
        len(single)


def test_views_of_a_single_graph(batch):
    assert np.array_equal(batch[2].weight_matrix(), batch.weight_matrix()[2])
    assert np.array_equal(batch[2].adjacency(), batch.adjacency()[2])


def test_a_graph_is_a_pytree_under_jit(batch):
    doubled = jax.jit(lambda graph: 2 * graph.weight_matrix())(jax.tree.map(jnp.asarray, batch))
    assert np.array_equal(doubled, 2 * batch.weight_matrix())


def test_concatenate_pads_to_the_most_edges(batch):
    path = from_edges(
        4, 1, np.zeros(3, int), np.array([[0, 1, 2], [1, 2, 3]]), np.ones(3), np.array([3])
    )
    both = concatenate([batch, path])
    assert len(both) == 4
    assert both.senders.shape[1] == 6
    assert np.array_equal(both.weight_matrix()[:3], batch.weight_matrix())
    assert np.array_equal(both.weight_matrix()[3:], path.weight_matrix())
    assert both.source.tolist() == [0, 1, 2, 3]


def test_concatenate_takes_single_graphs(batch):
    assert same(concatenate([batch[0], batch[1:]]), batch)


def test_concatenate_needs_one_size(batch):
    with pytest.raises(ValueError, match=r"the graphs have 4, 5 nodes; expected one size"):
        concatenate([batch, from_edges(5, 1, *nothing(), np.zeros(1, int))])
    with pytest.raises(ValueError, match="graphs is empty; give at least one graph"):
        concatenate([])


@pytest.fixture
def batch():
    """Three graphs of four nodes with 0, 2 and 1 edges."""
    graph_id, ends = np.array([1, 2, 1]), np.array([[3, 0, 2], [0, 2, 1]])
    return from_edges(4, 3, graph_id, ends, np.array([0.5, 0.25, 0.75]), np.arange(3))


def nothing():
    return np.zeros(0, int), np.zeros((2, 0), int), np.zeros(0)


def same(one: Graph, other: Graph) -> bool:
    pairs = zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True)
    return one.num_nodes == other.num_nodes and all(np.array_equal(a, b) for a, b in pairs)


def test_concatenate_names_the_converter_of_other_graphs(batch):
    unchecked = inspect.unwrap(concatenate)  # without the annotations that only tests check
    with pytest.raises(UserError, match=r"of type Graph\); expected Graphs: from_networkx\(graph"):
        unchecked([batch[0], networkx.path_graph(batch.num_nodes)])
