"""The demo runs, and writes what it says; here on less data and with quicker algorithms."""

from algotransfer import demo
from algotransfer.algorithms import ALGORITHMS
from algotransfer.datasets import Preset, load_dataset


def test_demo(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(demo, "TARGET", "bellman_ford")
    monkeypatch.setattr(demo, "BASE", "bfs")
    monkeypatch.setattr(demo, "GRAPHS", Preset(6, 2, 2, num_nodes=8, test_sizes=(8, 20)))
    monkeypatch.setattr(demo, "SETTINGS", {"max_epochs": 1, "hidden": 4, "batch_size": 16})
    demo.main(tmp_path / "demo")
    text = capsys.readouterr().out
    for name in ALGORITHMS:
        assert name in text
        dataset = load_dataset(tmp_path / "demo" / "data" / f"{name}.npz")
        assert dataset.families == ("er", "ba", "grid")
    assert (tmp_path / "demo" / "dijkstra.png").stat().st_size > 20_000
    assert (tmp_path / "demo" / "generalisation.png").stat().st_size > 10_000
    for method, paper in {"none": "0.057", "multitask": "0.034"}.items():
        (line,) = [line for line in text.splitlines() if line.startswith(method)]
        assert f"({paper})" in line  # the paper's predecessor error at 20 nodes, beside ours
    assert "two_processor" in text
    assert len(list((tmp_path / "demo" / "runs").iterdir())) == 4  # with the base
