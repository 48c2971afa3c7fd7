"""Rich tables of evaluation results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from algotransfer.evaluation.summary import beside_paper, summary
from algotransfer.experiment import Experiment

if TYPE_CHECKING:
    import pandas
    from rich.table import Table


ROUNDING = 1e-12  # relative spread of equal numbers, whose mean is rounded


def summary_table(frame: pandas.DataFrame) -> Table:
    """Table of means over families: one line per metric and row, median over seeds ± std."""
    short: Any = summary(frame)
    sizes = sorted(short["num_nodes"].unique())
    table = plain_table(["metric", "row"], [f"{size} nodes" for size in sizes])
    for metric in short["metric"].unique():
        lines = short[short["metric"] == metric]
        rows = lines["row"].unique()
        for place, row in enumerate(rows):
            cells = lines[lines["row"] == row].set_index("num_nodes")
            table.add_row(
                metric if place == 0 else "",
                row,
                *[_cell(cells.loc[size]) if size in cells.index else "" for size in sizes],
                end_section=place == len(rows) - 1,
            )
    return table


def beside_paper_table(frame: pandas.DataFrame, experiment: Experiment) -> Table:
    """A line per number of the paper: theirs and our median ± the standard deviation over families.

    The mean over seeds has the standard deviation over seeds.
    """
    table = plain_table(["nodes", "graph", "metric"], ["paper", "median of seeds", "mean of seeds"])
    lines: Any = beside_paper(frame, experiment).drop_duplicates(["num_nodes", "graph", "metric"])
    for _, line in lines.iterrows():
        table.add_row(
            str(line["num_nodes"]),
            line["graph"],
            line["metric"],
            spread(line["paper"], line["paper_std"]),
            spread(line["median"], line["family_std"]),
            spread(line["mean"], line["std"]),
        )
    return table


def plain_table(text: Sequence[str], numbers: Sequence[str] = ()) -> Table:
    """Return an empty table in the style of all commands: text columns, then number columns."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    for name in text:
        table.add_column(name, overflow="fold")
    for name in numbers:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _cell(line) -> str:
    return spread(line["median"], line["std"] if line["num_seeds"] > 1 else np.nan)


def spread(value: float, std: float) -> str:
    """Format a number with its spread, if there is one; empty for NaN."""
    if np.isnan(value):
        return ""
    if np.isnan(std):
        return number(value)
    return f"{number(value)} ± {number(0.0 if std < ROUNDING * abs(value) else std, 2)}"


def number(value: float, digits: int = 3) -> str:
    """Format a number with a few digits, from 1e-20 to 1e20."""
    return f"{value:.{digits}g}".replace("e+0", "e").replace("e+", "e").replace("e-0", "e-")
