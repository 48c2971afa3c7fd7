"""Graphs of other libraries where a `Graph` is expected."""

from pathlib import Path
from types import SimpleNamespace

import networkx
import numpy as np
import pytest
import scipy.sparse

import algotransfer as at
from algotransfer.errors import UserError
from algotransfer.files import Notice
from algotransfer.graphs import to_named_graph


class Tensor:
    """Has what is used of a torch tensor."""

    def __init__(self, values):
        self.values = np.asarray(values)

    def detach(self):
        return self

    cpu = detach

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.values, dtype)


@pytest.fixture(scope="module")
def roads():
    """A path of three huts."""
    graph = networkx.Graph()
    graph.add_edge("valley", "lake", weight=0.25)
    graph.add_edge("lake", "ridge", weight=0.5)
    return graph


def every_kind(roads, tmp_path):
    """The same graph in every form; only some have names."""
    named = at.from_networkx(roads)
    at.write_graph(tmp_path / "roads.csv", named.graph, named.names)
    matrix = networkx.to_scipy_sparse_array(roads)
    ends = Tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    return {
        "networkx": roads,
        "named": named,
        "file": tmp_path / "roads.csv",
        "name of a file": str(tmp_path / "roads.csv"),
        "Graph": named.graph,
        "scipy": matrix,
        "old scipy": scipy.sparse.csr_matrix(matrix),
        "PyG": SimpleNamespace(
            edge_index=ends, edge_attr=Tensor([[0.25], [0.25], [0.5], [0.5]]), num_nodes=3
        ),
    }


def test_run_takes_graphs_of_every_kind(roads, tmp_path):
    for kind, graph in every_kind(roads, tmp_path).items():
        assert at.run("dijkstra", graph).final_key.tolist() == [0, 0.25, 0.75], kind
        assert at.run("dijkstra", graph, source=2).final_key.tolist() == [0.75, 0.5, 0], kind


def test_execute_and_explore_keep_names(roads):
    answer = at.execute("relax-dijkstra", roads, source="lake")
    assert answer.names == ("valley", "lake", "ridge")
    assert [answer.names[node] for node in answer.pred] == ["lake"] * 3
    page = at.explore(roads, source="ridge")
    assert page.scene["graph"]["names"] == ["valley", "lake", "ridge"]
    assert page.scene["graph"]["source"] == 2


def test_source_of_pyg():
    ends = np.array([[0, 1, 1, 2], [1, 0, 2, 1]])
    stored = SimpleNamespace(edge_index=ends, num_nodes=4, source=Tensor([1]))
    assert at.from_pyg(stored).graph.source == 1
    assert at.from_pyg(stored, source=3).graph.source == 3
    assert at.from_pyg(stored).graph.weights.tolist() == [1, 1, 1, 1]
    without_count = SimpleNamespace(edge_index=ends, edge_weight=np.array([2, 2, 3, 3]))
    named = at.from_pyg(without_count)
    assert named.graph.weights.tolist() == [2, 2, 3, 3]
    assert named.names == (0, 1, 2)
    assert not named.graph.directed
    assert at.from_pyg(SimpleNamespace(edge_index=ends[:, :1])).graph.directed


class NotDense(Tensor):
    """As a sparse or a bfloat16 tensor of torch."""

    def __array__(self, *_, **__):
        raise TypeError("Use to_dense()")


TWO = np.array([[0, 1], [1, 0]])


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"edge_index": np.zeros((3, 2), int)}, r"edge_index has shape \(3, 2\)"),
        ({"edge_index": np.array([[0], [0]])}, "node 0 has an edge to itself"),
        ({"edge_index": np.array([[0, 5], [5, 0]]), "num_nodes": 3}, "expected 0…2"),
        (
            {"edge_index": np.array([[0, 1], [1, 0]]), "edge_attr": np.ones((2, 3))},
            r"weights of shape \(2, 3\).*set edge_weight",
        ),
        (
            {"edge_index": TWO, "num_graphs": 2},
            r"a Batch of 2 graphs; .*of data\.to_data_list\(\)$",
        ),
        ({"edge_index": TWO, "source": [0, 1]}, r"source has shape \(2,\) .*expected one node"),
        ({"edge_index": TWO, "source": 0.0}, r"source has .* type float64; expected one node"),
        (
            {"edge_index": TWO, "edge_weight": NotDense([1.0])},
            "edge_weight cannot .* a dense tensor",
        ),
        ({"edge_index": NotDense([TWO])}, r"edge_index cannot be converted .*\(Use to_dense\(\)\)"),
    ],
)
def test_mistakes_in_pyg(data, said):
    with pytest.raises(UserError, match=said):
        at.from_pyg(SimpleNamespace(**data))


def test_what_is_not_a_graph_is_refused():
    for function in (lambda g: at.run("bfs", g), lambda g: at.execute("relax-dijkstra", g)):
        with pytest.raises(UserError, match=r"is 3 \(of type int\); expected a Graph, a networkx"):
            function(3)
    with pytest.raises(UserError, match="makes one batch of several"):
        at.run("bfs", [networkx.path_graph(3)])
    with pytest.raises(UserError, match="with a batch of 2 graphs, which have sources"):
        at.run("bfs", at.sample_graphs("er", 2, 5), source=1)
    with pytest.raises(UserError, match="expected a single graph, not a batch"):
        to_named_graph(at.sample_graphs("er", 2, 5))


def test_a_notice_points_at_the_line_of_the_user(roads):
    lengths = networkx.Graph()
    lengths.add_edge("valley", "lake", length=250)
    with pytest.warns(Notice, match="weight='length'") as caught:
        at.run("dijkstra", lengths)
    assert [Path(notice.filename) for notice in caught] == [Path(__file__)]


def test_other_numbers_of_a_pyg_graph_are_pointed_out():
    data = SimpleNamespace(
        edge_index=Tensor([[0, 1], [1, 0]]),
        length=Tensor([2.5, 2.5]),
        edge_attrs=lambda: ["edge_index", "length"],
    )
    with pytest.warns(Notice, match=r"numbers in 'length':.*data.edge_weight = data.length$"):
        assert at.from_pyg(data).graph.weights.tolist() == [1, 1]
