"""Everything that a report consists of, written into one folder."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from algotransfer.files import read_json, write_atomically
from algotransfer.report.cells import all_cells, paper_cells, seed_values
from algotransfer.report.collect import add_cpu_values, read_hops, read_results
from algotransfer.report.html import write_html
from algotransfer.report.judging import judge_all
from algotransfer.report.latex import write_latex
from algotransfer.report.markdown import claims_table, write_markdown
from algotransfer.report.tables import EXTRA, extra_tables, paper_tables_beside_ours
from algotransfer.reproduce.log import check_calls, check_slices, time_spent

if TYPE_CHECKING:
    import pandas

RESULTS, HOPS, CALLS = "results.csv", "hops.csv", "calls.json"
ENVIRONMENTS, CPU_VALUES = "environments.json", "device-sensitivity.csv"
START, END = "<!-- claims: written by `algotransfer report` -->", "<!-- end of claims -->"


def write_report(
    results: pandas.DataFrame,
    hops: Any | None,
    folder: Path,
    note: str = "",
    examples: Mapping[tuple[str, ...], str] = MappingProxyType({}),
) -> Iterator[Path]:
    """Writes Markdown, LaTeX, CSV and HTML; yields what it wrote.

    **Arguments:**

    - `note`: a paragraph for the beginning, such as `time_note` writes.
    - `examples`: addresses of viewer pages by their place, from `write_examples`.
    """
    values = seed_values(results)
    tables = [*paper_tables_beside_ours(values), *extra_tables(values).values()]
    contents = {
        "results.md": write_markdown(results, note),
        "tables.tex": write_latex(tables),
        "tables.csv": all_cells(values, EXTRA).to_csv(index=False, float_format="%.6g"),
        "report.html": write_html(results, hops, note, examples),
    }
    for name, text in contents.items():
        write_atomically(folder / name, text.encode())
        yield folder / name


def read_tables(folder: Path) -> tuple[pandas.DataFrame, pandas.DataFrame | None]:
    """Read the tidy results in a folder, with values of a CPU if it has them, and the hops."""
    results = read_results(folder / RESULTS)
    if (folder / CPU_VALUES).exists():
        results = add_cpu_values(results, folder / CPU_VALUES)
    return results, read_hops(folder / HOPS) if (folder / HOPS).exists() else None


def time_note(folder: Path) -> str:
    """What a report says about the time its runs took; nothing where no calls are kept."""
    if not (folder / CALLS).exists():
        return ""
    calls = read_json(folder / CALLS, "calls")["calls"]
    check_calls(calls, folder / CALLS)
    slices = []
    if (folder / ENVIRONMENTS).exists():
        runs = list(read_json(folder / ENVIRONMENTS).values())
        check_slices(runs, folder / ENVIRONMENTS)
        slices = list(itertools.chain.from_iterable(runs))
    return time_spent(calls, slices)


def claims_block(results: pandas.DataFrame) -> str:
    """The claims table between its two marks."""
    verdicts = judge_all(seed_values(results), paper_cells())
    return f"{START}\n\n{claims_table(verdicts)}\n{END}"


def put_claims(page: Path, results: pandas.DataFrame) -> None:
    """Replaces what stands between the two marks of a page."""
    text = page.read_text(encoding="utf-8")
    if START not in text or END not in text:
        raise ValueError(f"{page} has no lines {START!r} and {END!r} to put the claims between")
    before, rest = text.split(START, 1)
    _, after = rest.split(END, 1)
    write_atomically(page, (before + claims_block(results) + after).encode())
