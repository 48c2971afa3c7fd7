"""Read the tables of a folder, and write the report of them in all formats."""

import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pandas

from algotransfer.errors import UserError
from algotransfer.files import read_json, write_atomically
from algotransfer.report.collect import add_cpu_values, read_hops, read_results
from algotransfer.report.html import render_html
from algotransfer.report.latex import render_latex
from algotransfer.report.markdown import render_markdown
from algotransfer.report.report_data import ReportData
from algotransfer.reproduce.call_log import time_spent

RESULTS, HOPS, CALLS = "results.csv", "hops.csv", "calls.json"
FLOATS = "%.6g"
ENVIRONMENTS, CPU_VALUES = "environments.json", "device-sensitivity.csv"


def write_report(data: ReportData, folder: Path) -> Iterator[Path]:
    """Write Markdown, LaTeX, CSV and HTML; yield the path of each file written."""
    contents = {
        "results.md": render_markdown(data),
        "tables.tex": render_latex(data),
        "tables.csv": data.cells.to_csv(index=False, float_format=FLOATS),
        "report.html": render_html(data),
    }
    for name, text in contents.items():
        write_atomically(folder / name, text.encode())
        yield folder / name


def write_table(path: Path, table: pandas.DataFrame) -> None:
    """Write a tidy table as CSV."""
    write_atomically(path, table.to_csv(index=False, float_format=FLOATS).encode())


def read_tables(folder: Path) -> tuple[pandas.DataFrame, pandas.DataFrame | None]:
    """Read the results of a folder, with CPU values if it has them, and the hops if it has them."""
    results = read_results(folder / RESULTS)
    if (folder / CPU_VALUES).exists():
        results = add_cpu_values(results, folder / CPU_VALUES)
    return results, read_hops(folder / HOPS) if (folder / HOPS).exists() else None


def time_note(folder: Path) -> str:
    """Return a paragraph about the time that the runs took, empty without recorded calls."""
    if not (folder / CALLS).exists():
        return ""
    calls, slices = read_json(folder / CALLS, "calls")["calls"], []
    note = _time_spent(folder / CALLS, calls)
    if (folder / ENVIRONMENTS).exists():
        slices = read_json(folder / ENVIRONMENTS).values()
        note = _time_spent(folder / ENVIRONMENTS, calls, slices)
    return note


def _time_spent(path: Path, calls: Any, runs: Iterable[Any] = ()) -> str:
    try:
        return time_spent(calls, itertools.chain.from_iterable(runs))
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise UserError(
            f"{path} does not hold what `algotransfer report` writes ({error!r:.80}); fetch it "
            "again, or remove it to leave out the note on time"
        ) from error
