"""The report as one page: no script, nothing from elsewhere, light or dark as the reader likes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from types import MappingProxyType
from typing import Any

from algotransfer.evaluation.tables import number
from algotransfer.report.cells import device_note, paper_cells, seed_values
from algotransfer.report.check import check_small_graphs
from algotransfer.report.claims import SOURCES
from algotransfer.report.figures import draw_hops, draw_methods, draw_networks, to_svg
from algotransfer.report.judging import Verdict, judge_all
from algotransfer.report.markdown import RULE, factor, run_count, runs, score
from algotransfer.report.own import NO_TREND, own_networks, size_tables, what_changes
from algotransfer.report.tables import Cell, Table, extra_tables, paper_tables_beside_ours

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
#claims + .wide td, #claims + .wide th { white-space: normal; }
td.n { text-align: right; }
td small { display: block; opacity: .7; }
td.n a { color: inherit; text-decoration-style: dotted; }
tr.reference { background: var(--soft); }
th[scope=col] { vertical-align: bottom; }
svg { max-width: 100%; height: auto; }
svg text { font-family: inherit !important; }
nav a { margin-right: .8rem; white-space: nowrap; }
.holds { color: var(--good); } .contradicted { color: var(--bad); }
"""
INTRODUCTION = """
<p>In every cell the upper number is ours: mean ± standard deviation over seeds, each seed a mean
over the three families of graphs. The lower one is the paper's, whose ± is over families. † marks a
run whose settings are not the paper's. Shaded rows need no network.</p>"""
MEDIANS = (
    "Medians over seeds; left / right is the median of the seeds' own ratios, by which a "
    "comparison agrees or not"
)
GAPS = "<p>A – stands where nothing has been run.</p>"


def write_html(
    results: Any,
    hops: Any | None = None,
    note: str = "",
    examples: Mapping[tuple[str, ...], str] = MappingProxyType({}),
) -> str:
    """The whole page.

    **Arguments:**

    - `results`: what `collect` returns.
    - `hops`: what `collect_hops` returns, if there is such a table.
    - `note`: a paragraph for the beginning.
    - `examples`: addresses of viewer pages by their place, from `write_examples`.
    """
    values = seed_values(results)
    tables, extra = paper_tables_beside_ours(values), extra_tables(values)
    check = check_small_graphs(values)
    sizes = size_tables(results)
    names = ["claims", "check", "figures", *[table.name for table in [*tables, *sizes]]]
    links = " ".join(f'<a href="#{name}">{name}</a>' for name in names)
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>algotransfer: results</title><style>{STYLE}</style></head><body>",
        "<h1>Results beside the paper's</h1>",
        f"<p>{escape(run_count(results))}</p>",
        *[f"<p>{escape(note)}</p>"] * bool(note),
        f'<nav aria-label="contents">{links}</nav>',
        '<main><h2 id="claims">The paper\'s claims, and ours</h2>',
        _claims(values),
        *_own(own_networks(values)),
        '<h2 id="check">Graphs of the training size</h2>',
        f"<p>{escape(check.words)}</p>",
        _list(check.misses),
        '<h2 id="figures">Figures</h2>',
        *_figures(values, hops),
    ]
    legend = [INTRODUCTION, *[GAPS] * (not all(table.whole for table in tables))]
    legend += [f"<p>{escape(text)}</p>" for text in [device_note(values)] if text]
    for table in tables:
        parts += [f'<h2 id="{table.name}">{table.name}</h2>']
        parts += legend * (table is tables[0])
        parts.append(html_table(table, examples))
        if table.name in extra:
            parts.append(f"<details><summary>Beside the paper: {_metrics(extra[table.name])}")
            parts.append(f"</summary>{html_table(extra[table.name], examples)}</details>")
    for table in sizes:
        parts += [f'<h2 id="{table.name}">{table.name}</h2>', html_table(table)]
    return "\n".join([*parts, "</main></body></html>", ""])


