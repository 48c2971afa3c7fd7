"""`sample_graphs`: valid graphs, uniform labels, weights and sources, bytes that never change."""

import hashlib
import os
import subprocess
import sys

import jax
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from algotransfer.graphs import FAMILIES, Graph, sample_graphs
from algotransfer.graphs.sampling import _sample_source
from algotransfer.graphs.streams import Stream

GOLDEN = {
    ("er", 5, 20, 0): "e2aa87699cbf467e",
    ("ba", 5, 20, 0): "7de091e01a758875",
    ("grid", 5, 20, 0): "1688870b0318f545",
    ("er", 2, 100, 7): "1de7a083e753baf9",
    ("ba", 2, 50, 7): "aa1f75c6f3833ac4",
    ("grid", 3, 120, 7): "5b0a80b37c168a51",
    ("ws", 5, 20, 0): "8febb2339813ab2b",
    ("ws", 2, 100, 7): "6e2625a984b2e3b0",
    ("delaunay", 5, 20, 0): "a18a91eaa1c3da07",
    ("delaunay", 2, 100, 7): "dc84f1b78706d8a2",
}


def sha256(graph: Graph) -> str:
    sha256 = hashlib.sha256()
    for leaf in jax.tree.leaves(graph):
        assert isinstance(leaf, np.ndarray)
        assert leaf.dtype.itemsize == 4
        sha256.update(f"{leaf.dtype.kind}{leaf.shape}".encode())
        sha256.update(leaf.astype(leaf.dtype.newbyteorder("<")).tobytes())
    return sha256.hexdigest()[:16]


def dense(graphs: Graph) -> np.ndarray:
    """The dense view, without a compilation for each shape."""
    matrix = np.zeros((len(graphs), graphs.num_nodes + 1, graphs.num_nodes + 1), np.float32)
    matrix[np.arange(len(graphs))[:, None], graphs.senders, graphs.receivers] = graphs.weights
    return matrix[:, :-1, :-1]


@pytest.mark.parametrize("family", ["er", "ba", "grid"])
def test_dense_view_is_the_sparse_one(family):
    graphs = sample_graphs(family, 30, 20)
    assert np.array_equal(graphs.weight_matrix(), dense(graphs))
    assert np.array_equal(graphs.adjacency(), dense(graphs) > 0)


@pytest.mark.parametrize("arguments", GOLDEN)
def test_bytes_never_change(arguments):
    """These hashes may change only with a new version of the data format, on purpose."""
    assert sha256(sample_graphs(*arguments)) == GOLDEN[arguments]


@given(
    family=st.sampled_from(["er", "ba", "grid", "ws", "delaunay"]),
    num_graphs=st.integers(1, 12),
    num_nodes=st.sampled_from([2, 3, 4, 6, 9, 20, 50, 120]),
    seed=st.integers(0, 2**70),
    split=st.sampled_from(["train", "validation", "test"]),
    attachments=st.integers(1, 6),
)
def test_samples_are_valid(family, num_graphs, num_nodes, seed, split, attachments):
    num_nodes = max(num_nodes, {"grid": 4, "ws": 5, "delaunay": 3}.get(family, 2))
    attachments = min(attachments, num_nodes - 1)
    graphs = sample_graphs(
        family, num_graphs, num_nodes, seed, split=split, attachments=attachments
    )
    assert len(graphs) == num_graphs
    assert graphs.num_nodes == num_nodes
    mask = graphs.edge_mask()
    assert np.array_equal(mask, np.sort(mask, axis=1)[:, ::-1])  # padding only at the end
    assert (graphs.receivers[~mask] == num_nodes).all()
    assert (graphs.senders[~mask] == num_nodes).all()
    assert (graphs.weights[~mask] == 0).all()
    assert graphs.senders.min() >= 0
    assert graphs.receivers.min() >= 0
    assert (graphs.receivers[mask] < num_nodes).all()
    assert (graphs.senders != graphs.receivers)[mask].all()
    assert (graphs.weights[mask] >= np.float32(0.2)).all()
    assert (graphs.weights[mask] <= 1).all()

    place = graphs.senders.astype(np.int64) * (num_nodes + 1) + graphs.receivers
    increasing = np.diff(place, axis=1) > 0  # sorted by sender, then receiver; none twice
    assert increasing[mask[:, 1:]].all()
    matrix = dense(graphs)
    assert np.array_equal(matrix, matrix.transpose(0, 2, 1))
    assert np.array_equal((matrix > 0).sum((1, 2)), 2 * graphs.num_edges())

    assert ((graphs.source >= 0) & (graphs.source < num_nodes)).all()
    assert (matrix[np.arange(num_graphs), graphs.source] > 0).any(1).all()
    if family == "ba":
        assert (graphs.num_edges() == (num_nodes - attachments) * attachments).all()


