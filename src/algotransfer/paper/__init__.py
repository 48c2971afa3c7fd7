"""The published numbers of the paper as a data frame."""

from __future__ import annotations

import csv
from importlib.resources import as_file, files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas


def paper_tables() -> pandas.DataFrame:
    """Every number in the tables of [the paper](https://arxiv.org/abs/2110.14056), one per row.

    **Returns:** 1,434 rows in the order of the paper, with the columns

    - `table`: the table printed in; a name ending in `-breakdown` is one of the appendix that
      lists the graph families apart. `par-summary` is the main paper's parallel table.
    - `supervision`: how the target was trained: `tf` (teacher forcing), `na` (no algorithm, the
      best of ten trajectories) or `na_mean` (no algorithm, the mean of ten trajectories).
    - `model`: `NE` or `NE++`.
    - `method`: `none`, `freeze`, `fine_tune`, `two_processor` or `multitask`.
    - `source`: the base algorithm, several joined by `+`; missing where there was no transfer.
    - `target`: the algorithm evaluated.
    - `num_nodes`: nodes of each test graph: 20, 50 or 100.
    - `graph`: `grid`, `er` or `ba`, or `mean` where the paper prints the mean over the three.
    - `metric`: `next`, `key`, `pred` or `term`; `term` is better when larger, the others smaller.
    - `value`: the number as printed.
    - `std`: what is printed after ±, the population standard deviation over the three families;
      missing where `graph` is one family.

    Numbers stand as printed, the paper's slips included; the deviations page lists those.
    """
    import pandas

    with as_file(files(__name__) / "paper_tables.csv") as path:
        return pandas.read_csv(path)


def paper_experiments() -> dict[str, list[tuple[str, ...]]]:
    """Return model, supervision, method, source and target of every row, by table; no pandas."""
    rows: dict[str, dict[tuple[str, ...], None]] = {}  # dicts keep the order and drop repetitions
    text = (files(__name__) / "paper_tables.csv").read_text(encoding="utf-8")
    for line in csv.DictReader(text.splitlines()):
        names = ("model", "supervision", "method", "source", "target")
        rows.setdefault(line["table"], {})[tuple(line[name] for name in names)] = None
    return {table: [*lines] for table, lines in rows.items()}
