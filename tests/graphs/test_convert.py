"""networkx objects and scipy's sparse matrices."""

import subprocess
import sys
import warnings

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

from algotransfer.errors import UserError
from algotransfer.files import Notice
from algotransfer.graphs import from_networkx, from_scipy, sample_graphs, to_networkx, to_scipy


@pytest.fixture
def towns():
    graph = nx.Graph()
    graph.add_node("Chur")
    graph.add_edge("Bern", "Basel", weight=0.5)
    graph.add_edge("Basel", ("a", 1))
    return graph


def test_from_networkx(towns):
    graph, names = from_networkx(towns, source="Basel")
    assert names == ("Chur", "Bern", "Basel", ("a", 1))
    assert graph.source == 2
    assert np.array_equal(graph.weight_matrix(), nx.to_numpy_array(towns))


def test_another_weight_attribute(towns):
    towns.edges["Bern", "Basel"]["length"] = 3
    with pytest.warns(Notice, match="^1 of 2 edges have no length; their weight is 1$"):
        graph, _ = from_networkx(towns, weight="length")
    assert sorted(graph.weights.tolist()) == [1, 1, 3, 3]


def test_an_attribute_that_no_edge_has(towns):
    with pytest.raises(UserError, match=r"^no edge has the attribute 'lenght'; choose one of 'wei"):
        from_networkx(towns, weight="lenght")
    with pytest.raises(UserError, match="its edges have none: leave weight out"):
        from_networkx(nx.path_graph(3), weight="length")


@pytest.mark.parametrize("library", [nx.Graph, nx.MultiDiGraph])
def test_distances_under_another_name_are_pointed_out(library):
    roads = library()
    roads.add_edge("Bern", "Basel", name="A1", toll=True, length=95.5)
    with pytest.warns(Notice, match=r"all weights are 1.*numbers in 'length':.*weight='length'\)$"):
        named = from_networkx(roads)
    assert set(named.graph.weights.tolist()) == {1}


def test_graphs_without_numbers_are_silent():
    roads = nx.path_graph(3)
    nx.set_edge_attributes(roads, "A1", "name")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        from_networkx(roads)
        from_networkx(nx.empty_graph(3), weight="length")


@pytest.mark.parametrize("value", ["heavy", None, [1], 1j])
def test_weights_are_numbers(towns, value):
    towns.edges["Bern", "Basel"]["weight"] = value
    with pytest.raises(ValueError, match=r"between 'Bern' and 'Basel' has weight .*; expected a n"):
        from_networkx(towns)


def test_nan(towns):
    towns.edges["Bern", "Basel"]["weight"] = float("nan")
    with pytest.raises(ValueError, match="has weight nan; expected a number that float32 can hold"):
        from_networkx(towns)


def test_directed_graphs(towns):
    directed = towns.to_directed()
    assert from_networkx(directed).graph.num_edges() == 2
    assert not from_networkx(directed).graph.directed  # every edge has its equal back
    directed.edges["Bern", "Basel"]["weight"] = 0.75
    assert from_networkx(directed).graph.directed
    directed.remove_edge("Bern", "Basel")
    graph, names = from_networkx(directed)
    assert graph.directed
    assert graph.num_edges() == 3
    again = to_networkx(graph, names)
    assert again.is_directed()
    assert set(again.edges) == set(directed.edges)


def test_multigraphs():
    graph = nx.MultiGraph([(0, 1, {"weight": 2}), (1, 0, {"weight": 2})])
    assert from_networkx(graph).graph.num_edges() == 1
    graph.add_edge(0, 1, weight=3)
    with pytest.raises(ValueError, match="listed with two weights, 2 and 3"):
        from_networkx(graph)


def test_self_loops_and_empty_graphs():
    with pytest.raises(ValueError, match="node 0 has an edge to itself"):
        from_networkx(nx.Graph([(0, 0)]))
    with pytest.raises(ValueError, match="the graph has no nodes"):
        from_networkx(nx.Graph())


