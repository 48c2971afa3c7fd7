"""Summaries of tidy tables made by hand, and the paper's numbers beside them."""

import io

import numpy as np
import pandas
import pytest
from rich.console import Console

from algotransfer.evaluation import (
    COLUMNS,
    beside_paper,
    beside_paper_table,
    per_seed,
    summary,
    summary_table,
)
from algotransfer.evaluation.result_tables import spread
from algotransfer.experiment import Experiment

DIJKSTRA = Experiment(model="ne", target="dijkstra", supervision="na")


def tidy(*rows):
    """A table from (row, seed, family, num_nodes, metric, hop, value)."""
    return pandas.DataFrame([(*row, 10) for row in rows], columns=list(COLUMNS)).astype(COLUMNS)


@pytest.fixture
def frame():
    values = {0: (0.1, 0.2, 0.3), 1: (0.2, 0.3, 0.7), 2: (0.0, 0.3, 0.6)}
    rows = [
        ("network", seed, family, 20, "pred", None, value)
        for seed, of_seed in values.items()
        for family, value in zip(("er", "ba", "grid"), of_seed, strict=True)
    ]
    rows.append(("network", 0, "er", 20, "pred", 3, 0.9))
    rows.append(("network", 0, "er", 50, "pred", None, 0.5))
    rows += [("algorithm", None, family, 20, "pred", None, 0) for family in ("er", "ba", "grid")]
    return tidy(*rows)


def test_over_families_then_over_seeds(frame):
    of_seeds = per_seed(frame).query("row == 'network' and num_nodes == 20")
    assert of_seeds["mean"].tolist() == pytest.approx([0.2, 0.4, 0.3])
    assert of_seeds["std"].tolist() == pytest.approx(
        [np.std([0.1, 0.2, 0.3]), np.std([0.2, 0.3, 0.7]), np.std([0.0, 0.3, 0.6])]
    )
    short = summary(frame)
    assert short[["row", "num_nodes"]].to_numpy().tolist() == [
        ["network", 20],
        ["network", 50],
        ["algorithm", 20],
    ]
    line = short.iloc[0]
    assert (line["median"], line["mean"]) == pytest.approx((0.3, 0.3))
    assert line["std"] == pytest.approx(np.std([0.2, 0.4, 0.3]))
    assert line["family_std"] == pytest.approx(np.std([0.2, 0.3, 0.7]))
    assert line["num_seeds"] == 3


def test_infinite_values_have_a_median_and_no_spread():
    short = summary(tidy(*[("network", s, "er", 20, "key", None, np.inf * s + 1) for s in (1, 2)]))
    assert np.isposinf(short.loc[0, ["median", "mean"]].astype(float)).all()
    assert np.isnan(short.loc[0, "std"])


def test_beside_the_paper(frame):
    lines = beside_paper(frame, DIJKSTRA)
    mean = lines[lines["graph"] == "mean"].iloc[0]
    assert (mean["table"], mean["paper"], mean["metric"]) == ("seq-na", 0.023, "pred")
    assert mean["median"] == pytest.approx(0.3)
    er = lines[(lines["graph"] == "er") & (lines["num_nodes"] == 20)].iloc[0]
    assert er["table"] == "seq-na-breakdown"
    assert er["median"] == pytest.approx(0.1)
    assert er["std"] == pytest.approx(np.std([0.1, 0.2, 0.0]))
    # With 50 nodes one family was evaluated: it stands alone, and a mean of it is not a mean.
    assert lines[lines["num_nodes"] == 50]["graph"].tolist() == ["er"]


@pytest.mark.parametrize(
    ("experiment", "table"),
    [
        (Experiment(model="ne++", select="mean"), "seq-na-mean"),
        (Experiment(target="bellman_ford", select="mean"), "par-summary"),
        (Experiment(supervision="tf"), "seq-tf"),
        (Experiment(method="two_processor", base=("dijkstra",)), "experiment-2"),
        (Experiment(method="freeze", base=("prim",)), "seq-transfer"),
        (
            Experiment(
                model="ne++",
                target="reliable_seq",
                method="two_processor",
                base=("prim", "dijkstra", "dfs"),
            ),
            "multi-pretrain",
        ),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_the_same_experiment_of_the_paper(frame, experiment, table):
    lines = beside_paper(frame, experiment)
    assert table in lines["table"].tolist()


def test_the_paper_did_not_try_everything(frame):
    lines = beside_paper(frame, Experiment(target="dfs"))
    assert lines.empty
    assert "paper" in lines.columns


def test_tables_can_be_read_from_a_file(frame, tmp_path):
    frame.to_csv(tmp_path / "evaluation.csv", index=False)
    again = pandas.read_csv(tmp_path / "evaluation.csv")
    pandas.testing.assert_frame_equal(summary(again), summary(frame), check_dtype=False)


def printed(table):
    console = Console(file=io.StringIO(), width=80)
    console.print(table)
    return console.file.getvalue()


def test_rich_tables(frame):
    short = printed(summary_table(frame))
    assert "20 nodes" in short
    assert "0.3 ± 0.082" in short
    assert "…" not in short
    beside = printed(beside_paper_table(frame, DIJKSTRA))
    assert "0.023" in beside
    assert "0.3 ± 0.22" in beside
    assert "…" not in beside


def test_large_and_small_numbers_are_short():
    rows = [("network", 0, "er", 20, "key", None, value) for value in (1.234567e16,)]
    rows.append(("network", 0, "er", 50, "key", None, 1.5e-6))
    text = printed(summary_table(tidy(*rows)))
    assert "1.23e16" in text
    assert "1.5e-6" in text


def test_a_spread_of_rounding_errors_is_zero():
    assert spread(0.025, float(np.std([0.025] * 3 + [0.025 + 3.5e-18]))) == "0.025 ± 0"
    assert spread(0.025, 3.5e-18) == "0.025 ± 0"
    assert spread(0.0, 1e-9) == "0 ± 1e-9"
