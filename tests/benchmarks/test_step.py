"""The comparison of a step with PyTorch Geometric, and the plot of time over edges."""

import json
import sys

import plot_scaling
import pytest
import step_peer
from peers.environments import how_to_make, python_of


def benchmark(monkeypatch, path) -> list[dict]:
    options = ["--nodes", "60", "--edges", "400", "--hidden", "8", "--repeats", "1"]
    monkeypatch.setattr(sys, "argv", ["step_peer.py", *options, "--out", str(path)])
    step_peer.main()
    rows = json.loads(path.read_text())["rows"]
    assert [row["pass"] for row in rows] == ["forward", "forward and backward"]
    assert all(seconds > 0 for row in rows for seconds in row["seconds"].values())
    return rows


def test_the_error_without_pyg_names_the_install_command(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(step_peer, "python_of", lambda peer: None)
    rows = benchmark(monkeypatch, tmp_path / "step.json")
    assert list(rows[0]["seconds"]) == ["algotransfer"]
    assert "Without PyTorch Geometric: no .venv-pyg" in " ".join(capsys.readouterr().out.split())


@pytest.mark.skipif(python_of("pyg") is None, reason=how_to_make("pyg"))
def test_with_pyg(monkeypatch, tmp_path, capsys):
    rows = benchmark(monkeypatch, tmp_path / "step.json")
    assert list(rows[0]["seconds"]) == ["algotransfer", "PyTorch Geometric"]
    assert "×" in capsys.readouterr().out


def test_points_of_the_picture_come_from_the_part_on_large_graphs():
    what = "ne-dijkstra-na, 1 × 1,000 nodes, 10,000 edges"
    rows = [
        {"part": "large", "what": what, "milliseconds_per_step": 2.5},
        {"part": "train", "what": "ne", "milliseconds_per_step": 1.0},
        {"experiment": "an older format"},
    ]
    assert plot_scaling.points({"rows": rows}) == [(1000, 10_000, 2.5)]
    with pytest.raises(ValueError, match="no rows of the part 'large'"):
        plot_scaling.points({"rows": []})
