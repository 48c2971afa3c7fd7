"""HTML renderer of the report: one page without scripts or external files, light or dark."""

import re
from collections.abc import Mapping
from html import escape
from types import MappingProxyType

from algotransfer.report.figures import to_svg
from algotransfer.report.report_data import ReportData
from algotransfer.report.report_tables import ReportCell, ReportRow, ReportTable
from algotransfer.report.sections import ReportFigure, Section

STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8881; --good: #0a7d4f; --bad: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --good: #5bd6a0; --bad: #ff8a80; } }
body { font: 15px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 76rem; padding: 1rem; }
h2 { margin-top: 2.5rem; border-top: 1px solid var(--line); padding-top: 1rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding: .4rem 0; }
th, td { padding: .25rem .6rem; border-bottom: 1px solid var(--line); text-align: left; }
td { white-space: nowrap; }
.text td, .text th { white-space: normal; vertical-align: top; }
td.n { text-align: right; }
td small { display: block; opacity: .7; }
td.n a { color: inherit; text-decoration-style: dotted; }
tr.reference { background: var(--soft); }
th[scope=col] { vertical-align: bottom; }
svg { max-width: 100%; height: auto; }
svg text { font-family: inherit !important; }
nav a { margin-right: .8rem; white-space: nowrap; }
.holds b { color: var(--good); } .contradicted b { color: var(--bad); }
"""
Examples = Mapping[tuple[str, ...], str]
NO_EXAMPLES: Examples = MappingProxyType({})


def render_html(data: ReportData) -> str:
    """Return the report as one page."""
    links = " ".join(f'<a href="#{s.name}">{escape(s.name)}</a>' for s in data.sections)
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>algotransfer: results</title><style>{STYLE}</style></head><body>",
        "<h1>Results beside the paper's</h1>",
        *[f"<p>{_text(paragraph)}</p>" for paragraph in data.introduction],
        f'<nav aria-label="contents">{links}</nav><main>',
        *[_section(section, data.examples) for section in data.sections],
    ]
    return "\n".join([*parts, "</main></body></html>", ""])


def html_table(table: ReportTable, examples: Examples = NO_EXAMPLES) -> str:
    """Return a table with both numbers in every cell; ours link to an example if there is one."""
    heads = [f'<th scope="col">{escape(head)}</th>' for head in table.heads]
    heads += [f'<th scope="col">{metric}<br>{nodes} nodes</th>' for metric, nodes in table.columns]
    kind = "wide" if table.columns else "wide text"
    note = [f"<p>{_text(table.note)}</p>"] * bool(table.note)
    return "\n".join(
        [
            f'<div class="{kind}" tabindex="0"><table><caption>{_text(table.title)}</caption>',
            f"<thead><tr>{''.join(heads)}</tr></thead><tbody>",
            *[_row(row, table, examples) for row in table.rows],
            "</tbody></table></div>",
            *note,
        ]
    )


def _section(section: Section, examples: Examples) -> str:
    parts = [f'<h2 id="{section.name}">{escape(section.title)}</h2>']
    parts += [f"<p>{_text(paragraph)}</p>" for paragraph in section.paragraphs]
    parts += [html_table(table, examples) for table in section.tables]
    parts += [f"<p>{_text(note)}</p>" for note in section.notes]
    for table in section.folded:
        content = html_table(table, examples)
        parts.append(f"<details><summary>{_text(table.title)}</summary>{content}</details>")
    return "\n".join([*parts, *map(_figure, section.figures)])


def _row(row: ReportRow, table: ReportTable, examples: Examples) -> str:
    texts = [_text(text) for text in row.texts]
    if row.marks:
        texts[1] += f' <abbr title="{escape(row.marks)}">†</abbr>'
    if row.details is not None:
        content = html_table(row.details)
        texts[0] += f"<details><summary>the numbers</summary>{content}</details>"
    first = f'<th scope="row">{texts[0]}</th>' + "".join(f"<td>{text}</td>" for text in texts[1:])
    cells = "".join(
        _cell(cell, examples.get((*row.experiment, str(num_nodes))))
        for cell, (_, num_nodes) in zip(row.cells, table.columns, strict=True)
    )
    kind = f' class="{row.kind}"' if row.kind else ""
    return f"<tr{kind}>{first}{cells}</tr>"


def _cell(cell: ReportCell, example: str | None) -> str:
    theirs = f"<small>{cell.theirs}</small>" if cell.theirs else ""
    ours = cell.ours or ("–" if theirs else "")
    if example and cell.ours:
        ours = f'<a href="{escape(example)}" title="see an execution">{ours}</a>'
    return f'<td class="n">{ours}{theirs}</td>'


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
