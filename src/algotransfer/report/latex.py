"""LaTeX renderer of the report's tables of numbers; needs the packages booktabs and graphicx."""

from collections.abc import Sequence

from algotransfer.report.report_data import ReportData
from algotransfer.report.report_tables import ReportCell, ReportTable

ESCAPED = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "_": r"\_",
    "&": r"\&",
    "%": r"\%",
    "#": r"\#",
    "±": r"$\pm$",
    "–": "--",
    "†": r"$\dagger$",
    "‡": r"$\ddagger$",
    "∞": r"$\infty$",
}
HEAD = "% Written by `algotransfer report`; needs \\usepackage{booktabs,graphicx}.\n"


def render_latex(data: ReportData) -> str:
    """Return a file for LaTeX's `input` command, with one `table` environment per table."""
    return HEAD + "\n".join(map(latex_table, data.number_tables))


def latex_table(table: ReportTable) -> str:
    """Return one table; every row has a line for our numbers and one for the paper's."""
    heads = [*table.heads, *[f"{metric}, {nodes}" for metric, nodes in table.columns]]
    columns = "l" * len(table.heads) + "r" * len(table.columns)
    lines = [
        r"\begin{table}",
        rf"\caption{{{escape(table.title)}: {escape(_content(table))}.}}",
        rf"\label{{tab:{table.name}}}",
        r"\resizebox{\textwidth}{!}{%",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        latex_line(heads),
        r"\midrule",
    ]
    for row in table.rows:
        texts = list(row.texts)
        if row.marks:
            texts[1] += " †"
        lines.append(latex_line([*texts, *[cell.ours for cell in row.cells]]))
        if any(_printed(cell) for cell in row.cells):
            lines.append(latex_line([*[""] * len(row.texts), *map(_printed, row.cells)]))
    notes = [f"† {mark}" for mark in table.marks] + [table.note] * bool(table.note)
    lines += [r"\bottomrule", r"\end{tabular}}", *[rf"\par {escape(note)}" for note in notes]]
    return "\n".join([*lines, r"\end{table}", ""])


def _content(table: ReportTable) -> str:
    """Return what the cells of a table hold."""
    if any(cell.theirs for row in table.rows for cell in row.cells):
        return "ours, mean ± standard deviation over seeds, and below it the paper's"
    return "mean ± standard deviation over seeds"


def escape(text: str) -> str:
    """Return text that LaTeX prints as it is."""
    return "".join(ESCAPED.get(character, character) for character in text)


def _printed(cell: ReportCell) -> str:
    return f"({cell.theirs})" if cell.theirs else ""


def latex_line(cells: Sequence[str]) -> str:
    """Return a row of a table."""
    return " & ".join(map(escape, cells)) + r" \\"
