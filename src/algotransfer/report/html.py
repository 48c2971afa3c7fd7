"""HTML renderer of the report: one page that needs no other file.

Tables are complete without scripts. `static/report.js` makes them sortable, and opens the
distribution of seeds behind a number.
"""

import math
import re
from collections.abc import Mapping
from html import escape
from importlib import resources
from types import MappingProxyType

from algotransfer.explorer.page import embedded
from algotransfer.report.example_pages import example_graphs
from algotransfer.report.figures import to_svg
from algotransfer.report.report_data import ReportData
from algotransfer.report.report_tables import ReportCell, ReportRow, ReportTable
from algotransfer.report.sections import ReportFigure, Section

CONTENT = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"
Examples = Mapping[tuple[str, ...], str]
NO_EXAMPLES: Examples = MappingProxyType({})


def render_html(data: ReportData) -> str:
    """Return the report as one page."""
    links = "".join(map(_link, data.sections))
    reading = "".join(f"<p>{_text(paragraph)}</p>" for paragraph in data.introduction)
    graphs = f'<script type="application/json" id="graphs">{embedded(example_graphs())}</script>'
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f'<meta http-equiv="Content-Security-Policy" content="{CONTENT}">',
        f"<title>algotransfer: results</title><style>{_static('report.css')}</style></head><body>",
        '<a class="skip" href="#main">Skip to the results</a><div class="page">',
        f'<nav aria-label="Contents"><ul>{links}</ul></nav><main id="main">',
        f"<h1>{escape(data.title, quote=False)}</h1>",
        '<details class="reading" open><summary>How to read this page</summary>',
        f"{reading}</details>",
        *[_section(section, data.examples) for section in data.sections],
        '</main></div><p id="status" class="hidden" role="status"></p>',
        graphs if data.examples else "",
        f"<script>{_static('report.js')}</script>",
    ]
    return "\n".join([*parts, "</body></html>", ""])


def html_table(table: ReportTable, examples: Examples = NO_EXAMPLES) -> str:
    """Return a table with both numbers in every cell; rows name their live page if there is one."""
    heads = [f'<th scope="col">{escape(head)}</th>' for head in table.heads]
    heads += [f'<th scope="col">{metric}<br>{nodes} nodes</th>' for metric, nodes in table.columns]
    kind = "wide" if table.columns else "wide text"
    note = [f"<p>{_text(table.note)}</p>"] * bool(table.note)
    return "\n".join(
        [
            f'<div class="{kind}" tabindex="0"><table><caption>{_text(table.title)}</caption>',
            f"<thead><tr>{''.join(heads)}</tr></thead><tbody>",
            *[_row(row, examples) for row in table.rows],
            "</tbody></table></div>",
            *note,
        ]
    )


def _link(section: Section) -> str:
    about = escape(section.tables[0].title) if section.tables else escape(section.title)
    return f'<li><a href="#{section.name}" title="{about}">{escape(section.title)}</a></li>'


def _section(section: Section, examples: Examples) -> str:
    parts = [f'<section aria-labelledby="{section.name}">']
    parts += [f'<h2 id="{section.name}">{escape(section.title)}</h2>']
    parts += [f"<p>{_text(paragraph)}</p>" for paragraph in section.paragraphs]
    parts += [html_table(table, examples) for table in section.tables]
    parts += [f"<p>{_text(note)}</p>" for note in section.notes]
    for table in section.folded:
        content = html_table(table, examples)
        parts.append(f"<details><summary>{_text(table.title)}</summary>{content}</details>")
    return "\n".join([*parts, *map(_figure, section.figures), "</section>"])


def _row(row: ReportRow, examples: Examples) -> str:
    texts = [_text(text) for text in row.texts]
    if row.marks:
        texts[1] += f' <abbr title="{escape(row.marks)}">†</abbr>'
    if row.details is not None:
        content = html_table(row.details)
        texts[0] += f"<details><summary>the numbers</summary>{content}</details>"
    first = f'<th scope="row">{texts[0]}</th>' + "".join(f"<td>{text}</td>" for text in texts[1:])
    cells = "".join(map(_cell, row.cells))
    kind = f' class="{row.kind}"' if row.kind else ""
    if address := examples.get(row.experiment):
        kind += f' data-live="{escape(address)}"'
    return f"<tr{kind}>{first}{cells}</tr>"


def _cell(cell: ReportCell) -> str:
    """Return both numbers, and the seeds behind ours as data for the script."""
    theirs = f"<small>{cell.theirs}</small>" if cell.theirs else ""
    ours = cell.ours or ("–" if theirs else "")
    seeds = _data("seeds", cell.values)
    paper = _data("paper", (cell.paper, cell.paper_std)) if seeds else ""
    return f'<td class="n"{seeds}{paper}><span>{ours}{theirs}</span></td>'


def _data(name: str, values: tuple[float, ...]) -> str:
    known = " ".join(f"{value:.4g}" for value in values if not math.isnan(value))
    return f' data-{name}="{known.replace("inf", "Infinity")}"' if known else ""


def _figure(figure: ReportFigure) -> str:
    drawn = figure.draw()
    if drawn is None:
        return ""
    title = escape(figure.title)
    caption = f"<figcaption><b>{title}.</b> {_text(figure.caption)}</figcaption>"
    return f"<figure>{to_svg(drawn, title)}{caption}</figure>"


def _text(text: str) -> str:
    """Return escaped text, with Markdown's bold, italics and code as HTML."""
    text = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", escape(text))
    text = re.sub(r"\*(.+?)\*", r"<i>\1</i>", text)
    return re.sub(r"`(.+?)`", r"<code>\1</code>", text)


def _static(name: str) -> str:
    return (resources.files("algotransfer.report") / "static" / name).read_text(encoding="utf-8")
