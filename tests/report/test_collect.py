"""What is collected from run folders: marks, and weights under names of their own."""

import pandas
import pytest

from algotransfer.array_files import load_arrays, save_arrays
from algotransfer.cli import main
from algotransfer.evaluation import COLUMNS
from algotransfer.files import Notice
from algotransfer.report.cells import least_marked
from algotransfer.report.collect import collect, marks, read_results
from algotransfer.report.example_pages import find_models
from algotransfer.training import committed_weights, load_model

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


def recarded(path, **fields):
    """Writes weights again, with other fields on their card."""
    arrays, card = load_arrays(path)
    del card["sha256"]
    save_arrays(path, arrays, {**card, **fields})


def test_a_run_of_an_unknown_algorithm_is_named_and_left_out(runs, tmp_path, capsys):
    path = runs / NAME / "b" / "weights.npz"
    recarded(path, experiment={**load_arrays(path)[1]["experiment"], "target": "knitting"})
    assert main(["report", "--folder", str(runs), "--out", str(tmp_path)]) == 0
    (said,) = [line for line in capsys.readouterr().err.splitlines() if "left out" in line]
    assert said.startswith(
        f"note: {path} is not a weights file that can be used: unknown algorithm"
    )
    with pytest.warns(Notice, match="knitting"):
        assert set(collect(runs)["run"]) == {"a"}


def test_examples_are_of_the_run_that_the_tables_show(runs):
    results = collect(runs)
    assert set(least_marked(results)["run"]) == {"a"}
    recarded(runs / NAME / "a" / "weights.npz", epochs=[7, 7, 7])
    assert find_models(runs, results)[NAME].card["epochs"] == [7, 7, 7]


def test_other_data_is_one_difference(runs):
    path = runs / NAME / "b" / "weights.npz"
    data = load_arrays(path)[1]["data"]
    recarded(path, data={**data, "train": {**data["train"], "num_graphs": 7}})
    assert marks(load_model(path)).split() == ["other_data"]


def test_kept_results_are_read_as_they_were(runs, tmp_path):
    results = collect(runs).assign(family="NA", run="12345678901234e5", source="")
    results.to_csv(tmp_path / "results.csv", index=False)
    again = read_results(tmp_path / "results.csv")
    for column in ("family", "run", "source", "marks", "infinity", "value"):
        assert again[column].tolist() == results[column].tolist()
