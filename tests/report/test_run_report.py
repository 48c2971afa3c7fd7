"""The report of any runs has the numbers of their evaluations, in all formats."""

import shutil
from pathlib import Path

import networkx
import numpy as np
import pandas
import pytest

import algotransfer as at
from algotransfer.array_files import load_arrays, save_arrays
from algotransfer.cli import main
from algotransfer.evaluation.evaluate import read_evaluation, save_evaluation
from algotransfer.report.markdown import render_markdown
from algotransfer.report.run_report import _training_graphs, find_runs, make_run_report
from algotransfer.trained_models import find_weights

RUNS = Path(__file__).parents[2] / "studies" / "runs" / "transfer_grid"
NAME = "ne++-prim-tf"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with an evaluated run that has a log, one without a log, and one not evaluated."""
    root = tmp_path_factory.mktemp("project") / "runs"
    shutil.copytree(RUNS / NAME, root / NAME)
    for name in ("ne-prim-tf", "ne-bellman_ford"):
        (root / name / "0").mkdir(parents=True)
        shutil.copy(find_weights(name), root / name / "0" / "weights.npz")
    for name in (NAME, "ne-prim-tf"):
        (run,) = (root / name).iterdir()
        save_evaluation(run, at.evaluate(run, [at.make_dataset(["er", "ba"], 2, 6)]))
    return root


def test_numbers_are_those_of_the_evaluation(folder):
    with pytest.warns(UserWarning, match="left out 1 of 3 runs"):
        runs = find_runs([folder])
    data, results = make_run_report(runs)
    assert data.number_tables[0].columns == (("next", 6), ("key", 6), ("pred", 6), ("term", 6))
    for run, row in zip(runs, data.number_tables[0].rows, strict=False):
        frame = read_evaluation(run)
        pred = frame.query("row == 'network' and metric == 'pred' and hop.isna()")
        seeds = pred.groupby("seed")["value"].mean()
        assert row.texts == (run.parent.name, "er, ba: 2", str(len(seeds)))
        assert row.cells[2].mean == pytest.approx(seeds.mean())
        assert row.cells[2].std == pytest.approx(seeds.std(ddof=0))
        assert row.cells[2].values == pytest.approx(tuple(seeds))
        assert not row.cells[2].theirs
    assert set(results["run"]) == {run.name for run in runs}
    references = [row.texts[0] for row in data.number_tables[0].rows if row.kind == "reference"]
    assert references == ["a random neighbour", "the lightest edge", "the algorithm itself"]


def test_the_report_names_training_graphs_and_all_metrics(folder):
    with pytest.warns(UserWarning, match="left out"):
        data, _ = make_run_report(find_runs([folder]))
    runs, errors, further = data.sections[0].tables[0], *data.number_tables
    texts = dict(zip(runs.heads, runs.rows[0].texts, strict=True))
    assert texts["training graphs"] == "er, ba, grid: 15,000 graphs of 8–20 nodes"
    assert "other_data" not in texts["settings"]
    assert errors.title == "Errors of prim by number of nodes"
    assert further.title == "Further metrics of prim by number of nodes"
    metrics = {metric for metric, _ in errors.columns + further.columns}
    assert metrics == set(read_evaluation(next((folder / NAME).iterdir()))["metric"])
    assert "**" not in render_markdown(data)  # no paper's numbers to tell ours from


def test_training_graphs_of_different_sizes_have_a_range():
    cycles = [networkx.cycle_graph(size) for size in (4, 6, 6)]
    model = at.load_model("ne-prim-tf")
    for chosen, size in (([0, 2], "4–6"), ([1, 2], "6")):
        model.card["data"]["train"] = at.from_graphs(cycles).part(np.array(chosen)).arguments
        assert _training_graphs(model) == f"own: 2 graphs of {size} nodes"


def test_files(folder, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["report", str(folder)]) == 0
    assert "next  open report/report.html" in capsys.readouterr().out
    page = Path("report/report.html").read_text()
    assert "<h1>Results of runs</h1>" in page
    assert page.count("<svg") == 1
    assert 'data-seeds="' in page
    assert "validation loss</text>" in page  # learning curves of the run that has a log
    assert r"over seeds.}" in Path("report/tables.tex").read_text()
    assert set(pandas.read_csv("report/tables.csv")["model"]) == {NAME, "ne-prim-tf"}
    assert len(pandas.read_csv("report/results.csv"))


def test_runs_that_cannot_be_loaded_are_left_out(folder, tmp_path):
    shutil.copytree(folder / NAME, tmp_path / NAME)
    (run,) = (tmp_path / NAME).iterdir()
    weights = tmp_path / "other" / "0" / "weights.npz"
    weights.parent.mkdir(parents=True)
    arrays, card = load_arrays(run / "weights.npz")
    card["experiment"]["model"] = "mine"
    save_arrays(weights, arrays, {k: v for k, v in card.items() if k != "sha256"})
    left_out = pytest.warns(UserWarning, match="unknown network 'mine'.*; the run is left out")
    with left_out:
        assert find_runs([tmp_path]) == [run]
    (run / "evaluation.csv").unlink()
    none = r"none of the runs in .* can be used: 1 not loaded \(see the notes\)"
    with left_out, pytest.raises(ValueError, match=rf"{none}, 1 not evaluated \(run `algotr"):
        find_runs([tmp_path])
    shutil.rmtree(tmp_path / NAME)
    with left_out, pytest.raises(ValueError, match=f"{none}$"):
        find_runs([tmp_path])


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["report", "ne-prim-tf"], "ne-prim-tf has no evaluation.csv"),
        (["report", "runs", "--folder", "runs"], "--folder belongs to the report of the paper's"),
        (["report", "nothing"], "nothing is neither a run folder nor a weights file"),
        (["report"], "there is no results/results.csv; name your runs"),
    ],
)
def test_mistakes(command, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(command) == 2
    assert said in capsys.readouterr().err
    assert not [*tmp_path.iterdir()]


def test_a_run_evaluated_by_its_name_keeps_its_table(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(RUNS / NAME, tmp_path / "runs" / NAME)
    graphs = ["--num-nodes", "6", "--num-graphs", "2", "--family", "er"]
    assert main(["evaluate", f"runs/{NAME}", *graphs]) == 0
    (run,) = (tmp_path / "runs" / NAME).iterdir()
    assert find_runs([run]) == [run]
