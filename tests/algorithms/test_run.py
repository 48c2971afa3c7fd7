"""`run` itself: bad input, lost keys, padding and chunks, how often it compiles."""

import re
from dataclasses import replace
from importlib import import_module
from itertools import combinations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from algorithms import batches

import algotransfer
from algotransfer.algorithms import ALGORITHMS, get_algorithm, run
from algotransfer.algorithms.frameworks.sequential import LANES
from algotransfer.algorithms.registry import PAPER_ALGORITHMS
from algotransfer.errors import UserError
from algotransfer.graphs import concatenate, sample_graphs

# The package's name `run` is the function; the module of that name is asked for by its path.
run_module = import_module("algotransfer.algorithms.run")

EACH_LAYOUT = pytest.mark.parametrize("layout", ["dense", "sparse"])
EDGE = [(0, 1)]


def says(text):
    return re.escape(text)


# Bad input.


def test_unknown_algorithm_names_the_nearest():
    with pytest.raises(
        ValueError, match=says("unknown algorithm 'dijkstr' (did you mean 'dijkstra'?)")
    ):
        run("dijkstr", batches.graph(2, EDGE))
    everything = "unknown algorithm 'xyz'; choose one of " + ", ".join(ALGORITHMS)
    with pytest.raises(ValueError, match=says(everything)):
        get_algorithm("xyz")


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"record": "last"}, "record is 'last' (of type str); expected 'full' or 'final'"),
        ({"layout": "matrix"}, "layout is 'matrix' (of type str); expected 'dense' or 'sparse'"),
    ],
)
def test_unknown_option(option, message):
    with pytest.raises(ValueError, match=says(message)):
        algotransfer.run("bfs", batches.graph(2, EDGE), **option)


def test_a_full_trace_has_at_most_2000_nodes():
    graphs = batches.graph(2001, EDGE)
    message = (
        "a full trace of 2001 nodes needs 2002 steps of as many keys; "
        "above 2000 nodes, use smaller graphs, or in Python run(…, record='final')"
    )
    with pytest.raises(ValueError, match=says(message)):
        run("bfs", graphs)
    assert run("bfs", graphs, record="final").key.shape == (1, 2001)


@pytest.mark.parametrize("source", [-1, 3])
def test_source_out_of_range(source):
    message = f"source has values in {source}…{source}; expected 0…2"
    with pytest.raises(ValueError, match=says(message)):
        run("bfs", batches.graph(3, EDGE, source=source))


BAD_WEIGHTS = [
    ("bellman_ford", 0.0, " above 0", "0"),
    ("dijkstra", -0.5, " above 0", "-0.5"),
    ("prim", np.nan, " above 0", "nan"),
    ("widest_par", np.inf, " above 0", "inf"),
    ("widest_seq", 1e-39, " above 0", "1e-39"),  # float32 has it, with less than its precision
    ("reliable_par", 1.5, " above 0 and at most 1", "1.5"),
    ("reliable_seq", 0.0, " above 0 and at most 1", "0"),
    ("bfs", np.nan, "", "nan"),
    ("dfs", -np.inf, "", "-inf"),
]


@pytest.mark.parametrize(("name", "weight", "interval", "shown"), BAD_WEIGHTS)
def test_bad_weights(name, weight, interval, shown):
    good, bad = (batches.graph(3, [(0, 1), (1, 2)], weights=[0.5, w]) for w in (0.5, weight))
    for graphs, place in ((concatenate([good, bad]), " of graph 1"), (bad, "")):
        message = (
            f"{name} needs finite weights{interval}, but the edge between nodes 1 and 2{place} "
            f"has weight {shown}; rescale the weights or choose another algorithm"
        )
        with pytest.raises(ValueError, match=says(message)):
            run(name, graphs)


# Algorithms of one's own.


def own(relax, **fields):
    return replace(ALGORITHMS["bellman_ford"], name="own", relax=relax, **fields)


def test_an_algorithm_may_restrict_its_weights():
    algorithm = own(jnp.maximum, weights=(-2.0, 5.0))
    with pytest.raises(ValueError, match="needs finite weights of at least -2 and at most 5, but"):
        run(algorithm, batches.graph(2, EDGE, weights=[6.0]))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"source_key": lambda n: np.nan},
            "source_key(2) of own returned nan and unreached_key",
        ),
        (
            {"source_key": lambda n: np.inf},
            "source_key(2) of own returned inf and unreached_key",
        ),
        ({"source_key": lambda n: None}, "source_key(2) of own failed (TypeError: float() argum"),
        ({"source_key": len}, "; expected a function of the number of nodes that returns a number"),
        ({"unreached_key": np.nan}, "source_key(2) of own returned 0.0 and unreached_key is nan; "),
        ({"weights": (5.0, 1.0)}, "weights of own is (5.0, 1.0); expected the lowest valid weight"),
        ({"weights": (np.nan, 1.0)}, "weights of own is (nan, 1.0); expected the lowest valid wei"),
        ({"name": "bad name/.."}, "name is 'bad name/..'; expected letters, digits and _ . -, the"),
    ],
)
def test_invalid_fields_name_themselves(fields, message):
    with pytest.raises(UserError, match=says(message)):
        replace(own(jnp.maximum), **fields)


