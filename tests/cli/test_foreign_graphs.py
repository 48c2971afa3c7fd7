"""Graphs that an algorithm or a command cannot take: one sentence, and nothing is written."""

from pathlib import Path

import numpy as np
import pytest

from algotransfer.cli import main

SAMPLES = Path(__file__).parents[1] / "bridges" / "clrs_feedback.npz"


def refused(words, capsys, folder) -> str:
    """Return what a command says that must fail without writing anything."""
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert main([str(word) for word in words]) == 2
    *_, said = capsys.readouterr().err.splitlines()  # commands first say what they do
    assert said.startswith("error: ")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    return said


def directed(folder, *edges) -> Path:
    path = folder / "graph.csv"
    path.write_text("from,to,weight\n" + "".join(f"{u},{v},0.5\n" for u, v in edges))
    return path


def test_a_directed_graph_for_an_undirected_algorithm(tmp_path, capsys):
    graph, out = directed(tmp_path, "ab", "bc", "ac"), tmp_path / "out"
    message = "prim needs undirected graphs, but these are directed; list every edge in both"
    words = ["explore", "--algorithm", "prim", "--graph", graph, "--out", f"{out}.html"]
    assert message in refused(words, capsys, tmp_path)
    words = ["data", "--algorithm", "prim", "--graph", graph, "--out", f"{out}.npz"]
    assert message in refused(words, capsys, tmp_path)


def test_a_cyclic_graph_for_the_algorithm_of_acyclic_ones(tmp_path, capsys):
    graph, out = directed(tmp_path, "ab", "bc", "ca"), tmp_path / "out"
    message = "dag_shortest_paths needs directed graphs without cycles, but"
    words = ["explore", "--algorithm", "dag_shortest_paths", "--graph", graph]
    assert message in refused([*words, "--out", f"{out}.html"], capsys, tmp_path)
    words = ["data", "--algorithm", "dag_shortest_paths", "--graph", graph]
    assert message in refused([*words, "--out", f"{out}.npz"], capsys, tmp_path)


@pytest.mark.parametrize("source", ["9" * 5000, "-1", "7"])
def test_a_source_that_is_no_node(tmp_path, capsys, source):
    words = ["execute", "relax-dijkstra", directed(tmp_path, "ab"), f"--source={source}"]
    assert "graph.csv: no node is named" in refused(words, capsys, tmp_path)
    words = ["explore", f"--source={source}0", "--num-nodes", "8", "--out", tmp_path / "x.html"]
    assert "node" in refused(words, capsys, tmp_path)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("damaged", "is not a readable .npz archive"),
        ("text", "is not a readable .npz archive"),
        ("foreign", "has no counterpart; sample one of"),
        ("shapes", "pi of 'dijkstra' has shape (32, 3) and type int64; expected finite numbers"),
    ],
)
def test_a_foreign_or_damaged_file_of_clrs(tmp_path, capsys, kind, message):
    path = tmp_path / "samples.npz"
    with np.load(SAMPLES) as file:
        arrays = dict(file)
    if kind == "foreign":
        np.savez(path, weights=np.zeros(3))
    elif kind == "shapes":
        np.savez(path, **{**arrays, "dijkstra.pi": arrays["dijkstra.pi"][:, :3]})
    else:
        path.write_bytes(SAMPLES.read_bytes()[:-700] if kind == "damaged" else b"hello")
    words = ["evaluate", "relax-dijkstra", "--clrs", path, "--out", tmp_path / "scores.csv"]
    assert message in refused(words, capsys, tmp_path)
