"""The official splits of CLRS-30, against hashes of dm-clrs' arrays."""

import dataclasses
import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from algotransfer import make_splits
from algotransfer.cli import main
from algotransfer.datasets import CLRS_TASKS, make_test_sets
from algotransfer.datasets.clrs30 import SEEDS, official_output

# Made by: .venv-clrs/bin/python benchmarks/peers/clrs_samples.py splits FILE.json
HASHES = json.loads(Path(__file__).with_name("clrs30_splits.json").read_text())
SIZES = {"train": (1000, 16), "validation": (32, 16), "test": (32, 64)}


def sha256(array) -> str:
    return hashlib.sha256(np.asarray(array, "<f8").tobytes()).hexdigest()


def dm_clrs(task: str, split: str) -> dict[str, str]:
    return HASHES[f"{task}/{split.replace('validation', 'val')}"]


@pytest.mark.parametrize("split", SIZES)
@pytest.mark.parametrize("task", CLRS_TASKS)
def test_weights_and_sources_are_those_of_dm_clrs(task, split):
    (count, nodes), sampler = SIZES[split], CLRS_TASKS[task].sampler
    weights, source = zip(*sampler.matrices(count, nodes, SEEDS[split]), strict=True)
    assert sha256(weights) == dm_clrs(task, split)["A"]
    if sampler.has_source:
        assert sha256(np.eye(nodes)[list(source)]) == dm_clrs(task, split)["s"]


@pytest.mark.parametrize("task", CLRS_TASKS)
def test_datasets_hold_the_sampled_graphs_without_self_loops(task):
    sampler, dataset = CLRS_TASKS[task].sampler, make_splits("clrs30", task=task).validation
    matrices = np.stack([weights for weights, _ in sampler.matrices(32, 16, 2)])
    expected = (matrices * ~np.eye(16, dtype=bool)).astype(np.float32)
    repeats = 1 if sampler.has_source else 16
    ours = np.asarray(dataset.graphs.weight_matrix())
    np.testing.assert_array_equal(ours, np.repeat(expected, repeats, axis=0))
    if not sampler.has_source:
        np.testing.assert_array_equal(dataset.graphs.source, np.tile(np.arange(16), 32))


@pytest.mark.parametrize("split", SIZES)
@pytest.mark.parametrize("task", CLRS_TASKS)
def test_outputs_are_those_of_dm_clrs(task, split):
    truth = official_output(CLRS_TASKS[task], split)
    assert sha256(truth) == dm_clrs(task, split)[CLRS_TASKS[task].output]


OTHERS = [
    (task.name, algorithm)
    for task in CLRS_TASKS.values()
    for algorithm in (*task.algorithms[1:], *task.from_trees)
]


@pytest.mark.parametrize(("task", "algorithm"), OTHERS)
def test_outputs_of_other_algorithms_are_those_of_dm_clrs(task, algorithm):
    computed = dataclasses.replace(CLRS_TASKS[task], algorithms=(algorithm,))
    for split in ("train", "test"):
        output = official_output(computed, split)
        assert sha256(output) == dm_clrs(task, split)[CLRS_TASKS[task].output]


def test_wider_test_sets_share_no_graph_with_the_official_one():
    official = make_test_sets("clrs30", task="bfs")[64]
    wide = make_test_sets("clrs30_wide", task="bfs")
    assert {size: len(dataset) for size, dataset in wide.items()} == {64: 1000, 256: 100, 1024: 20}
    assert wide[64].families == ("clrs30_wide",)
    assert wide[64].arguments != official.arguments
    adjacency = np.asarray(official.graphs.adjacency())
    for graph in np.asarray(wide[64].graphs[:32].adjacency()):
        assert not (graph == adjacency).all((1, 2)).any()


def test_wider_sets_without_source_have_one_source_per_graph():
    wide = make_test_sets("clrs30_wide", task="floyd_warshall")
    assert len(wide[256]) == 100
    np.testing.assert_array_equal(wide[64].graphs.source[:66], [*range(64), 0, 1])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "has other graphs for every task; choose one of bfs, "),
        ({"task": "prim"}, "unknown CLRS-30 task 'prim' .*choose one of bfs"),
        ({"task": "bfs", "seed": 1}, "seed 1; the splits of CLRS-30 have fixed seeds"),
        ({"preset": "small", "task": "bfs"}, "tasks are those of the presets clrs30"),
    ],
)
def test_wrong_options(options, message):
    with pytest.raises(ValueError, match=message):
        make_splits(**{"preset": "clrs30"} | options)


def test_data_command_makes_each_task(tmp_path, capsys):
    words = ["data", "--preset", "clrs30", "--task", "bellman_ford", "--out", str(tmp_path)]
    assert main(words) == 0
    written = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.npz")}
    assert written == {
        f"bellman_ford/{split}/bellman_ford.npz" for split in ("train", "validation", "test_64")
    }
    assert main(["data", "--preset", "small", "--task", "bfs"]) == 2
    assert "tasks are those of the presets" in capsys.readouterr().err
