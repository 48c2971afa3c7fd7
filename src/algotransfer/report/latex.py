"""All tables in LaTeX, one `table` environment each; they need the package `booktabs`."""

from __future__ import annotations

from collections.abc import Sequence

from algotransfer.report.tables import Cell, Table

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
}
HEAD = r"""% Written by `algotransfer report`; needs \usepackage{booktabs,graphicx}.
"""


def write_latex(tables: Sequence[Table]) -> str:
    """A file that a document can take in with its `input` command."""
    return HEAD + "\n".join(map(latex_table, tables))


def latex_table(table: Table) -> str:
    """One table; every row has a line for ours and one for the paper's numbers."""
    heads = [*table.heads, *[f"{metric}, {nodes}" for metric, nodes in table.columns]]
    columns = "l" * len(table.heads) + "r" * len(table.columns)
    lines = [
        r"\begin{table}",
        rf"\caption{{{escape(table.title)}: ours, mean $\pm$ standard deviation over seeds, "
        r"and below it the paper's.}",
        rf"\label{{tab:{table.name}}}",
        r"\resizebox{\textwidth}{!}{%",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        _line(heads),
        r"\midrule",
    ]
    for row in table.rows:
        words = list(row.words)
        if row.marks:
            words[1] += " †"
        lines.append(_line([*words, *[cell.ours for cell in row.cells]]))
        if any(_printed(cell) for cell in row.cells):
            lines.append(_line([*[""] * len(row.words), *map(_printed, row.cells)]))
    notes = [escape(f"† {mark}") for mark in table.marks] + [escape(table.note)] * bool(table.note)
    lines += [r"\bottomrule", r"\end{tabular}}", *[rf"\par {note}" for note in notes]]
    lines += [r"\end{table}", ""]
    return "\n".join(lines)


def escape(text: str) -> str:
    """Text that LaTeX prints as it is."""
    return "".join(ESCAPED.get(character, character) for character in text)


def _printed(cell: Cell) -> str:
    return f"({cell.theirs})" if cell.theirs else ""


def _line(cells: Sequence[str]) -> str:
    return " & ".join(map(escape, cells)) + r" \\"
