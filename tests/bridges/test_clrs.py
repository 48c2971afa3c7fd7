"""Our engines on dm-clrs' own graphs give dm-clrs' answers."""

import json
import zipfile
from collections import namedtuple
from pathlib import Path

import numpy as np
import pytest
from evaluation import clrs_predictions

from algotransfer.algorithms import ALGORITHMS, run
from algotransfer.bridges.clrs import ClrsFeedback, from_clrs, import_clrs
from algotransfer.errors import UserError

# Made by: .venv-clrs/bin/python benchmarks/peers/clrs_samples.py feedback FILE.npz
COMMITTED = Path(__file__).with_name("clrs_feedback.npz")
NAMES = {"bfs": "bfs", "bellman_ford": "bellman_ford", "dijkstra": "dijkstra", "prim": "mst_prim"}


def check_agreement(feedback: ClrsFeedback) -> None:
    """Equal keys; equal predecessors, or ones through which the key is equally good."""
    algorithm = ALGORITHMS[feedback.algorithm]
    trace = run(algorithm, feedback.graphs)
    np.testing.assert_allclose(trace.final_key, feedback.key, rtol=2e-6)

    ours, theirs = np.asarray(trace.final_pred), feedback.pred
    np.testing.assert_array_equal(ours < 0, theirs < 0)
    graph, node = np.nonzero(ours != theirs)
    through = theirs[graph, node]
    weight = np.asarray(feedback.graphs.weight_matrix())[graph, through, node]
    assert (weight > 0).all()
    candidate = algorithm.relax(feedback.key[graph, through], weight)
    np.testing.assert_allclose(candidate, feedback.key[graph, node], rtol=2e-6)


@pytest.fixture(scope="module")
def raw() -> dict[str, np.ndarray]:
    with np.load(COMMITTED) as file:
        return dict(file)


@pytest.fixture(scope="module")
def committed() -> dict[str, ClrsFeedback]:
    return import_clrs(COMMITTED)


@pytest.mark.parametrize("algorithm", NAMES)
def test_engines_agree_with_committed_answers(committed, algorithm):
    check_agreement(committed[algorithm])


@pytest.mark.parametrize("algorithm", NAMES)
def test_graphs_are_those_of_clrs_without_self_loops(committed, raw, algorithm):
    weights = raw[f"{NAMES[algorithm]}.A"].astype(np.float32)
    on_diagonal = weights.diagonal(axis1=1, axis2=2)
    assert on_diagonal.any(), "a file without self-loops would not show that they are dropped"
    expected = weights * ~np.eye(weights.shape[1], dtype=bool)
    graphs = committed[algorithm].graphs
    np.testing.assert_array_equal(graphs.weight_matrix(), expected)
    np.testing.assert_array_equal(graphs.adjacency(), expected > 0)
    np.testing.assert_array_equal(graphs.source, raw[f"{NAMES[algorithm]}.s"].argmax(-1))


def test_unreached_nodes_have_no_predecessor(committed):
    dijkstra = committed["dijkstra"]
    assert np.isinf(dijkstra.key).any()
    np.testing.assert_array_equal(np.isinf(dijkstra.key), dijkstra.pred == -1)
    source = dijkstra.graphs.source
    np.testing.assert_array_equal(dijkstra.pred[np.arange(len(source)), source], source)


def test_a_wrong_answer_is_noticed(committed):
    right = committed["dijkstra"]
    pred = right.pred.copy()
    graph, node = np.argwhere((pred >= 0) & (pred != right.graphs.source[:, None]))[0]
    pred[graph, node] = node
    with pytest.raises(AssertionError):
        check_agreement(ClrsFeedback("dijkstra", right.graphs, right.key, pred))


@pytest.mark.parametrize(("num_nodes", "density"), [(20, 0.25), (64, 0.05)])
def test_engines_agree_with_fresh_samples(in_clrs, tmp_path, num_nodes, density):
    path = tmp_path / "fresh.npz"
    sizes = ("--num-nodes", str(num_nodes), "--density", str(density), "--seed", "1")
    in_clrs("benchmarks/peers/clrs_samples.py", "feedback", path, *sizes)
    imported = import_clrs(path)
    assert set(imported) == set(NAMES)
    for feedback in imported.values():
        check_agreement(feedback)


