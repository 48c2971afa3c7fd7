"""Data files: the format of the contract, equal bytes, and checks on whatever is read."""

import dataclasses
import json
import os
import subprocess
import sys
from functools import partial

import numpy as np
import pytest
import scipy.sparse

from algotransfer.algorithms import run
from algotransfer.algorithms.registry import ALGORITHMS, PAPER_ALGORITHMS
from algotransfer.array_files import load_arrays, save_arrays
from algotransfer.datasets import from_graphs, load_dataset, make_dataset, save_dataset
from algotransfer.errors import UserError
from algotransfer.graphs import from_scipy

SMALL = {"family": ("er", "grid"), "num_graphs": 3, "num_nodes": 6, "seed": 2}


@pytest.fixture(scope="module")
def dataset():
    return make_dataset(**SMALL)


@pytest.fixture
def path(dataset, tmp_path):
    path = tmp_path / "data.npz"
    save_dataset(dataset, path, "dijkstra")
    return path


def test_the_format(path, dataset):
    with np.load(path, allow_pickle=False) as file:
        entries = {name: file[name] for name in file.files}
    card = json.loads(str(entries.pop("card")))
    edges = int(2 * dataset.graphs.num_edges().sum())
    assert {name: (array.dtype.name, array.shape) for name, array in entries.items()} == {
        "format_version": ("int32", ()),
        "edge_index": ("int32", (2, edges)),
        "edge_offset": ("int64", (7,)),
        "edge_weight": ("float32", (edges,)),
        "num_nodes": ("int32", ()),
        "source": ("int32", (6,)),
        "key": ("float32", (6, 7, 6)),
        "pred": ("int32", (6, 7, 6)),
        "visited": ("bool", (6, 7, 6)),
        "length": ("int32", (6,)),
    }
    assert card == {
        "format_version": 1,
        "algorithm": "dijkstra",
        "graph": ["er", "grid"],
        "num_graphs": 3,
        "num_nodes": 6,
        "seed": 2,
        "split": "train",
        "attachments": 4,
        "shape": None,
        "sha256": card["sha256"],
    }
    for g in range(6):
        here = slice(entries["edge_offset"][g], entries["edge_offset"][g + 1])
        index, weights = entries["edge_index"][:, here].T.tolist(), entries["edge_weight"][here]
        assert index == sorted(index)
        weight = {(u, v): w for (u, v), w in zip(index, weights, strict=True)}
        matrix = np.asarray(dataset.graphs[g].weight_matrix())
        assert weight == {(u, v): matrix[u, v] for u, v in np.argwhere(matrix).tolist()}


@pytest.mark.parametrize("algorithm", PAPER_ALGORITHMS)
def test_round_trip(algorithm, dataset, tmp_path):
    save_dataset(dataset, tmp_path / "data.npz", algorithm)
    again = load_dataset(tmp_path / "data.npz")
    assert again.algorithms == (algorithm,)
    assert again.arguments == dataset.arguments
    assert again.family.tolist() == dataset.family.tolist()
    fresh, kept = run(algorithm, again.graphs), again.trace(algorithm)
    assert isinstance(kept.key, np.ndarray)  # from the file, not computed again
    for name in ("key", "pred", "visited", "length"):
        np.testing.assert_array_equal(getattr(kept, name), getattr(fresh, name))
    for name in ("senders", "receivers", "weights", "source"):
        np.testing.assert_array_equal(getattr(again.graphs, name), getattr(dataset.graphs, name))


def test_an_algorithm_that_has_changed_since_is_refused(dataset, tmp_path, monkeypatch):
    path, toll = tmp_path / "toll.npz", dataclasses.replace(ALGORITHMS["bellman_ford"], name="toll")
    monkeypatch.setitem(ALGORITHMS, "toll", toll)
    save_dataset(dataset, path, "toll")
    assert load_dataset(path).algorithms == ("toll",)
    changed = dataclasses.replace(toll, relax=lambda key, weight: key + 2 * weight)
    monkeypatch.setitem(ALGORITHMS, "toll", changed)
    with pytest.raises(UserError, match="'toll', which has changed since; make the file again"):
        load_dataset(path)


def test_the_algorithm_of_a_plugin_is_found(dataset, tmp_path, monkeypatch):
    path, toll = tmp_path / "toll.npz", dataclasses.replace(ALGORITHMS["bellman_ford"], name="toll")
    save_dataset(dataset, path, toll)
    plugin = partial(ALGORITHMS.update, toll=toll)
    monkeypatch.setattr("algotransfer.registry.load_plugins", plugin)
    assert load_dataset(path).algorithms == ("toll",)
    del ALGORITHMS["toll"]


def test_saving_what_was_loaded_gives_the_same_bytes(path, tmp_path):
    save_dataset(load_dataset(path), tmp_path / "again.npz", "dijkstra")
    assert (tmp_path / "again.npz").read_bytes() == path.read_bytes()


@pytest.mark.slow
def test_bytes_do_not_depend_on_the_number_of_threads(tmp_path):
    script = (
        "import sys; from algotransfer.datasets import make_dataset, save_dataset\n"
        "dataset = make_dataset(('er', 'ba', 'grid'), 40, 20, seed=1)\n"
        "for name in ('dijkstra', 'reliable_par'):\n"
        "    save_dataset(dataset, f'{sys.argv[1]}_{name}.npz', name)"
    )
    one = {"XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false", "PYTHONHASHSEED": "1"}
    for name, threads, more in (("one", "1", one), ("four", "4", {"PYTHONHASHSEED": "2"})):
        counts = {f"{library}_NUM_THREADS": threads for library in ("OMP", "OPENBLAS", "NPROC")}
        subprocess.run(
            [sys.executable, "-c", script, str(tmp_path / name)],
            env={**os.environ, **counts, **more},
            check=True,
        )
    for name in ("dijkstra", "reliable_par"):
        one, four = ((tmp_path / f"{n}_{name}.npz").read_bytes() for n in ("one", "four"))
        assert one == four