@pytest.mark.parametrize(
    ("relax", "said"),
    [
        (lambda key: key, "failed (TypeError: <lambda>() takes 1 positional argument but 2 were"),
        (lambda key, weight: key if key > weight else weight, "failed (ValueError: The truth valu"),
        (lambda key, weight: np.minimum(key, weight), "failed (TracerArrayConversionError: "),
        (lambda key, weight: None, "returned None for keys of shape (3, 1) and weights of shape"),
        (lambda key, weight: weight[0], "returned ShapeDtypeStruct(shape=(4,), "),
    ],
)
def test_an_invalid_relax_function_raises_a_user_error(relax, said):
    with pytest.raises(UserError, match=says(f"relax of own {said}")) as caught:
        run(own(relax), batches.graph(2, EDGE))
    assert "; expected a function of an array of keys and one of weights" in str(caught.value)
    assert "(and jnp.where in place of if)" in str(caught.value)


def test_relax_may_return_a_number():
    assert run(own(lambda key, weight: 1.0), batches.graph(2, EDGE)).final_key.tolist() == [0, 1]


@EACH_LAYOUT
def test_keys_that_never_settle_are_an_error(layout):
    graphs = concatenate([batches.graph(3, edges) for edges in ([], EDGE)])
    message = "own on graph 1 did not settle within 3 steps: its keys still become better"
    with pytest.raises(ValueError, match=says(message)):
        run(own(lambda key, weight: key - weight), graphs, layout=layout)


def test_an_entry_has_one_name(monkeypatch):
    monkeypatch.setitem(ALGORITHMS, "mine", own(jnp.maximum))
    with pytest.raises(ValueError, match=says("ALGORITHMS['mine'] has the name 'own'; give it")):
        get_algorithm("mine")


@pytest.mark.parametrize("entry", [lambda: 1, type(ALGORITHMS["bfs"]), None])
def test_only_algorithms_can_be_registered(entry, monkeypatch):
    with pytest.raises(UserError, match="'f' is .*; expected an instance of Algorithm"):
        ALGORITHMS["f"] = entry
    assert "f" not in ALGORITHMS
    monkeypatch.setitem(ALGORITHMS, "f", "math:pi")
    with pytest.raises(UserError, match=r"'f' is 3.14.*, of type float; expected an instance"):
        run("f", batches.graph(2, EDGE))


# Keys that float32 cannot tell from "unreached".


def two(edges, *weights):
    """A batch of two graphs with nine nodes and these weights, all of one shape."""
    graphs = [batches.graph(9, edges, weights=w) for w in (weights * 2)[:2]]
    return batches.with_all_columns(concatenate(graphs))


PATH = [(v, v + 1) for v in range(8)]


@EACH_LAYOUT
@pytest.mark.parametrize("name", ["reliable_par", "reliable_seq"])
def test_underflow_is_an_error(name, layout):
    fine, lost = np.full(8, 1e-4), np.full(8, 1e-6)
    message = (
        f"{name} on graph 1: a key under- or overflowed float32 to 0, the key of an unreached "
        "node; rescale the weights"
    )
    with pytest.raises(UserError, match=says(message)):
        run(name, two(PATH, fine, lost), layout=layout)
    assert np.all(np.asarray(run(name, two(PATH, fine), layout=layout).final_key) > 0)


@EACH_LAYOUT
@pytest.mark.parametrize("name", ["bellman_ford", "dijkstra"])
def test_overflow_is_an_error(name, layout):
    with pytest.raises(UserError, match=f"{name} on graph 0: .* float32 to inf"):
        run(name, two(PATH[:2], [3e38, 3e38]), layout=layout)


@EACH_LAYOUT
@pytest.mark.parametrize("name", ["reliable_par", "reliable_seq", "bellman_ford", "dijkstra"])
def test_a_candidate_that_is_not_taken_may_overflow(name, layout):
    """A detour that under- or overflows is no error where a better way is known by then."""
    weight = 1e-30 if name.startswith("reliable") else 3e38
    triangle = two([(0, 1), (1, 2), (0, 2)], [weight, weight, 0.5])
    trace = run(name, triangle, layout=layout)
    np.testing.assert_array_equal(trace.final_pred[:, :3], np.zeros((2, 3)))