def test_live_feedback_equals_the_file(in_clrs):
    script = """
import clrs, numpy as np, sys
from algotransfer.bridges.clrs import COUNTERPARTS, from_clrs, import_clrs
committed = import_clrs(sys.argv[1])
for name, counterpart in COUNTERPARTS.items():
    sampler, _ = clrs.build_sampler(name, 32, length=20, p=(0.15 ** 0.5,), seed=0)
    live, stored = from_clrs(name, sampler.next()), committed[counterpart.algorithm]
    np.testing.assert_array_equal(live.key, stored.key)
    np.testing.assert_array_equal(live.pred, stored.pred)
    np.testing.assert_array_equal(live.graphs.weights, stored.graphs.weights)
    print(name)
"""
    assert in_clrs("-c", script, COMMITTED).split() == list(NAMES.values())


def test_hashes_of_the_official_splits_are_those_of_dm_clrs(in_clrs, tmp_path):
    in_clrs("benchmarks/peers/clrs_samples.py", "splits", tmp_path / "splits.json")
    committed = Path(__file__).parents[1] / "datasets" / "clrs30_splits.json"
    assert (tmp_path / "splits.json").read_text() == committed.read_text()


SCORE = """
import clrs, json, sys
sys.path.insert(0, sys.argv[1])
from clrs_predictions import predictions
def score(kind, predicted, truth):
    points = [clrs.DataPoint("out", clrs.Location.NODE, kind, data) for data in (predicted, truth)]
    return float(clrs.evaluate((points[1],), {"out": points[0]})["score"])
kinds = {"pointers": clrs.Type.POINTER, "mask": clrs.Type.MASK, "empty_mask": clrs.Type.MASK}
print(json.dumps({name: score(kinds[name], *case) for name, case in predictions().items()}))
"""


def test_committed_scores_are_those_of_dm_clrs(in_clrs):
    live = json.loads(in_clrs("-c", SCORE, Path(clrs_predictions.__file__).parent))
    assert live == pytest.approx(clrs_predictions.SCORES, abs=1e-6)


def test_hints_are_read_at_the_last_step_of_each_graph(raw):
    Probe = namedtuple("Probe", ["name", "data"])
    Features = namedtuple("Features", ["inputs", "hints", "lengths"])
    Feedback = namedtuple("Feedback", ["features", "outputs"])
    answer = raw["dijkstra.d"]
    lengths = np.arange(len(answer)) % 3 + 1.0
    steps = np.full((3, *answer.shape), -7.0)  # what must not be read
    marks = np.zeros_like(steps)
    for graph, length in enumerate(lengths.astype(int)):
        steps[length - 1, graph] = answer[graph]
        marks[length - 1, graph] = raw["dijkstra.mark"][graph]
    feedback = Feedback(
        Features(
            [Probe(name, raw[f"dijkstra.{name}"]) for name in ("A", "adj", "s")],
            [Probe("d", steps), Probe("mark", marks)],
            lengths,
        ),
        [Probe("pi", raw["dijkstra.pi"])],
    )
    check_agreement(from_clrs("dijkstra", feedback))


def write(path, arrays):
    np.savez(path, **arrays)
    return path


def test_directed_graphs_are_refused(raw, tmp_path):
    arrays = {name: array.copy() for name, array in raw.items()}
    arrays["dijkstra.adj"][5, 3, 4] = 1 - arrays["dijkstra.adj"][5, 4, 3]
    with pytest.raises(ValueError, match=r"graph 5 of 'dijkstra' is directed; expected symmetric"):
        import_clrs(write(tmp_path / "directed.npz", arrays))


def test_other_algorithms_are_refused(raw, tmp_path):
    renamed = {name.replace("bfs.", "dfs."): array for name, array in raw.items()}
    with pytest.raises(ValueError, match=r"algorithm 'dfs' has no counterpart; sample one of"):
        import_clrs(write(tmp_path / "dfs.npz", renamed))


