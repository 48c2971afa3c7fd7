"""Models side by side: numbers equal those of `evaluate` and of scipy."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas
import pytest
from scipy.stats import ttest_ind

import algotransfer as at
from algotransfer.cli import main
from algotransfer.errors import UserError
from algotransfer.files import Notice
from algotransfer.report.compare import Comparison, _table, label_models
from algotransfer.supervisions import SUPERVISIONS

RUNS = Path(__file__).parents[2] / "studies" / "runs" / "transfer_grid"
WITHOUT_STEPS, WITH_STEPS = "ne-bellman_ford", next((RUNS / "ne++-widest_seq-tf").iterdir())


@pytest.fixture(scope="module")
def comparison():
    with pytest.warns(Notice, match=r"different targets \(bellman_ford, widest_seq\)"):
        return at.compare([WITHOUT_STEPS, WITH_STEPS], at.make_dataset(["er", "ba"], 2, 6))


@pytest.mark.parametrize("again", [str, at.load_model], ids=["name", "model"])
def test_a_model_counts_once(again):
    models = [WITHOUT_STEPS, WITH_STEPS, again(WITHOUT_STEPS)]
    with pytest.raises(UserError, match=rf"model 3 \({WITHOUT_STEPS}\) has the seeds and weights"):
        at.compare(models, [at.make_dataset("er", 2, 6)])


def test_runs_of_one_folder_name_have_different_labels():
    model = at.load_model(WITHOUT_STEPS)
    labels = label_models(["a/run", "b/run"], [model, model])
    assert labels == [f"{WITHOUT_STEPS} (1)", f"{WITHOUT_STEPS} (2)"]
    other = replace(model, experiment=replace(model.experiment, batch_size=32))
    labels = label_models(["a/run", "b/run"], [model, other])
    assert labels == [f"{WITHOUT_STEPS} (batch_size=64)", f"{WITHOUT_STEPS} (batch_size=32)"]


def test_the_figure_marks_the_steps_at_which_answers_are_read(comparison):
    graphs = at.make_dataset(["er", "ba"], 2, 6).graphs
    length = at.run("bellman_ford", graphs).length
    assert set(comparison.by_step["read_from"]) == {int(length.min())}
    figure = comparison.draw()
    assert {line.get_marker() for line in figure.axes[0].lines} == {"o"}  # one size
    label = figure.axes[1].get_xlabel()
    assert label == f"step (shaded: answers are read after steps {length.min()}–{length.max()})"


def test_errors_are_those_of_evaluate(comparison):
    frame = at.evaluate(WITHOUT_STEPS, [at.make_dataset(["er", "ba"], 2, 6)])
    pred = frame.query("metric == 'pred' and row == 'network' and hop.isna()")
    ours = comparison.errors.query("model == @WITHOUT_STEPS").set_index("seed")["value"]
    assert ours.to_dict() == pytest.approx(pred.groupby("seed")["value"].mean().to_dict())


def test_steps_and_curves_are_kept_where_they_exist(comparison):
    assert set(comparison.by_step["model"]) == {WITHOUT_STEPS}
    assert set(comparison.losses["model"]) == {"ne++-widest_seq-tf"}
    assert comparison.losses.groupby("seed")["epoch"].max().between(54, 80).all()


def test_no_errors_by_step_for_a_supervision_with_termination(monkeypatch):
    monkeypatch.setitem(SUPERVISIONS, "mine", SUPERVISIONS["tf"])
    model = at.load_model(WITH_STEPS)
    renamed = replace(model, experiment=replace(model.experiment, supervision="mine"))
    assert at.compare([renamed], at.make_dataset(["er", "ba"], 2, 6)).by_step.empty


def test_files(comparison, tmp_path):
    written = comparison.save(tmp_path / "new")
    assert {path.name for path in written} == {
        "table.csv",
        "errors.csv",
        "table.tex",
        "by-step.csv",
        "losses.csv",
        "comparison.png",
    }
    assert (tmp_path / "new" / "comparison.png").read_bytes()[1:4] == b"PNG"
    latex = (tmp_path / "new" / "table.tex").read_text()
    assert r"model & nodes & seeds & pred & ratio (95 \%) \\" in latex
    assert r"ne++-widest\_seq-tf & 6 & 5 & " in latex


def test_ratios_are_those_of_welchs_test():
    first, second = np.exp([[0.1, 0.4, -0.3, 0.2], [1.1, 0.7, 1.6, 0.9]])
    errors = pandas.DataFrame(
        [("a", k, 100, v) for k, v in enumerate(first)]
        + [("b", k, 100, v) for k, v in enumerate(second)],
        columns=["model", "seed", "num_nodes", "value"],
    )
    table = _table(errors, ["a", "b"])
    row = table.iloc[1]
    test = ttest_ind(np.log(second), np.log(first), equal_var=False)
    interval = np.exp(test.confidence_interval())
    assert [row["low"], row["high"]] == pytest.approx(interval)
    assert row["ratio"] == pytest.approx(np.exp(0.975))
    latex = Comparison("pred", table, errors, pandas.DataFrame(), pandas.DataFrame()).to_latex()
    assert rf"& 2.65 ({interval[0]:.2f}--{interval[1]:.2f}) \\" in latex


@pytest.mark.parametrize(("second", "missing"), [([0.0, 0.1, 0.2], True), ([0.1, 0.2], False)])
def test_no_ratio_where_an_error_is_zero(second, missing):
    errors = pandas.DataFrame(
        [("a", k, 20, v) for k, v in enumerate([0.1, 0.3])]
        + [("b", k, 20, v) for k, v in enumerate(second)],
        columns=["model", "seed", "num_nodes", "value"],
    )
    table = _table(errors, ["a", "b"])
    assert np.isnan(table["ratio"].iloc[1]) == missing
    text = Comparison("pred", table, errors, pandas.DataFrame(), pandas.DataFrame()).explanation()
    assert (
        text.endswith("no ratio where a seed has an error of 0, which has no logarithm") == missing
    )


def test_command_line(capsys):
    graphs = ["--num-nodes", "6", "--num-graphs", "2", "--family", "er", "ba"]
    assert main(["compare", WITHOUT_STEPS, *graphs, "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["seeds"] == 3
    assert row["ratio"] is None
