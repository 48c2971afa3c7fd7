"""Tables of the report: the paper's 20 tables and our additional metrics, with both numbers."""

import math
from dataclasses import dataclass, replace
from typing import Any

from algotransfer.evaluation.result_tables import spread

EXTRA_METRICS = ("tree", "no_path", "cost", "exact")
METRIC_ORDER = ("next", "key", "pred", "term", *EXTRA_METRICS)
REFERENCE_NAMES = {
    "random_neighbour": "a random neighbour",
    "lightest_edge": "the lightest edge",
    "algorithm": "the algorithm itself",
}
TABLE_TITLES = {
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
MASKED = (
    "masked: the same networks, executed so that a key changes only in nodes that a breadth-first "
    "search has reached (deviation M7)."
)
TABLE_NOTES = {
    "par-tf": MASKED,
    "par-tf-breakdown": MASKED,
    "seq-tf": SWAPPED.format("seq-tf-breakdown"),
    "seq-tf-breakdown": SWAPPED.format("seq-tf"),
}


@dataclass(frozen=True)
class ReportCell:
    """Our number and the paper's; either may be missing (NaN)."""

    mean: float = math.nan
    std: float = math.nan
    seeds: int = 0  # with a number
    of: int = 0  # seeds of the experiment
    diverged: int = 0
    paper: float = math.nan
    paper_std: float = math.nan
    low: float = math.nan  # least and largest seed
    high: float = math.nan
    percentile: float = math.nan  # of the paper's number among our seeds
    cpu_difference: float = math.nan  # of an evaluation on a CPU, a mean over seeds that have one
    values: tuple[float, ...] = ()  # of the seeds

    @property
    def depends_on_device(self) -> bool:
        """Whether an evaluation on a CPU differs by more than the standard deviation over seeds."""
        return abs(self.cpu_difference) > self.std

    @property
    def ours(self) -> str:
        """Mean ± standard deviation over seeds, counts of missing and diverged seeds, and ‡."""
        if not self.seeds:
            return ""
        text = spread(self.mean, self.std if self.seeds > 1 else math.nan)
        text += f" ({self.seeds} of {self.of} seeds)" if self.seeds < self.of else ""
        text += f" ({self.diverged} diverged)" if self.diverged else ""
        return f"{text} ‡" if self.depends_on_device else text

    @property
    def theirs(self) -> str:
        """The paper's value ± its standard deviation over families, and its percentile."""
        text = spread(self.paper, self.paper_std)
        return text if math.isnan(self.percentile) else f"{text}, P{self.percentile:.0f}"


@dataclass(frozen=True)
class ReportRow:
    """One row: texts, then cells in the order of the table's columns."""

    texts: tuple[str, ...]  # one for each of the table's `heads`
    cells: tuple[ReportCell, ...] = ()
    marks: str = ""  # settings that differ from the paper's; † stands for them
    kind: str = ""  # `reference`, or the verdict of a claim; HTML styles rows by it
    experiment: tuple[str, ...] = ()  # supervision, model, method, source and target of a network
    details: "ReportTable | None" = None  # HTML unfolds it below the first text


@dataclass(frozen=True)
class ReportTable:
    """A table: columns of text (`heads`), then columns of metrics at numbers of nodes."""

    name: str
    title: str
    heads: tuple[str, ...]
    rows: tuple[ReportRow, ...]
    columns: tuple[tuple[str, int], ...] = ()
    note: str = ""

    @property
    def complete(self) -> bool:
        """Whether every number of the paper has ours beside it."""
        return all(cell.ours or not cell.theirs for row in self.rows for cell in row.cells)

    @property
    def marks(self) -> list[str]:
        """The settings that † stands for."""
        return sorted({row.marks for row in self.rows if row.marks})


def make_paper_tables(cells: Any, references: Any) -> list[ReportTable]:
    """Return the paper's 20 tables, in its order, from `table_cells` and `reference_cells`."""
    return [_table(name, cells[cells["table"] == name], references) for name in _names(cells)]


def make_extra_tables(cells: Any, references: Any) -> dict[str, ReportTable]:
    """Return, by name of a table of means, the same rows with the metrics of `extra_cells`."""
    found = {}
    for name in _names(cells):
        table = _table(name, cells[cells["table"] == name], references)
        title = f"{table.title}, beside the paper"
        found[name] = replace(table, name=f"{name}-beside", title=title, note="")
    return found


def row_cells(lines: Any, columns: tuple[tuple[str, int], ...]) -> tuple[ReportCell, ...]:
    """Return one row's cells from lines of `over_seeds` or of references, by metric and size."""
    found = {(line["metric"], line["num_nodes"]): line for line in lines.to_dict("records")}
    return tuple(_cell(found.get(column, {})) for column in columns)


def network_row(
    key: tuple[str, ...], lines: Any, columns: tuple[tuple[str, int], ...]
) -> ReportRow:
    """Return the row of an experiment from its lines of `over_seeds`, all of one supervision.

    `key` has target, model, method, source, and further texts; the number of seeds is added.
    """
    seeds = lines["of"].max()
    texts = (*map(str, key), "" if math.isnan(seeds) else str(int(seeds)))
    target, model, method, source = texts[:4]
    experiment = (lines["supervision"].iloc[0], model, method, source, target)
    marks = next((m for m in lines["marks"] if isinstance(m, str) and m), "")
    return ReportRow(texts, row_cells(lines, columns), marks, experiment=experiment)


def _names(cells: Any) -> list[str]:
    return list(dict.fromkeys(cells["table"]))


def _table(name: str, cells: Any, references: Any) -> ReportTable:
    by_family = name.endswith(BREAKDOWN)
    metrics = [metric for metric in METRIC_ORDER if metric in set(cells["metric"])]
    columns = tuple((m, int(n)) for m in metrics for n in sorted(cells["num_nodes"].unique()))
    keys = ["target", "model", "method", "source"] + ["graph"] * by_family
    rows: list[ReportRow] = []
    for target in dict.fromkeys(cells["target"]):
        of_target = cells[cells["target"] == target]
        rows += [
            network_row(key, lines, columns) for key, lines in of_target.groupby(keys, sort=False)
        ]
        # `na_mean` and `na_extra10` share the references of `na`.
        chosen = references[
            (references["target"] == target)
            & references["supervision"].isin(of_target["supervision"].str.slice(0, 2).unique())
        ]
        for row, text in REFERENCE_NAMES.items():
            for graph in dict.fromkeys(cells["graph"]):
                lines = chosen[(chosen["row"] == row) & (chosen["graph"] == graph)]
                if len(lines):
                    texts = (target, text, "", "", *[graph] * by_family, "")
                    rows.append(ReportRow(texts, row_cells(lines, columns), kind="reference"))
    title = TABLE_TITLES.get(name.removesuffix(BREAKDOWN), name) + ", by family" * by_family
    heads = ("target", "network", "method", "base", *["graphs"] * by_family, "seeds")
    return ReportTable(name, title, heads, tuple(rows), columns, TABLE_NOTES.get(name, ""))


def _cell(line: dict[str, Any]) -> ReportCell:
    known = {name: value for name, value in line.items() if value == value}  # not NaN
    paper = {name: known[name] for name in ("paper", "paper_std", "percentile") if name in known}
    if "value" in known:  # a reference
        return ReportCell(known["value"], seeds=1, of=1, **paper)
    if "mean" not in known:
        return ReportCell(**paper)
    std = known.get("std", math.nan)  # missing where a seed is infinite
    counts = {name: int(known[name]) for name in ("seeds", "of", "diverged")}
    more = {
        name: known[name] for name in ("low", "high", "cpu_difference", "values") if name in known
    }
    return ReportCell(known["mean"], std, **counts, **more, **paper)