def html_table(table: Table, examples: Mapping[tuple[str, ...], str] = MappingProxyType({})) -> str:
    """A table with a caption, headers for rows and columns, and both numbers in every cell.

    Ours lead to an example where there is one.
    """
    heads = [f'<th scope="col">{escape(head)}</th>' for head in table.heads]
    heads += [f'<th scope="col">{metric}<br>{nodes} nodes</th>' for metric, nodes in table.columns]
    lines = [f'<div class="wide" tabindex="0"><table><caption>{escape(table.title)}</caption>']
    lines.append(f"<thead><tr>{''.join(heads)}</tr></thead><tbody>")
    for row in table.rows:
        words = [escape(word) for word in row.words]
        if row.marks:
            words[1] += f' <abbr title="{escape(row.marks)}">†</abbr>'
        first = f'<th scope="row">{words[0]}</th>' + "".join(
            f"<td>{word}</td>" for word in words[1:]
        )
        kind = "" if row.words[2] else ' class="reference"'
        target, model, method, source = row.words[:4]
        place = (row.supervision, model, method, source, target)
        cells = "".join(
            _cell(cell, examples.get((*place, str(num_nodes))))
            for cell, (_, num_nodes) in zip(row.cells, table.columns, strict=True)
        )
        lines.append(f"<tr{kind}>{first}{cells}</tr>")
    note = [f"<p>{escape(table.note)}</p>"] * bool(table.note)
    return "\n".join([*lines, "</tbody></table></div>", *note])


def _cell(cell: Cell, example: str | None) -> str:
    theirs = f"<small>{cell.theirs}</small>" if cell.theirs else ""
    ours = cell.ours or ("–" if theirs else "")
    if example and cell.ours:
        ours = f'<a href="{escape(example)}" title="see an execution">{ours}</a>'
    return f'<td class="n">{ours}{theirs}</td>'


def _claims(values: Any) -> str:
    verdicts = judge_all(values, paper_cells())
    heads = ("claim", "our runs", "factor, left over right", "the paper's numbers")
    lines = [f'<p>{escape(score(verdicts))}</p><div class="wide"><table>']
    lines.append("<caption>Judged by rule, paired over seeds</caption><thead>")
    lines.append(
        "<tr>" + "".join(f'<th scope="col">{head}</th>' for head in heads) + "</tr></thead>"
    )
    for verdict in verdicts:
        ours = escape(runs(verdict).replace("**", ""))
        lines.append(
            f'<tr><th scope="row">{escape(verdict.claim.sentence)}.{_numbers(verdict)}</th>'
            f'<td class="{verdict.ours.split()[0]}">{ours}</td>'
            f"<td>{escape(factor(verdict))}</td><td>{escape(verdict.paper)}</td></tr>"
        )
    return "\n".join([*lines, f"</table></div><p>{escape(RULE)}</p>"])


def _own(table: Table | None) -> list[str]:
    """What networks change that the paper does not have."""
    if table is None:
        return []
    return [f"<h2>Past the paper</h2><p>{escape(what_changes(table))}</p>", html_table(table)]


def _numbers(verdict: Verdict) -> str:
    """The comparisons behind a verdict, to be unfolded."""
    sides = ("left", "right", "left / right")
    heads = (*sides[:2], *(f"ours, {side}" for side in sides), "paper, left", "paper, right")
    lines = [f"<details><summary>the numbers</summary><table><caption>{MEDIANS}</caption><tr>"]
    lines.append("".join(f'<th scope="col">{head}</th>' for head in heads) + "</tr>")
    for line in verdict.lines:
        found = (*line.ours, line.ratio, *line.paper)
        numbers = ["–" if value != value else number(value) for value in found]
        cells = "".join(f'<td class="n">{text}</td>' for text in numbers)
        lines.append(f"<tr><td>{escape(line.left)}</td><td>{escape(line.right)}</td>{cells}</tr>")
    return "".join([*lines, "</table></details>"])


def _figures(values: Any, hops: Any | None) -> list[str]:
    parts = []
    words = "Lines are medians over seeds, thin lines single seeds, crosses the paper's numbers."
    for target in SOURCES:
        title = f"{target}, no algorithm: error against the number of nodes"
        parts += _figure(draw_methods(values, target), title, words)
        title = f"{target}, no algorithm, no transfer: error of all networks"
        more = f"{words} Lines end where errors are infinite. {NO_TREND}"
        parts += _figure(draw_networks(values, target), title, more)
    for target in SOURCES if hops is not None else ():
        title = f"{target}, no algorithm: predecessor error by distance from the source"
        words = (
            "Means over graphs and seeds; shaded from the least seed to the largest. Random "
            "neighbours dotted. Nodes many hops away are those of grids."
        )
        parts += _figure(draw_hops(hops, target), title, words)
    return parts


def _figure(figure: Any, title: str, words: str) -> list[str]:
    if figure is None:
        return []
    caption = f"<figcaption><b>{escape(title)}.</b> {words}</figcaption>"
    return [f"<figure>{to_svg(figure, escape(title))}{caption}</figure>"]


def _list(items: Sequence[str]) -> str:
    return "<ul>" + "".join(f"<li>{escape(item)}</li>" for item in items) + "</ul>" if items else ""


def _metrics(table: Table) -> str:
    return ", ".join(dict.fromkeys(metric for metric, _ in table.columns))
