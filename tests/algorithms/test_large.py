"""Large sparse graphs, final answers only; and the longest full traces."""

import json
import subprocess
import sys
from itertools import product

import numpy as np
import pytest
from algorithms import oracles
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra, minimum_spanning_tree

from algotransfer.algorithms import run
from algotransfer.algorithms.registry import PAPER_ALGORITHMS
from algotransfer.graphs import sample_graphs


def sparse_weights(graph):
    n = graph.num_nodes
    weights = np.asarray(graph.weights, np.float64)
    return csr_array((weights, (graph.senders, graph.receivers)), shape=(n, n))


@pytest.mark.parametrize(("family", "name"), [("grid", "bellman_ford"), ("ba", "dijkstra")])
def test_20_000_nodes_agree_with_scipy(family, name):
    graph = sample_graphs(family, 1, 20_000, seed=1)[0]
    trace = run(name, graph, record="final")
    expected = dijkstra(sparse_weights(graph), indices=int(graph.source))
    np.testing.assert_allclose(trace.final_key, expected, rtol=2e-5)


def test_20_000_nodes_have_prim_s_tree():
    graph = sample_graphs("er", 1, 20_000, seed=2)[0]
    key = np.asarray(run("prim", graph, record="final").final_key, np.float64)
    reached = np.isfinite(oracles.hops(graph))
    np.testing.assert_array_equal(np.isfinite(key), reached)
    forest = minimum_spanning_tree(sparse_weights(graph)).tocoo()
    np.testing.assert_allclose(key[reached].sum(), forest.data[reached[forest.row]].sum())


PROGRAM = """
import json, sys, time
import jax
from algotransfer.algorithms import run
from algotransfer.devices import peak_of_process
from algotransfer.graphs import sample_graphs

name, family, num_nodes, record = sys.argv[1:]
graph = sample_graphs(family, 1, int(num_nodes), seed=1)
start = time.perf_counter()
trace = jax.block_until_ready(run(name, graph, record=record))
seconds = time.perf_counter() - start
gibibytes = peak_of_process() / 2**30
print(json.dumps({"seconds": seconds, "gibibytes": gibibytes, "shape": trace.key.shape}))
"""


def measured(*arguments):
    """Run an algorithm in a new process and return its peak memory."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


# Across a grid of that size the product of some three hundred weights is no float32 number.
UNDERFLOW = {("reliable_par", "grid"), ("reliable_seq", "grid")}
LARGE = sorted(set(product(PAPER_ALGORITHMS, ("er", "ba", "grid"))) - UNDERFLOW)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "family"), LARGE)
def test_100_000_nodes_in_a_minute_and_4_gib(name, family):
    result = measured(name, family, 100_000, "final")
    assert result["seconds"] < 60
    assert result["gibibytes"] < 4


@pytest.mark.slow
@pytest.mark.parametrize("name", PAPER_ALGORITHMS)
def test_full_traces_of_2_000_nodes_in_4_gib(name):
    result = measured(name, "er", 2000, "full")
    assert result["shape"] == [1, 2001, 2000]
    assert result["gibibytes"] < 4
