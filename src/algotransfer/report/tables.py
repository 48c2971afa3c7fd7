"""The paper's tables as plain rows and columns, for whoever writes them down."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from algotransfer.evaluation.tables import spread
from algotransfer.report.cells import extra_cells, reference_cells, table_cells

EXTRA = ("tree", "no_path", "cost", "exact")
METRICS = ("next", "key", "pred", "term", *EXTRA)
REFERENCES = {
    "random_neighbour": "a random neighbour",
    "lightest_edge": "the lightest edge",
    "algorithm": "the algorithm itself",
}
TITLES = {
    "seq-tf": "Sequential algorithms, teacher forcing",
    "seq-na": "Sequential algorithms, no algorithm",
    "seq-transfer": "Sequential algorithms, transfer",
    "seq-multitask": "Sequential algorithms, multi-task",
    "seq-na-mean": "Sequential algorithms, no algorithm, mean of ten trajectories",
    "par-summary": "Parallel algorithms, no algorithm: the main paper's table",
    "par-tf": "Parallel algorithms, teacher forcing",
    "par-na": "Parallel algorithms, no algorithm",
    "par-transfer": "Parallel algorithms, transfer",
    "par-multitask": "Parallel algorithms, multi-task",
    "multi-pretrain": "Pre-training on several algorithms",
    "experiment-1": "Experiment 1: Dijkstra to Dijkstra, teacher forcing",
    "experiment-2": "Experiment 2: Dijkstra to Dijkstra, no algorithm",
}
BREAKDOWN = "-breakdown"
SWAPPED = (
    "In the block of the most reliable path NE and NE++ are swapped between this table and {} in "
    "the paper (18 cells); both stand as printed (deviation S5)."
)
NOTES = {
    "seq-tf": SWAPPED.format("seq-tf-breakdown"),
    "seq-tf-breakdown": SWAPPED.format("seq-tf"),
}


@dataclass(frozen=True)
class Cell:
    """Ours and the paper's number, either of which may be missing (NaN)."""

    mean: float = math.nan
    std: float = math.nan
    seeds: int = 0
    of: int = 0  # seeds, with or without a number
    diverged: int = 0
    paper: float = math.nan
    paper_std: float = math.nan
    mean_cpu: float = math.nan

    @property
    def depends_on_device(self) -> bool:
        """Whether an evaluation on a CPU differs by more than the standard deviation over seeds."""
        return abs(self.mean - self.mean_cpu) > self.std

    @property
    def ours(self) -> str:
        """Mean ± standard deviation over seeds; how many have a number and how many diverged."""
        if not self.seeds:
            return ""
        text = spread(self.mean, self.std if self.seeds > 1 else math.nan)
        text += f" ({self.seeds} of {self.of} seeds)" if self.seeds < self.of else ""
        text += f" ({self.diverged} diverged)" if self.diverged else ""
        return f"{text} ‡" if self.depends_on_device else text

    @property
    def theirs(self) -> str:
        """The paper's value ± its standard deviation over families."""
        return spread(self.paper, self.paper_std)


@dataclass(frozen=True)
class Row:
    """A line of a table: what it is about, and its cells in the order of the columns."""

    words: tuple[str, ...]
    cells: tuple[Cell, ...]
    marks: str = ""
    supervision: str = ""


@dataclass(frozen=True)
class Table:
    """Columns are metrics at sizes; rows are experiments, and families where they stand apart."""

    name: str
    title: str
    heads: tuple[str, ...]
    columns: tuple[tuple[str, int], ...]
    rows: tuple[Row, ...]
    note: str = ""

    @property
    def whole(self) -> bool:
        """Whether ours is beside every number of the paper."""
        return all(cell.ours or not cell.theirs for row in self.rows for cell in row.cells)

    @property
    def marks(self) -> list[str]:
        """What † stands for."""
        return sorted({row.marks for row in self.rows if row.marks})


def paper_tables_beside_ours(values: Any) -> list[Table]:
    """All 20 tables, in the order of the paper, each with rows for the references."""
    cells, references = table_cells(values), reference_cells(values)
    return [_table(name, cells[cells["table"] == name], references) for name in _names(cells)]


def extra_tables(values: Any) -> dict[str, Table]:
    """By name of a table of means: the same rows with the metrics that the paper does not have."""
    cells, references = extra_cells(values, EXTRA), reference_cells(values)
    found = {}
    for name in _names(cells):
        table = _table(name, cells[cells["table"] == name], references)
        title = f"{table.title}, beside the paper"
        found[name] = replace(table, name=f"{name}-beside", title=title, note="")
    return found


def _names(cells: Any) -> list[str]:
    return list(dict.fromkeys(cells["table"]))


def _table(name: str, cells: Any, references: Any) -> Table:
    apart = name.endswith(BREAKDOWN)
    metrics = [metric for metric in METRICS if metric in set(cells["metric"])]
    columns = tuple((m, int(n)) for m in metrics for n in sorted(cells["num_nodes"].unique()))
    keys = ["target", "model", "method", "source"] + ["graph"] * apart
    rows: list[Row] = []
    for target in dict.fromkeys(cells["target"]):
        of_target = cells[cells["target"] == target]
        for key, lines in of_target.groupby(keys, sort=False):
            marks = next((m for m in lines["marks"] if isinstance(m, str) and m), "")
            supervision = lines["supervision"].iloc[0]
            rows.append(Row(tuple(map(str, key)), row_cells(lines, columns), marks, supervision))
        chosen = references[
            (references["target"] == target)
            & references["supervision"].isin(of_target["supervision"].str.slice(0, 2).unique())
        ]
        for row, words in REFERENCES.items():
            for graph in dict.fromkeys(cells["graph"]):
                lines = chosen[(chosen["row"] == row) & (chosen["graph"] == graph)]
                if len(lines):
                    words_of_row = (target, words, "", "") + (graph,) * apart
                    rows.append(Row(words_of_row, row_cells(lines, columns)))
    title = TITLES.get(name.removesuffix(BREAKDOWN), name) + ", by family" * apart
    heads = ("target", "network", "method", "base") + ("graphs",) * apart
    return Table(name, title, heads, columns, tuple(rows), NOTES.get(name, ""))


def row_cells(lines: Any, columns: tuple[tuple[str, int], ...]) -> tuple[Cell, ...]:
    """The cells of one row, from lines of `over_seeds` or of references, by metric and size."""
    found = {(line["metric"], line["num_nodes"]): line for line in lines.to_dict("records")}
    return tuple(_cell(found.get(column, {})) for column in columns)


def _cell(line: dict[str, Any]) -> Cell:
    known = {name: value for name, value in line.items() if value == value}  # not NaN
    paper = known.get("paper", math.nan), known.get("paper_std", math.nan)
    if "value" in known:  # a reference
        return Cell(known["value"], math.nan, 1, 1, 0, *paper)
    if "mean" not in known:
        return Cell(paper=paper[0], paper_std=paper[1])
    std = known.get("std", math.nan)  # none where a seed is infinite
    seeds, of, diverged = (int(known[name]) for name in ("seeds", "of", "diverged"))
    mean_cpu = known.get("mean_cpu", math.nan)
    return Cell(known["mean"], std, seeds, of, diverged, *paper, mean_cpu)
