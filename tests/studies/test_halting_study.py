"""The study of halting rules: its committed table, and the figure drawn from it."""

import halting
import pandas
import pytest


@pytest.fixture(scope="module")
def table():
    return pandas.read_csv(halting.TABLE, dtype={"step": str}, keep_default_na=False)


def test_rules_read_errors_of_the_curves(table):
    plain = table[(table["supervision"] == "na") & table["target"].isin(halting.SEQUENTIAL)]
    keys = ["model", "method", "source", "target", "seed"]
    by_step = {step: rows.set_index(keys)["value"] for step, rows in plain.groupby("step")}
    assert by_step["horizon"].equals(by_step["20"])
    assert by_step["last"].equals(by_step["100"])


def test_the_figure_has_a_panel_per_method_and_a_line_per_seed(table, capsys):
    panels = [axes for axes in halting.draw(table).axes if axes.get_visible()]
    assert len(panels) == 4 * 5 + 4
    assert all(len(axes.lines) == 3 + 1 for axes in panels)  # seeds, and the training horizon
    halting.show(table)
    assert "0.068" in capsys.readouterr().out


@pytest.mark.usefixtures("quick_to_compile")
def test_every_step_and_rule_is_measured():
    dataset = halting.make_dataset(("er", "grid"), 1, 8, split="validation")
    frame = halting.measure("ne-dijkstra-na", dataset)
    assert list(dict.fromkeys(frame["step"])) == [*map(str, range(1, 9)), *halting.RULES]
    assert len(frame) == 3 * (8 + len(halting.RULES))
