"""Pointers followed by doubling against pointers followed one by one."""

import itertools

import jax
import numpy as np
import pytest
from algorithms import batches, oracles
from evaluation import cases
from evaluation.plain import Plain
from hypothesis import given
from hypothesis import strategies as st

from algotransfer.algorithms import ALGORITHMS
from algotransfer.evaluation.paths import follow, hop_distances
from algotransfer.graphs import concatenate, sample_graphs


def random_pointers(graphs, rng, count):
    """Neighbours or the node itself, [count, graphs, n]."""
    n = graphs.num_nodes
    adjacent = np.asarray(graphs.adjacency()) | np.eye(n, dtype=bool)
    draw = rng.random((count, len(graphs), n, n))
    return np.where(adjacent, draw, -1).argmax(-1).astype(np.int32)


@pytest.mark.parametrize("name", ["dijkstra", "widest_par", "reliable_seq"])
@given(seed=st.integers(0, 2**32 - 1))
def test_random_pointers(name, seed):
    graphs = cases.some_graphs()
    pointers = random_pointers(graphs, np.random.default_rng(seed), 3)
    paths = jax.tree.map(np.asarray, follow(ALGORITHMS[name], graphs, jax.numpy.asarray(pointers)))
    for g in range(len(graphs)):
        plain = Plain(name, graphs[g], None, None)
        for k, pointer in enumerate(pointers[:, g]):
            for v in range(graphs.num_nodes):
                path = plain.path(pointer, v)
                assert paths.arrives[k, g, v] == (path is not None)
                if v != plain.source:
                    assert paths.weight[k, g, v] == plain.around[v].get(pointer[v], 0)
                if path is not None:
                    key = np.float32(plain.rule.source_key(plain.n))
                    for a, b in itertools.pairwise(path):
                        key = plain.rule.candidate(key, plain.around[a][b])
                    assert paths.key[k, g, v] == key


@pytest.mark.parametrize("num_nodes", [2, 3, 9, 17])
def test_the_longest_path_and_the_longest_cycle(num_nodes):
    line = batches.graph(num_nodes, [(v, v + 1) for v in range(num_nodes - 1)], weights="equal")
    down = np.maximum(np.arange(num_nodes) - 1, 0).astype(np.int32)
    up = np.minimum(np.arange(num_nodes) + 1, num_nodes - 1).astype(np.int32)
    pointers = jax.numpy.asarray(np.stack([down, up])[:, None])
    paths = follow(ALGORITHMS["dijkstra"], concatenate([line]), pointers)
    assert paths.arrives[0, 0].all()
    assert paths.key[0, 0].tolist() == [v / 2 for v in range(num_nodes)]
    assert paths.arrives[1, 0].tolist() == [True] + [False] * (num_nodes - 1)


def test_hop_distances():
    graphs = concatenate([cases.some_graphs(12), sample_graphs("grid", 3, 12)])
    expected = [oracles.hops(graphs[g]) for g in range(len(graphs))]
    expected = np.where(np.isfinite(expected), expected, -1)
    np.testing.assert_array_equal(hop_distances(graphs), expected)
