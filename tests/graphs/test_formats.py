"""Graph files: chosen by suffix, the same graph after writing and reading, whole or not at all."""

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import algotransfer.graphs
from algotransfer.graphs import Graph, from_edges, read_graph, sample_graphs, write_graph
from algotransfer.graphs.formats import FORMATS, MAX_BYTES

SUFFIXES = sorted(FORMATS)


def assert_same(one: Graph, other: Graph):
    """Equal graphs, padding and source aside."""
    assert one.num_nodes == other.num_nodes
    for field in ("senders", "receivers", "weights"):
        ours, theirs = (getattr(graph, field)[graph.edge_mask()] for graph in (one, other))
        assert np.array_equal(ours, theirs), field


NAMES = st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), min_size=1).filter(
    lambda name: name == name.strip() and name[0] != "#" and name.isprintable()
)


@given(
    names=st.lists(NAMES, min_size=1, max_size=8, unique=True),
    seed=st.integers(0, 2**32),
    density=st.floats(0, 1),
    suffix=st.sampled_from(SUFFIXES),
    directed=st.booleans(),
)
def test_round_trip(tmp_path_factory, names, seed, density, suffix, directed):
    rng = np.random.default_rng(seed)
    pairs = rng.random((len(names),) * 2) < density
    ends = np.argwhere(pairs & ~np.eye(len(names), dtype=bool) if directed else np.triu(pairs, 1)).T
    weights = rng.standard_normal(ends.shape[1]) * 10.0 ** rng.integers(-9, 9, ends.shape[1])
    graph_id = np.zeros(ends.shape[1], int)
    graph = from_edges(len(names), 1, graph_id, ends, weights, np.zeros(1, int), directed)[0]
    path = tmp_path_factory.mktemp("graphs") / f"graph{suffix}"
    write_graph(path, graph, names)
    back, back_names = read_graph(path)
    assert back_names == tuple(names)
    assert back.directed == (directed and len(weights) > 0)
    assert_same(back, graph)


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("family", ["er", "ba", "grid"])
def test_samples_come_back_unchanged(tmp_path, family, suffix):
    """Padded graphs of a batch too; nodes keep their order, on which ties depend."""
    graphs = sample_graphs(family, 3, 20)
    for graph in (graphs[k] for k in range(3)):
        path = tmp_path / f"graph{suffix.upper()}"
        write_graph(str(path), graph)
        back, names = read_graph(str(path), source=int(graph.source))
        assert names == tuple(map(str, range(20)))
        assert back.source == graph.source
        assert_same(back, graph)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_one_node(tmp_path, suffix):
    nothing = np.zeros(0, int), np.zeros((2, 0), int), np.zeros(0)
    graph = from_edges(1, 1, *nothing, np.zeros(1, int))[0]
    write_graph(tmp_path / f"one{suffix}", graph, ["alone"])
    back, names = read_graph(tmp_path / f"one{suffix}", source="alone")
    assert names == ("alone",)
    assert_same(back, graph)


@pytest.mark.parametrize("path", ["graph", "graph.txt", "graph.csv.gz"])
def test_unknown_suffix(tmp_path, path):
    message = r"has the suffix '[^']*'; expected \.csv or \.graphml: rename or convert the file"
    with pytest.raises(ValueError, match=message):
        read_graph(tmp_path / path)
    with pytest.raises(ValueError, match=message):
        write_graph(tmp_path / path, sample_graphs("er", 1, 4)[0])


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_no_such_file(tmp_path, suffix):
    with pytest.raises(FileNotFoundError, match=r"there is no file .*; check the path"):
        read_graph(tmp_path / f"missing{suffix}")
    (tmp_path / f"folder{suffix}").mkdir()
    with pytest.raises(FileNotFoundError, match="there is no file"):
        read_graph(tmp_path / f"folder{suffix}")


def test_an_error_names_the_file(tmp_path):
    path = tmp_path / "graph.csv"
    path.write_text("u,v\na,b\n")
    with pytest.raises(ValueError, match=r"cannot read .*graph\.csv: no node is named 'z'"):
        read_graph(path, source="z")
    path.write_text("")
    with pytest.raises(ValueError, match=r"cannot read .*graph\.csv: it is empty"):
        read_graph(path)


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize(
    ("names", "attributes", "message"),
    [
        (["a", "b"], None, "got 2 names"),
        ([1, "1", 2, 3], None, r"got 3 different names for 4 nodes"),
        (None, {"key": [1]}, r"node attribute 'key' has shape \(1,\)"),
        (None, {"key": [[1]] * 4}, r"has shape \(4, 1\)"),
        (["a\x00b\x1c", "b", "c", "d"], {"no\0te": "abcd"}, "."),
    ],
)
def test_a_failed_write_leaves_nothing(tmp_path, suffix, names, attributes, message):
    with pytest.raises(ValueError, match=message):
        write_graph(tmp_path / f"graph{suffix}", sample_graphs("er", 1, 4)[0], names, attributes)
    assert os.listdir(tmp_path) == []


def test_batches_are_not_written(tmp_path):
    with pytest.raises(ValueError, match=r"single graph, not a batch of shape \(1,\); select"):
        write_graph(tmp_path / "graph.csv", sample_graphs("er", 1, 4))


def test_public_names_resolve():
    for name in algotransfer.graphs.__all__:
        assert getattr(algotransfer.graphs, name) is not None
        assert name in dir(algotransfer.graphs)
    with pytest.raises(AttributeError, match="has no attribute 'sample_graph'"):
        algotransfer.graphs.sample_graph  # noqa: B018


@pytest.mark.parametrize("suffix", FORMATS)
def test_files_that_are_too_large_are_not_read(tmp_path, suffix):
    path = tmp_path / f"large{suffix}"
    with path.open("wb") as stream:
        stream.truncate(MAX_BYTES + 1)  # a hole, which takes no place
    with pytest.raises(ValueError, match=r"has [\d,]+ bytes; expected at most [\d,]+ in a"):
        read_graph(path)


def test_long_names_are_refused_in_a_few_words(tmp_path):
    name, path = "x" * 10**6, tmp_path / "graph.graphml"
    nodes = f'<node id="{name}"/><node id="b"/>'
    for inside, words in (
        (f'{nodes}<edge source="{name}" target="b"/>', "has 1000000 characters; expected at most"),
        (f'{nodes}<edge source="{name}y" target="b"/>', "add a <node> with that id"),
        (f"{nodes}{nodes}", "give every node an id of its own"),
    ):
        path.write_text(f"<graphml><graph>{inside}</graph></graphml>")
        with pytest.raises(ValueError, match=words) as caught:
            read_graph(path)
        assert len(str(caught.value).replace(str(path), "")) < 250
    graph = sample_graphs("er", 1, 2)[0]
    with pytest.raises(ValueError, match="has 1000000 characters; expected at most 1000"):
        write_graph(path, graph, ["a", name])


def test_a_data_file_is_not_a_graph_file():
    with pytest.raises(ValueError, match=r"data file of several graphs; .*--data towns.npz"):
        read_graph("towns.npz")
