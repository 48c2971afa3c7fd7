"""What is collected from run folders: marks, and weights under names of their own."""

import json

import pandas
import pytest

from algotransfer.array_files import load_arrays, save_arrays
from algotransfer.cli import main
from algotransfer.evaluation import COLUMNS
from algotransfer.experiment import Experiment
from algotransfer.files import Notice
from algotransfer.report.cells import least_marked
from algotransfer.report.collect import collect, collect_hops, marks, read_results
from algotransfer.report.example_pages import find_models
from algotransfer.report.write_report import time_note
from algotransfer.training import committed_weights, load_model
from algotransfer.training.runs import run_folder, write_json

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


def test_errors_by_distance_are_over_the_seeds_of_all_runs(runs):
    for seed, run in enumerate("ab"):
        row = ("network", seed, "er", 20, "pred", 1, 0.1 * (seed + 1), 500)
        frame = pandas.DataFrame([row], columns=list(COLUMNS)).astype(COLUMNS)
        frame.to_csv(runs / NAME / run / "evaluation.csv", index=False)
    (line,) = collect_hops(runs).to_dict("records")
    assert (line["value"], line["low"], line["high"], line["seeds"]) == (0.15, 0.1, 0.2, 2)


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
    assert said.startswith(f"note: {path} cannot be loaded: unknown algorithm 'knitting'")
    assert "import the file that registers it" in said
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


@pytest.mark.parametrize("value", [10**400, -1, 0, True, "1", 1e39])
def test_what_stands_for_infinity_on_a_card_is_a_positive_float32(runs, value):
    path = runs / NAME / "a" / "weights.npz"
    recarded(path, infinity=[value])
    with pytest.raises(ValueError, match="what stands for ∞ is .*, expected a number above 0"):
        load_model(path)


def test_weights_of_another_run_are_left_out(tmp_path):
    experiment = Experiment(supervision="tf")
    config = {"experiment": experiment.to_json(), "seeds": [0], "data": {}}
    run = run_folder(tmp_path, experiment, config)
    run.mkdir(parents=True)
    write_json(run / "config.json", config)
    (run / "weights.npz").write_bytes(committed_weights()[NAME].read_bytes())
    evaluation(500).to_csv(run / "evaluation.csv", index=False)
    with (
        pytest.warns(Notice, match="belongs to another configuration: .* the run is left out"),
        pytest.raises(ValueError, match="holds no evaluated runs"),
    ):
        collect(tmp_path)


FOREIGN = {
    "num_nodes": ["twenty", "1" * 30, "20.5", ""],
    "value": ["low"],
    "seed": ["first", "9" * 30],
    "diverged": ["perhaps"],
}


@pytest.mark.parametrize(
    ("column", "value"), [(column, value) for column in FOREIGN for value in FOREIGN[column]]
)
def test_foreign_values_in_a_table_of_results_are_one_sentence(
    runs, tmp_path, capsys, column, value
):
    out = tmp_path / "out"
    out.mkdir()
    results = collect(runs)
    results[column] = [value, *results[column].astype(str)[1:]]
    results.to_csv(out / "results.csv", index=False)
    assert main(["report", "--out", str(out)]) == 2
    assert f"results.csv is not a table of results: {column} is" in capsys.readouterr().err
    assert [path.name for path in out.iterdir()] == ["results.csv"]


@pytest.mark.parametrize("column", ["seed", "family", "metric", "value", "num_graphs", "diverged"])
def test_a_table_of_results_without_a_column_is_one_sentence(runs, tmp_path, capsys, column):
    collect(runs).drop(columns=column).to_csv(tmp_path / "results.csv", index=False)
    assert main(["report", "--out", str(tmp_path)]) == 2
    assert f"it has no column '{column}'" in capsys.readouterr().err


CALL = {
    "preset": "paper",
    "device": {"kind": "cpu"},
    "wall": 1.0,
    "seconds": {"training": 1.0},
    "jobs": 1,
    "ended": "20261115T120500Z",
}
SLICE = {"command": ["reproduce"], "device": {"kind": "cpu"}, "seconds": {"training": 1.0}}
SHAPES = {
    "calls.json": [
        [],
        {"calls": 7},
        {"calls": [7]},
        *({"calls": [{**CALL, name: None}]} for name in ("device", "wall", "ended")),
        {"calls": [{**CALL, "ended": "yesterday"}]},
    ],
    "environments.json": [
        7,
        {"run": 7},
        {"run": [7]},
        *({"run": [{**SLICE, name: None}]} for name in ("command", "device")),
        {"run": [{**SLICE, "seconds": {"training": "long"}}]},
    ],
}


@pytest.mark.parametrize(
    ("name", "content"), [(name, content) for name in SHAPES for content in SHAPES[name]]
)
def test_records_of_another_shape_are_one_sentence(runs, tmp_path, capsys, name, content):
    out = tmp_path / "out"
    out.mkdir()
    collect(runs).to_csv(out / "results.csv", index=False)
    (out / "calls.json").write_text(json.dumps({"calls": [CALL]}))
    (out / "environments.json").write_text(json.dumps({"run": [SLICE]}))
    assert "training 100%" in time_note(out)
    (out / name).write_text(json.dumps(content))
    before = sorted(out.iterdir())
    assert main(["report", "--out", str(out)]) == 2
    announced, said = capsys.readouterr().err.splitlines()
    assert announced == f"writing a report to {out}, in seconds …"
    assert said.startswith(f"error: {out / name}")
    assert sorted(out.iterdir()) == before


@pytest.mark.parametrize(
    "content",
    ["a,b\n1,2\n", "", "row,seed,family,num_nodes,metric,hop,value,num_graphs\n,,,x,,,,\n"],
)
def test_an_evaluation_of_another_kind_is_one_sentence(runs, tmp_path, capsys, content):
    path = runs / NAME / "a" / "evaluation.csv"
    path.write_text(content)
    out = tmp_path / "out"
    assert main(["report", "--folder", str(runs), "--out", str(out)]) == 2
    again = f"make it again with `algotransfer evaluate {path.parent}`"
    assert again in capsys.readouterr().err
    assert not out.exists()
    assert main(["evaluate", str(path.parent), "--keep"]) == 2
    assert again in capsys.readouterr().err
    assert path.read_text() == content
