"""What is collected from run folders: marks, and weights under names of their own."""

import pandas
import pytest

from algotransfer.cli import main
from algotransfer.evaluation import COLUMNS
from algotransfer.report.collect import collect
from algotransfer.training import committed_weights

NAME = "ne-dijkstra-tf"


def evaluation(num_graphs: int) -> pandas.DataFrame:
    """Predecessors of a network on all graphs, and the cost of a random run on some of them."""
    rows = [
        ("network", 0, "er", 20, "pred", None, 0.1, num_graphs),
        ("random_neighbour", 0, "er", 20, "cost", None, 1.5, 7),
    ]
    return pandas.DataFrame(rows, columns=list(COLUMNS)).astype(COLUMNS)


@pytest.fixture
def runs(tmp_path):
    """Two runs of one experiment: the second with fewer test graphs."""
    for run, num_graphs in {"a": 500, "b": 60}.items():
        folder = tmp_path / "runs" / NAME / run
        folder.mkdir(parents=True)
        (folder / "weights.npz").write_bytes(committed_weights()[NAME].read_bytes())
        evaluation(num_graphs).to_csv(folder / "evaluation.csv", index=False)
    return tmp_path / "runs"


def test_only_a_smaller_test_set_is_marked(runs):
    results = collect(runs)
    assert dict(zip(results["run"], results["marks"], strict=True)) == {
        "a": "",
        "b": "test_graphs=60",
    }


def test_weights_do_not_overwrite_each_other(runs, tmp_path):
    weights = tmp_path / "weights"
    words = ["--folder", str(runs), "--out", str(tmp_path), "--weights", str(weights)]
    assert main(["report", *words]) == 0
    assert {path.name for path in weights.iterdir()} == {f"{NAME}.npz", f"{NAME}-b.npz"}