def change(arrays, name, index, value):
    arrays[name] = np.array(arrays[name])
    arrays[name][index] = value


@pytest.mark.parametrize(
    ("forge", "message"),
    [
        (lambda a, c: c.update(format_version=99), "format version 99; expected 1"),
        (lambda a, c: change(a, "format_version", (), 2), "'format_version' holds 2…2"),
        (lambda a, c: c.update(algorithm="minimax"), "unknown algorithm 'minimax'"),
        (lambda a, c: a.pop("pred"), r"missing entries: \['pred'\]; unknown: none"),
        (lambda a, c: a.update(more=np.ones(1)), r"missing entries: none; unknown: \['more'\]"),
        (lambda a, c: c.update(algorithm="bfs"), r"unknown: \['visited'\]"),
        (lambda a, c: a.update(source=a["source"][None]), "source and edge_weight must be 1-d"),
        (
            lambda a, c: a.update(key=a["key"][:, :-1]),
            r"float32 \[6, 6, 6\], expected float32 \[6, 7",
        ),
        (lambda a, c: a.update(pred=a["pred"].astype("i8")), "'pred' is int64 .*, expected int32"),
        (lambda a, c: a.update(num_nodes=np.array(7, np.int32)), "expected float32 .6, 8, 7."),
        (
            lambda a, c: c.update(num_nodes=5),
            "num_nodes is missing or wrong on its card",
        ),
        (lambda a, c: c.update(num_graphs=2), "do not add up to 6 graphs"),
        (lambda a, c: c.update(num_graphs=None), "do not add up to 6 graphs"),
        (lambda a, c: c.update(graph="er"), "do not add up to 6 graphs"),
        (lambda a, c: change(a, "source", 0, 6), r"'source' holds .*…6, expected 0…5"),
        (lambda a, c: change(a, "pred", (0, 0, 0), -2), r"'pred' holds -2…"),
        (lambda a, c: change(a, "length", 0, 0), r"'length' holds 0…6, expected 1…6"),
        (lambda a, c: change(a, "key", (0, 0, 0), np.nan), "'key' holds NaN"),
        (lambda a, c: change(a, "edge_offset", 1, 999), "edge_offset must rise from 0"),
        (lambda a, c: change(a, "edge_offset", 0, 1), "edge_offset must rise from 0"),
        (
            lambda a, c: change(a, "edge_index", (0, 0), 6),
            "edge_index has values in 0…6",
        ),
        (lambda a, c: change(a, "edge_weight", 0, np.inf), "an edge weight is not finite"),
        (lambda a, c: change(a, "edge_weight", 0, 0.1), "in both directions with equal weights"),
    ],
)
def test_the_content_of_a_file_is_validated(path, forge, message):
    """A forged file whose sha256 is right is still held against the format."""
    arrays, card = load_arrays(path)
    card.pop("sha256")
    forge(arrays, card)
    save_arrays(path, arrays, card)
    with pytest.raises(ValueError, match=message) as caught:
        load_dataset(path)
    assert str(caught.value).startswith(f"cannot use {path} as a data file: ")


def test_damage_is_reported_in_one_sentence(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 16
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"data\.npz is damaged .*; make or fetch it again"):
        load_dataset(path)
    path.write_bytes(content[:-100])
    with pytest.raises(ValueError, match=r"data\.npz is damaged .*; make or fetch it again"):
        load_dataset(path)


def test_other_archives_are_refused(tmp_path):
    np.savez(tmp_path / "other.npz", a=np.ones(3))
    with pytest.raises(ValueError, match="it has no card"):
        load_dataset(tmp_path / "other.npz")
    save_arrays(tmp_path / "weights.npz", {"a": np.ones(3)}, {"kind": "weights"})
    with pytest.raises(ValueError, match="format version None; expected 1"):
        load_dataset(tmp_path / "weights.npz")


def test_directed_graphs(tmp_path):
    ends = ([0, 1, 2, 2], [1, 2, 0, 1])
    matrix = scipy.sparse.csr_array(([0.25, 0.5, 1.0, 2.0], ends), shape=(4, 4))
    directed = from_graphs([from_scipy(matrix), from_scipy(matrix, source=2)])
    save_dataset(directed, tmp_path / "data.npz", "bellman_ford")
    again = load_dataset(tmp_path / "data.npz")
    assert again.graphs.directed
    np.testing.assert_array_equal(again.graphs.weight_matrix(), directed.graphs.weight_matrix())
    arrays, card = load_arrays(tmp_path / "data.npz")
    del card["sha256"]
    for value, message in [("yes", "directed is 'yes' on its card"), (False, "both directions")]:
        save_arrays(tmp_path / "other.npz", arrays, card | {"directed": value})
        with pytest.raises(ValueError, match=message):
            load_dataset(tmp_path / "other.npz")


def test_other_suffixes_are_refused(dataset, tmp_path):
    with pytest.raises(ValueError, match=r"does not end in .npz, as data files do; rename it"):
        save_dataset(dataset, tmp_path / "graphs.csv", "dijkstra")
    with pytest.raises(
        ValueError, match=r"expected a data file: make one .*`algotransfer data --algorithm N"
    ):
        load_dataset(tmp_path / "graphs.csv")
    assert not list(tmp_path.iterdir())
