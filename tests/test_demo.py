"""The demo runs, and writes what it says; here on less data and with quicker algorithms."""

import pytest
from processes import run_python

from algotransfer.algorithms import ALGORITHMS
from algotransfer.datasets import load_dataset

SMALL_DEMO = """
from algotransfer import demo
from algotransfer.datasets import Preset

demo.TARGET, demo.BASE = "bellman_ford", "bfs"
demo.GRAPHS = Preset(train=6, validation=2, test=2, num_nodes=8, test_sizes=(8, 20))
demo.SETTINGS = {"max_epochs": 1, "hidden": 4, "batch_size": 16}
demo.main()
"""


@pytest.mark.slow
def test_demo(tmp_path):
    text = run_python(SMALL_DEMO, folder=tmp_path)
    folder = tmp_path / "demo"
    for name in ALGORITHMS:
        assert name in text
        dataset = load_dataset(folder / "data" / f"{name}.npz")
        assert dataset.families == ("er", "ba", "grid")
    assert (folder / "dijkstra.png").stat().st_size > 20_000
    assert (folder / "generalisation.png").stat().st_size > 10_000
    for method, paper in {"none": "0.057", "multitask": "0.034"}.items():
        line, _ = [line for line in text.splitlines() if line.startswith(method)]  # pred, key
        assert f"({paper})" in line  # the paper's predecessor error at 20 nodes, beside ours
    assert "two_processor" in text
    assert len(list((folder / "runs").iterdir())) == 4  # with the base