def test_to_networkx_and_back(towns):
    graph, names = from_networkx(towns, source="Bern")
    back = to_networkx(graph, names, {"key": np.float32([1, 2, 3, 4])})
    assert back.graph["source"] == "Bern"
    assert back.nodes["Basel"] == {"key": 3.0}
    assert type(back.nodes["Basel"]["key"]) is float
    assert list(back) == list(names)
    assert np.array_equal(nx.to_numpy_array(back), nx.to_numpy_array(towns))


@pytest.mark.parametrize("family", ["er", "ba", "grid"])
def test_samples_come_back_unchanged(family):
    for graph in (sample_graphs(family, 5, 20)[k] for k in range(5)):
        source = int(graph.source)
        edges = graph.edge_mask()
        for back in (
            from_networkx(to_networkx(graph), source),
            from_scipy(to_scipy(graph), source),
        ):
            assert back.names == tuple(range(20))
            assert back.graph.source == source
            assert np.array_equal(back.graph.senders, graph.senders[edges])
            assert np.array_equal(back.graph.receivers, graph.receivers[edges])
            assert np.array_equal(back.graph.weights, graph.weights[edges])


@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_matrix, sp.coo_array, sp.lil_matrix])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, bool])
def test_scipy_formats(make, dtype):
    matrix = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], dtype)
    graph, names = from_scipy(make(matrix), source=2)
    assert names == (0, 1, 2)
    assert graph.source == 2
    assert np.array_equal(graph.weight_matrix(), matrix)
    assert to_scipy(graph).format == "csr"
    assert np.array_equal(to_scipy(graph).toarray(), matrix)


def test_a_stored_zero_is_an_edge_and_equal_entries_add_up():
    ends = ([0, 1, 1, 2, 1], [1, 0, 2, 1, 2])
    matrix = sp.coo_array(([0.0, 0.0, 1.0, 3.0, 2.0], ends), shape=(3, 3))
    graph, _ = from_scipy(matrix)
    assert graph.num_edges() == 2
    assert graph.weights.tolist() == [0, 0, 3, 3]
    assert matrix.nnz == 5  # the caller's matrix is as it was


def test_asymmetric_matrices_are_directed_graphs():
    matrix = sp.csr_array([[0, 1, 0], [2, 0, 0], [4, 0, 0]], dtype=np.float32)
    graph, _ = from_scipy(matrix)
    assert graph.directed
    assert graph.senders.tolist() == [0, 1, 2]
    assert graph.receivers.tolist() == [1, 0, 0]
    assert (to_scipy(graph) != matrix).nnz == 0


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (sp.csr_array(np.ones((2, 3))), r"matrix has shape \(2, 3\); expected a square"),
        (sp.csr_array((0, 0)), "the graph has no nodes"),
        (sp.csr_array((10**6 + 1, 10**6 + 1)), "the graph has 1,000,001 nodes; at most 1,000,000"),
        (sp.eye_array(2), "node 0 has an edge to itself"),
        (sp.csr_array([[0, 1j], [1j, 0]]), "matrix has dtype complex128; expected real numbers"),
        (sp.csr_array([[0, np.nan], [np.nan, 0]]), "has weight nan"),
    ],
)
def test_bad_matrices(matrix, message):
    with pytest.raises(ValueError, match=message):
        from_scipy(matrix)


def test_dense_matrices():
    with pytest.raises(UserError, match=r"has type ndarray; expected a scipy sparse matrix"):
        from_scipy(np.zeros((2, 2)))


@pytest.mark.parametrize("convert", [to_networkx, to_scipy])
def test_batches_are_not_converted(convert):
    with pytest.raises(ValueError, match=r"single graph, not a batch of shape \(2,\); select"):
        convert(sample_graphs("er", 2, 4))


def test_names_must_fit():
    with pytest.raises(ValueError, match="got 3 names"):
        to_networkx(sample_graphs("er", 1, 4)[0], "abc")


def test_networkx_is_imported_only_when_needed():
    code = (
        "import sys; from algotransfer.graphs import from_networkx, read_graph, sample_graphs; "
        "sample_graphs('ba', 2, 20); print('networkx' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"]


def test_listing_the_families_needs_no_jax():
    code = (
        "import sys; from algotransfer.graphs import FAMILIES; "
        "print(*FAMILIES, 'jax' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["er", "ba", "grid", "ws", "delaunay", "False"]
