"""Write a report in all formats into one folder, and its claims into other pages."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from algotransfer.errors import UserError
from algotransfer.files import read_json, write_atomically
from algotransfer.report.collect import add_cpu_values, read_hops, read_results
from algotransfer.report.html import render_html
from algotransfer.report.latex import render_latex
from algotransfer.report.markdown import render_markdown, section_content
from algotransfer.report.report_data import ReportData
from algotransfer.reproduce.call_log import check_calls, check_slices, time_spent

if TYPE_CHECKING:
    import pandas

RESULTS, HOPS, CALLS = "results.csv", "hops.csv", "calls.json"
ENVIRONMENTS, CPU_VALUES = "environments.json", "device-sensitivity.csv"
START, END = "<!-- claims: written by `algotransfer report` -->", "<!-- end of claims -->"


def write_report(data: ReportData, folder: Path) -> Iterator[Path]:
    """Write Markdown, LaTeX, CSV and HTML; yield the path of each file written."""
    contents = {
        "results.md": render_markdown(data),
        "tables.tex": render_latex(data),
        "tables.csv": data.cells.to_csv(index=False, float_format="%.6g"),
        "report.html": render_html(data),
    }
    for name, text in contents.items():
        write_atomically(folder / name, text.encode())
        yield folder / name


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
    calls = read_json(folder / CALLS, "calls")["calls"]
    check_calls(calls, folder / CALLS)
    runs = []
    if (folder / ENVIRONMENTS).exists():
        runs = list(read_json(folder / ENVIRONMENTS).values())
        check_slices(runs, folder / ENVIRONMENTS)
    return time_spent(calls, itertools.chain.from_iterable(runs))


def claims_block(data: ReportData) -> str:
    """Return the claims between the two marks that `put_claims` looks for."""
    return "\n\n".join([START, *section_content(data.claims), END])


def put_claims(page: Path, data: ReportData) -> None:
    """Replace the text between the two marks of a page by the claims."""
    text = page.read_text(encoding="utf-8")
    if START not in text or END not in text:
        raise UserError(f"{page} has no lines {START!r} and {END!r} to put the claims between")
    before, rest = text.split(START, 1)
    _, after = rest.split(END, 1)
    write_atomically(page, (before + claims_block(data) + after).encode())
