"""Exploding keys: numbers stay numbers from the network's output to the printed cell."""

import io

import numpy as np
import pandas
import pytest

from algotransfer.evaluation.evaluate import COLUMNS
from algotransfer.evaluation.metrics import mean_or_nan, squared
from algotransfer.evaluation.result_tables import number, summary_table
from algotransfer.evaluation.summary import summary

LARGEST = float(np.finfo(np.float32).max)


@pytest.mark.parametrize("key", [1e16, 1e30, LARGEST, -LARGEST])
def test_the_square_of_any_key_is_a_number(key):
    error = squared(np.full((1, 2, 3), key, np.float32), np.zeros((2, 3), np.float32))
    assert np.isfinite(error).all()
    assert error[0, 0, 0] == pytest.approx(float(np.float32(key)) ** 2)
    mean = mean_or_nan(error, np.ones((2, 3), bool))
    assert np.isfinite(mean).all()


def test_what_is_no_number_is_infinitely_wrong_and_spoils_no_other_graph():
    given = np.array([[[np.nan, 1.0], [np.inf, 1.0], [2.0, 1.0]]], np.float32)
    error = mean_or_nan(squared(given, np.ones((3, 2), np.float32)), np.ones((3, 2), bool))
    assert error.tolist() == [[np.inf, np.inf, 0.5]]


def table(values):
    rows = [
        ("network", seed, family, 100, "key", None, value, 5)
        for seed, value in enumerate(values)
        for family in ("er", "ba", "grid")
    ]
    return pandas.DataFrame(rows, columns=list(COLUMNS)).astype(COLUMNS)


def test_tables_of_the_largest_keys_have_numbers():
    line = summary(table([LARGEST**2, 1e16, 1e-20])).iloc[0]
    assert line["median"] == 1e16
    assert line["mean"] == pytest.approx(LARGEST**2 / 3)
    assert np.isfinite(line["std"])  # its squares are 1e154, and float64 has room for 1e308


def test_one_infinite_seed_leaves_the_median():
    line = summary(table([np.inf, 3.3e16, 1.0])).iloc[0]
    assert line["median"] == 3.3e16
    assert line["mean"] == np.inf
    assert np.isnan(line["std"])  # there is no such number


def test_csv_keeps_them():
    text = table([LARGEST**2, np.inf, 1e-320]).to_csv(index=False)
    back = pandas.read_csv(io.StringIO(text))["value"].unique().tolist()
    assert back == [LARGEST**2, np.inf, 1e-320]


@pytest.mark.parametrize(
    ("value", "shown"),
    [(3.3e16, "3.3e16"), (LARGEST**2, "1.16e77"), (1e-20, "1e-20"), (np.inf, "inf"), (0.0, "0")],
)
def test_shown_readably(value, shown):
    assert number(value) == shown


def test_the_printed_table_shows_infinity_and_large_numbers():
    from rich.console import Console

    console = Console(file=io.StringIO(), width=100)
    console.print(summary_table(table([3.3e16, 3.3e16, np.inf])))
    assert "3.3e16" in console.file.getvalue()
    assert "nan" not in console.file.getvalue()
