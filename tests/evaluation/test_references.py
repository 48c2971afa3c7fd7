"""The rows that need no network."""

import numpy as np
from algorithms import oracles
from evaluation import cases

from algotransfer.evaluation.references import lightest_edge, random_neighbour


def test_the_lightest_edge():
    graphs = cases.some_graphs()
    pointers = lightest_edge(graphs)
    for g, pointer in enumerate(pointers):
        around = oracles.neighbours(graphs[g])
        for v in range(graphs.num_nodes):
            lightest = min(around[v], key=lambda u, v=v: (around[v][u], u), default=v)
            assert pointer[v] == (v if v == graphs.source[g] else lightest)


def test_a_random_neighbour():
    graphs = cases.some_graphs()
    pointers = random_neighbour(graphs)
    assert np.array_equal(pointers, random_neighbour(graphs))
    for g, pointer in enumerate(pointers):
        around = oracles.neighbours(graphs[g])
        for v in range(graphs.num_nodes):
            alone = v == graphs.source[g] or not around[v]
            assert pointer[v] == v if alone else pointer[v] in around[v]


def test_all_neighbours_are_equally_likely():
    graphs = cases.some_graphs()[np.zeros(4000, int)]
    pointers = random_neighbour(graphs)
    around = oracles.neighbours(graphs[0])
    for v in range(graphs.num_nodes):
        if v != graphs.source[0] and around[v]:
            share = np.bincount(pointers[:, v], minlength=graphs.num_nodes) / len(pointers)
            np.testing.assert_allclose(share[list(around[v])], 1 / len(around[v]), atol=0.04)