def test_missing_arrays_are_named(raw, tmp_path):
    rest = {name: array for name, array in raw.items() if name != "mst_prim.pi"}
    with pytest.raises(ValueError, match="feedback of 'mst_prim' has A, adj, s, .* but not pi"):
        import_clrs(write(tmp_path / "rest.npz", rest))
    with pytest.raises(ValueError, match="holds no arrays; write it with"):
        import_clrs(write(tmp_path / "nothing.npz", {}))


FOREIGN = {
    "A": [
        (lambda a: a[0, 0], r"A of 'dijkstra' has shape \(20,\); expected \[graphs, nodes, no"),
        (lambda a: a[:, :5], r"A of 'dijkstra' has shape \(32, 5, 20\)"),
        (lambda a: a[:0], "at least one of each"),
        (lambda a: -a, "A of 'dijkstra' has a negative weight"),
        (lambda a: a * np.nan, "A of 'dijkstra' has NaN, .*; expected finite numbers"),
        (lambda a: a * 1e300, "A of 'dijkstra' has .* that float32 cannot hold"),
        (lambda a: a[:, :5, :5], r"adj of 'dijkstra' .* of shape \(32, 5, 5\)"),
    ],
    "adj": [(lambda adj: -adj, "adj of 'dijkstra' has other values than 0 and 1; expected a mask")],
    "s": [
        (lambda s: s * 0, "s of 'dijkstra' marks no or several sources"),
        (lambda s: s[0], r"s of 'dijkstra' has shape \(20,\)"),
    ],
    "pi": [(lambda pi: pi + 1, r"pi of 'dijkstra' has values outside 0…19")],
    "d": [(lambda d: d.astype(str), "d of 'dijkstra' .* expected finite numbers")],
}


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [(name, *case) for name, cases in FOREIGN.items() for case in cases],
)
def test_foreign_arrays_are_refused(raw, tmp_path, name, change, message):
    arrays = {key: array for key, array in raw.items() if key.startswith("dijkstra.")}
    arrays[f"dijkstra.{name}"] = change(arrays[f"dijkstra.{name}"])
    with pytest.raises(UserError, match=message):
        import_clrs(write(tmp_path / "foreign.npz", arrays))


@pytest.mark.parametrize("damage", ["truncated", "text", "empty", "pickled", "one array"])
def test_unreadable_files_are_refused(tmp_path, damage):
    path = tmp_path / "broken.npz"
    if damage == "pickled":
        write(path, {"bfs.A": np.array([{"a": 1}], dtype=object)})
    elif damage == "one array":
        with path.open("wb") as file:
            np.save(file, np.zeros(3))
    else:
        whole = COMMITTED.read_bytes()
        path.write_bytes({"truncated": whole[:-500], "text": b"hello", "empty": b""}[damage])
    with pytest.raises(ValueError, match=r"broken.npz is not a readable .npz archive .*again with"):
        import_clrs(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"absent.npz"):
        import_clrs(tmp_path / "absent.npz")


def test_a_file_whose_middle_is_missing(tmp_path):
    content = COMMITTED.read_bytes()
    (tmp_path / "cut.npz").write_bytes(content[:100] + content[200:])
    with pytest.raises(ValueError, match="cut.npz is not a readable .*negative offset"):
        import_clrs(tmp_path / "cut.npz")


@pytest.mark.parametrize("compression", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_files_that_numpy_does_not_write_are_refused(tmp_path, compression):
    path = tmp_path / "other.npz"
    with zipfile.ZipFile(COMMITTED) as file, zipfile.ZipFile(path, "w", compression) as other:
        other.writestr("bfs.A.npy", file.read("bfs.A.npy"))
    with pytest.raises(UserError, match=r"other\.npz is not a .*compressed, but not as NumPy"):
        import_clrs(path)


def test_entries_with_equal_names_are_refused(tmp_path):
    path = write(tmp_path / "twice.npz", {"bfs.A": np.ones(1)})
    with zipfile.ZipFile(path, "a") as file, pytest.warns(UserWarning, match="Duplicate name"):
        file.writestr("bfs.A.npy", file.read("bfs.A.npy"))
    with pytest.raises(UserError, match=r"twice\.npz is not .*two entries have the same name"):
        import_clrs(path)