# Shapes.


@pytest.mark.parametrize(
    ("name", "layout"), [("bellman_ford", "sparse"), ("prim", "sparse"), ("prim", "dense")]
)
def test_padding_changes_nothing(name, layout):
    narrow = sample_graphs("er", 7, 12, seed=1)
    wide = batches.with_all_columns(narrow)
    assert wide.senders.shape[1] > narrow.senders.shape[1]
    a, b = run(name, narrow, layout=layout), run(name, wide, layout=layout)
    jax.tree.map(np.testing.assert_array_equal, a, b)


@EACH_LAYOUT
@pytest.mark.parametrize("name", ["bfs", "dijkstra"])
def test_graphs_without_any_edge(name, layout):
    graphs = concatenate([batches.graph(4, [], source=s) for s in (0, 3)])
    assert graphs.senders.shape == (2, 0)
    trace = run(name, graphs, layout=layout)
    np.testing.assert_array_equal(trace.length, [1, 1])
    np.testing.assert_array_equal(trace.final_pred, [[0, -1, -1, -1], [-1, -1, -1, 3]])


@pytest.mark.parametrize("name", ["prim", "reliable_seq"])
def test_layouts_agree_where_a_node_has_more_neighbours_than_lanes(name):
    num_nodes = 2 * LANES + 7
    graph = batches.graph(num_nodes, combinations(range(num_nodes), 2))
    dense, sparse = (run(name, graph, layout=layout) for layout in ("dense", "sparse"))
    jax.tree.map(np.testing.assert_array_equal, sparse, dense)


@pytest.mark.parametrize("name", ["widest_par", "dijkstra"])
@pytest.mark.parametrize("in_a_chunk", [1, 4])
def test_chunks_change_nothing(name, in_a_chunk, monkeypatch):
    """Eleven graphs in chunks that do or do not divide them."""
    graphs = sample_graphs("ba", 11, 10, seed=2)
    whole = run(name, graphs, layout="dense")
    monkeypatch.setitem(run_module.CHUNK_CELLS, jax.default_backend(), in_a_chunk * 100)
    jax.tree.map(np.testing.assert_array_equal, run(name, graphs, layout="dense"), whole)


def test_a_lost_key_is_found_in_any_chunk(monkeypatch):
    monkeypatch.setitem(run_module.CHUNK_CELLS, jax.default_backend(), 2 * 81)
    graphs = concatenate([two(PATH, np.full(8, 1e-4))] * 3 + [two(PATH, np.full(8, 1e-6))])
    with pytest.raises(UserError, match="reliable_seq on graph 6"):
        run("reliable_seq", graphs)


def test_arrays_on_the_device_are_as_good_as_numpy():
    graphs = sample_graphs("er", 5, 8, seed=3)
    on_device = jax.tree.map(jnp.asarray, graphs)
    jax.tree.map(np.testing.assert_array_equal, run("prim", on_device), run("prim", graphs))


@pytest.mark.parametrize(("num_nodes", "layout"), [(20, "dense"), (1000, "sparse")])
def test_layout_is_chosen_by_size(num_nodes, layout):
    for algorithm in map(get_algorithm, PAPER_ALGORITHMS):
        assert run_module._faster_layout(algorithm, num_nodes) == layout


def compilations(layout, batches, algorithm):
    """How often an algorithm is compiled for some batches, each of them run twice."""
    algorithm = replace(algorithm, name="counted")  # not compiled before
    program = getattr(run_module, f"run_{layout}")
    before = program._cache_size()
    for graphs in (*batches, *batches):
        run(algorithm, graphs, layout=layout)
    return program._cache_size() - before


@EACH_LAYOUT
def test_like_batches_share_one_compilation(layout):
    graphs = [sample_graphs("er", 50, 11, seed=seed) for seed in range(6)]
    assert len({batch.senders.shape for batch in graphs}) > 2
    assert compilations(layout, graphs, ALGORITHMS["prim"]) <= 2


@EACH_LAYOUT
def test_batches_of_any_number_of_graphs_share_one_compilation(layout, monkeypatch):
    monkeypatch.setitem(run_module.CHUNK_CELLS, jax.default_backend(), 10 * 12**2)
    graphs = sample_graphs("grid", 37, 12)
    batches = [graphs[:count] for count in (10, 11, 25, 37)]
    assert compilations(layout, batches, ALGORITHMS["bfs"]) == 1
