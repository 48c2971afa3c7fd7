"""The comparison of data generation at a small scale, and the timing in turns."""

import json
import sys

import data
import pytest
import side_by_side
import train_peer
from peers.environments import how_to_make, python_of
from side_by_side import Contestant, graphs_per_second

ALGORITHMS = ["bfs", "bellman_ford", "dijkstra", "prim", "dfs"]


def benchmark(monkeypatch, path) -> list[dict]:
    options = ["--scale", "0.002", "--repeats", "1", "--num-nodes", "20", "--out", str(path)]
    monkeypatch.setattr(sys, "argv", ["data.py", *options])
    data.main()
    rows = json.loads(path.read_text())["rows"]
    assert [row["algorithm"] for row in rows] == ALGORITHMS
    assert all(rate > 0 for row in rows for rate in row["graphs_per_second"].values())
    return rows


def test_without_clrs_the_others_are_measured(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(data, "python_of", lambda peer: None)
    rows = benchmark(monkeypatch, tmp_path / "new" / "data.json")
    assert list(rows[0]["graphs_per_second"]) == ["algotransfer", "networkx"]
    assert "Without dm-clrs: no .venv-clrs: make it with" in " ".join(
        capsys.readouterr().out.split()
    )


@pytest.mark.skipif(python_of("clrs") is None, reason=how_to_make("clrs"))
def test_with_clrs(monkeypatch, tmp_path, capsys):
    rows = benchmark(monkeypatch, tmp_path / "data.json")
    assert list(rows[0]["graphs_per_second"]) == ["algotransfer", "dm-clrs", "networkx"]
    assert "×" in capsys.readouterr().out


def test_contestants_alternate_and_medians_count():
    order = []

    def contestant(name, *seconds):
        def take(repeat):
            order.append(name)
            return seconds[repeat]

        return Contestant(graphs=12, seconds=take)

    ours, peer = contestant("ours", 1.0, 6.0, 2.0), contestant("peer", 4.0, 3.0, 12.0)
    rates = graphs_per_second({"ours": ours, "peer": peer}, repeats=3)
    assert order == ["ours", "peer"] * 3
    assert rates == {"ours": 6.0, "peer": 3.0}


def test_the_ratio_is_ours_over_theirs(capsys):
    rates = {"ours": 600.0, "peer": 4.0}
    side_by_side.show("title", [{"nodes": 20, "graphs_per_second": rates}], first="ours")
    assert "150.0×" in capsys.readouterr().out


def test_the_training_benchmark_without_any_environment(monkeypatch, tmp_path, capsys):
    def absent(setting):
        raise FileNotFoundError(how_to_make("clrs"))

    monkeypatch.setattr(train_peer, "CONTESTANTS", {"dm-clrs": absent})
    monkeypatch.setattr(sys, "argv", ["train_peer.py", "--out", str(tmp_path / "x.json")])
    with pytest.raises(SystemExit, match="2"):
        train_peer.main()
    assert "Without dm-clrs: no .venv-clrs" in capsys.readouterr().err
    assert not (tmp_path / "x.json").exists()
