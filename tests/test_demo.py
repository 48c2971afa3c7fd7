"""The demo runs, and writes what it says."""

from algotransfer.algorithms import ALGORITHMS
from algotransfer.datasets import load_dataset
from algotransfer.demo import main


def test_demo(tmp_path, capsys):
    main(tmp_path / "demo")
    text = capsys.readouterr().out
    for name in ALGORITHMS:
        assert name in text
        dataset = load_dataset(tmp_path / "demo" / "data" / f"{name}.npz")
        assert dataset.families == ("er", "ba", "grid")
    assert (tmp_path / "demo" / "dijkstra.png").stat().st_size > 20_000