def test_fields_are_numpy_arrays():
    graphs = sample_graphs("er", 3, 10)
    assert all(isinstance(leaf, np.ndarray) for leaf in jax.tree.leaves(graphs))
    assert {leaf.dtype for leaf in (graphs.senders, graphs.receivers, graphs.source)} == {
        np.dtype("int32")
    }
    assert graphs.weights.dtype == np.float32


def test_equal_arguments_give_equal_bytes():
    assert sha256(sample_graphs("ba", 10, 20, 3)) == sha256(sample_graphs("ba", 10, 20, 3))


def test_every_argument_matters():
    base = sample_graphs("grid", 10, 20)
    others = [
        sample_graphs("grid", 10, 20, 1),
        sample_graphs("grid", 10, 20, split="test"),
        sample_graphs("grid", 10, 20, shape="square"),
        sample_graphs("grid", 10, 21),
        sample_graphs("ba", 10, 20),
        sample_graphs("ba", 10, 20, attachments=3),
        sample_graphs("er", 10, 20),
    ]
    assert len({sha256(graphs) for graphs in [base, *others]}) == 1 + len(others)
    for graphs in others[:2]:  # nothing in common, not one weight
        assert not np.isin(graphs.weights[graphs.edge_mask()], base.weights).any()


def test_a_sample_begins_as_a_shorter_one_does():
    more, fewer = sample_graphs("er", 500, 8), sample_graphs("er", 120, 8)
    width = fewer.senders.shape[1]
    assert np.array_equal(more[:120].weights[:, :width], fewer.weights)
    assert np.array_equal(more[:120].senders[:, :width], fewer.senders)
    assert np.array_equal(more[:120].source, fewer.source)


