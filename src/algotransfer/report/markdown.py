"""Markdown renderer of the report."""

from collections.abc import Iterator, Sequence
from html import escape

from algotransfer.report.report_data import ReportData
from algotransfer.report.report_tables import ReportCell, ReportTable
from algotransfer.report.sections import Section

GENERATED = "Written by `algotransfer report` from the tidy tables beside it; do not edit."


def render_markdown(data: ReportData) -> str:
    """Return the report as one Markdown page; figures are in the HTML page only."""
    blocks = ["# Results", GENERATED, *map(_plain, data.introduction)]
    rows = [row for table in data.number_tables for row in table.rows]
    beside_paper = any(cell.theirs for row in rows for cell in row.cells)
    for section in data.sections:
        blocks += markdown_section(section, bold=beside_paper)
    return "\n\n".join(blocks) + "\n"


def markdown_section(section: Section, bold: bool = True) -> Iterator[str]:
    """Yield the blocks of a section, or none if it has figures only."""
    if not (section.paragraphs or section.tables):
        return
    yield f"## {_plain(section.title)}"
    yield from map(_plain, section.paragraphs)
    for table in (*section.tables, *section.folded):
        yield f"*{_plain(table.title)}.*"
        yield markdown_table(table, bold)
    yield from map(_plain, section.notes)


def markdown_table(table: ReportTable, bold: bool = True) -> str:
    """Return a table whose cells have our number, perhaps `bold`, before the paper's."""
    heads = [*table.heads, *[f"{metric}, {nodes}" for metric, nodes in table.columns]]
    lines = [_row(heads), _row(["---"] * len(table.heads) + ["---:"] * len(table.columns))]
    for row in table.rows:
        texts = [_plain(text) for text in row.texts]
        if row.marks:
            texts[1] += " †"
        lines.append(_row([*texts, *[_cell(cell, bold) for cell in row.cells]]))
    notes = [f"† {_plain(mark)}" for mark in table.marks] + [f"*{table.note}*"] * bool(table.note)
    return "\n\n".join(["\n".join(lines), *notes])


def _plain(text: str) -> str:
    """Return text as one line without HTML; names in tables of results are untrusted."""
    return escape(" ".join(text.splitlines()), quote=False)


def _cell(cell: ReportCell, bold: bool) -> str:
    ours = f"**{cell.ours}**" if cell.ours and bold else cell.ours
    return f"{ours or '–'} ({cell.theirs})" if cell.theirs else ours


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"
