"""The nine algorithms as data, and an added one."""

import runpy
from dataclasses import replace
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest
from algorithms import batches, oracles

from algotransfer.algorithms import ALGORITHMS, PARALLEL, SEQUENTIAL, get_algorithm, run
from algotransfer.algorithms.registry import PAPER_ALGORITHMS

EXAMPLE = Path(__file__).parents[2] / "examples" / "01_add_an_algorithm.py"

NINE = {name: ALGORITHMS[name] for name in PAPER_ALGORITHMS}


def test_the_nine():
    assert list(PAPER_ALGORITHMS) == list(oracles.RULES)
    for name, algorithm in NINE.items():
        assert algorithm.name == name
        assert algorithm.sequential == oracles.RULES[name].sequential
        assert algorithm.framework is (SEQUENTIAL if algorithm.sequential else PARALLEL)
        assert repr(algorithm) == f"<{algorithm.framework.name} algorithm {name!r}>"
        assert get_algorithm(name) is get_algorithm(algorithm) is algorithm


def test_titles_differ():
    titles = [algorithm.title for algorithm in NINE.values()]
    assert len(set(titles)) == len(titles) == 9


STAND_INS = {
    "bfs": None,  # has no ∞
    "bellman_ford": 3.5,
    "widest_par": 3.5,
    "reliable_par": None,
    "prim": 2.0,
    "dijkstra": 3.5,
    "dfs": 5.0,
    "widest_seq": 3.5,
    "reliable_seq": None,
}


@pytest.mark.parametrize(
    ("name", "expected"), [(name, value) for name, value in STAND_INS.items() if value]
)
def test_stand_in_for_infinity(name, expected):
    """Largest finite final key + 1; 2 for prim; n + 1 for dfs."""
    final_key = jnp.array([[0.0, 2.5, 1.0, jnp.inf], [jnp.inf, 2.5, 0.5, 1.0]])
    np.testing.assert_array_equal(ALGORITHMS[name].stand_in(final_key), [expected, expected])


def test_only_dfs_keys_are_rescaled():
    units = {name: algorithm.unit(20) for name, algorithm in NINE.items()}
    assert units == {name: 20.0 if name == "dfs" else 1.0 for name in NINE}


def test_what_the_network_sees():
    assert [name for name, a in NINE.items() if not a.weighted] == ["bfs"]
    assert [name for name, a in NINE.items() if a.binary] == ["bfs"]
    assert {name: a.cost for name, a in NINE.items() if a.cost != "path"} == {
        "bfs": None,
        "prim": "tree",
        "dfs": None,
    }


def test_an_unregistered_algorithm_runs():
    fewest_edges = replace(
        ALGORITHMS["bellman_ford"], name="hops", relax=lambda key, weight: key + 1
    )
    graphs = batches.hand_made()
    for layout in ("dense", "sparse"):
        trace = run(fewest_edges, graphs, layout=layout)
        for i in range(15):
            np.testing.assert_array_equal(trace.final_key[i], oracles.hops(graphs[i]))


def test_the_example_s_minimax_path_is_on_a_minimum_spanning_tree(monkeypatch):
    monkeypatch.setitem(ALGORITHMS, "minimax", ALGORITHMS["bfs"])  # forgotten afterwards
    minimax = runpy.run_path(str(EXAMPLE))["minimax"]
    assert get_algorithm("minimax") is minimax
    graphs = batches.families(num_nodes=20, num_graphs=20, seed=6)
    expected = [oracles.lightest_bottlenecks(graphs[i]) for i in range(len(graphs))]
    np.testing.assert_array_equal(run(minimax, graphs).final_key, np.stack(expected))