def test_bytes_do_not_depend_on_threads_or_vector_units():
    """Other numbers of threads, and NumPy without its optional vector instructions."""
    code = (
        "from algotransfer.graphs import sample_graphs; import hashlib, jax; "
        "print(*(hashlib.sha256(leaf.tobytes()).hexdigest() for family in ('er', 'ba', 'grid') "
        "for leaf in jax.tree.leaves(sample_graphs(family, 200, 20))))"
    )

    def run(**extra):
        environment = {**os.environ, **extra}
        command = [sys.executable, "-c", code]
        return subprocess.run(
            command, env=environment, capture_output=True, text=True, check=True
        ).stdout

    from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

    optional = [name for name in __cpu_dispatch__ if __cpu_features__[name]]
    usual = run()
    assert len(usual.split()) == 12
    assert run(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", XLA_FLAGS="") == usual
    assert run(OMP_NUM_THREADS="7", NPY_DISABLE_CPU_FEATURES=" ".join(optional)) == usual


def test_labels_are_permuted():
    """With n − 1 attachments, a star, the hub has every label equally often."""
    graphs = sample_graphs("ba", 9000, 6, attachments=5)
    hub = (dense(graphs) > 0).sum(2).argmax(1)
    assert stats.chisquare(np.bincount(hub, minlength=6)).pvalue > 0.01


@pytest.mark.parametrize("family", ["er", "grid"])
def test_label_carries_no_information(family):
    degree = (dense(sample_graphs(family, 5000, 20)) > 0).sum(2)
    error = degree.std() / np.sqrt(len(degree))
    # A source without a neighbour gets one, whatever its label: no label is favoured.
    assert (np.abs(degree.mean(0) - degree.mean()) < 4 * error).all()


@pytest.mark.parametrize("family", ["er", "ba", "grid"])
def test_weights_are_uniform(family):
    graphs = sample_graphs(family, 1000, 20)
    weights = graphs.weights[graphs.senders < graphs.receivers]
    assert stats.kstest(weights, "uniform", (0.2, 0.8)).pvalue > 0.01


@pytest.mark.parametrize("family", ["er", "ba", "grid"])
def test_sources_are_uniform(family):
    source = sample_graphs(family, 10_000, 20).source
    assert stats.chisquare(np.bincount(source, minlength=20)).pvalue > 0.01


def test_a_lone_source_is_joined_to_any_other_node():
    no_edges = np.zeros(0, int), np.zeros((2, 0), int)
    stream = Stream(0, "test", "none", 5, "source")
    source, (graph_id, ends, weights) = _sample_source(stream, 20_000, 5, *no_edges)
    assert np.array_equal(graph_id, np.arange(20_000))
    assert np.array_equal(ends[0], source)
    counts = np.bincount(ends[0] * 5 + ends[1], minlength=25).reshape(5, 5)
    assert (counts.diagonal() == 0).all()
    assert stats.chisquare(counts[~np.eye(5, dtype=bool)]).pvalue > 0.01
    assert stats.kstest(weights, "uniform", (0.2, 0.8)).pvalue > 0.01


def test_only_lone_sources_are_joined():
    graph_id, ends = np.array([0]), np.array([[1], [0]])
    stream = Stream(0, "test", "none", 2, "source")
    _, (joined, _, _) = _sample_source(stream, 3, 2, graph_id, ends)
    assert joined.tolist() == [1, 2]


def test_two_nodes_are_always_joined():
    assert (sample_graphs("er", 1000, 2).num_edges() == 1).all()


def test_share_of_graphs_with_unreachable_nodes():
    """About 18 % of the ER graphs of 20 nodes are not connected."""
    adjacency = dense(sample_graphs("er", 5000, 20)) > 0
    reach = adjacency | np.eye(20, dtype=bool)
    for _ in range(5):
        reach = reach @ reach
    assert (~reach.all((1, 2))).mean() == pytest.approx(0.18, abs=0.02)


def test_a_new_family_is_one_entry(monkeypatch):
    def ring(stream, num_graphs, num_nodes, options):
        node = np.arange(num_graphs * num_nodes)
        return node // num_nodes, np.stack([node, node + 1]) % num_nodes

    monkeypatch.setitem(FAMILIES, "ring", ring)
    graphs = sample_graphs("ring", 4, 7)
    assert ((dense(graphs) > 0).sum(2) == 2).all()


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("ER", 1, 20), {}, r"unknown graph family 'ER' \(did you mean 'er'\?\); choose one of er"),
        (("gird", 1, 20), {}, r"family 'gird' \(did you mean 'grid'\?\); choose one of er, ba"),
        (("er", 0, 20), {}, "num_graphs is 0; expected at least 1"),
        (("er", 1, 1), {}, "num_nodes is 1; expected at least 2"),
        (("er", 1, 20, -1), {}, "seed is -1; expected at least 0"),
        (("er", 1, 20), {"split": ""}, "split is ''; expected a name such as 'train'"),
        (("er", 1, 20), {"attachments": 0}, "attachments is 0; expected at least 1"),
        (("ba", 1, 4), {}, "num_nodes is 4; family ba needs at least 5 nodes: raise num_nodes, ch"),
        (("grid", 1, 23), {}, "num_nodes is 23; expected a product of two numbers"),
        (("grid", 1, 20), {"shape": "round"}, "unknown grid shape 'round'; choose one of any, sq"),
        (("er", 1, 10**6 + 1), {}, "num_nodes is 1,000,001; expected at most 1,000,000"),
        (("er", 10**8, 20), {}, "graphs of 20 nodes have about .* edges; at most 100,000,000 can"),
        (("ba", 10**7, 20), {}, "have about 640,000,000 edges; at most"),
        (("grid", 10**7, 20), {}, "have about 400,000,000 edges; at most"),
    ],
)
def test_bad_arguments(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        sample_graphs(*arguments, **options)


@pytest.mark.parametrize(
    ("family", "edges"), [("er", 830_000), ("ba", 99_996 * 4), ("grid", 2 * 100_000 - 650)]
)
def test_a_large_graph_takes_little_time_and_memory(family, edges):
    """100,000 nodes; in a process of its own, whose memory can be measured."""
    code = (
        "import time; from algotransfer.graphs import sample_graphs; "
        "from algotransfer.devices import peak_of_process; "
        f"start = time.perf_counter(); graph = sample_graphs({family!r}, 1, 100_000)[0]; "
        "print(time.perf_counter() - start, int(graph.num_edges()), "
        "peak_of_process())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    seconds, count, peak = map(float, done.stdout.split())
    assert count == pytest.approx(edges, rel=0.01)
    assert seconds < 20  # about 2 on an idle core
    assert peak < 2 * 2**30
