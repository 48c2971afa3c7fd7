"""Tables that the paper does not have: our own networks, and graphs beyond its sizes."""

import math
from statistics import median
from typing import Any

from algotransfer.evaluation.result_tables import number
from algotransfer.report.cells import (
    count_range,
    over_seeds,
    paper_cells,
    seed_values,
    without_algorithm,
)
from algotransfer.report.report_tables import ReportRow, ReportTable, network_row

MAX_PAPER_NODES = 100  # nodes of the paper's largest graphs
METRICS_BY_SIZE = {"pred": "Predecessor error", "key": "Key, mean squared error"}
GRID_SHAPES = (
    "Grids of more than 100 nodes are nearly square; smaller ones have any shape, and long ones "
    "are harder. So the step from 100 to 200 nodes changes more than the size."
)


def own_networks(ours: Any) -> ReportTable | None:
    """Return predecessor errors of networks and trainings that the paper does not have, if any.

    All are trained without the algorithm's steps. The paper's number in a cell is its best of any
    network and method trained so.
    """
    paper: Any = paper_cells()
    paper, ours = (_predecessors(without_algorithm(cells)) for cells in (paper, ours))
    ours = ours[~ours["model"].isin(list(paper["model"]))]
    best = paper.groupby(["target", "num_nodes"])["paper"].min()
    columns = tuple(("pred", int(size)) for size in sorted(paper["num_nodes"].unique()))
    rows = []
    for key, lines in ours.groupby(["target", "model", "method", "source"]):
        beside = [best.get((key[0], size), math.nan) for size in lines["num_nodes"]]
        rows.append(network_row(key, lines.assign(paper=beside), columns))
    if not rows:
        return None
    title = (
        "Networks and trainings of our own: predecessor error, beside the paper's best without the "
        "steps"
    )
    heads = ("target", "network", "method", "base", "seeds")
    return ReportTable("own", title, heads, tuple(rows), columns)


def compare_own_networks(table: ReportTable) -> str:
    """Return sentences that compare our networks with the paper's best at its largest size."""
    known = [r for r in table.rows if r.cells[-1].seeds and not math.isnan(r.cells[-1].paper)]
    if not known:
        return ""
    lower = [row for row in known if row.cells[-1].high < row.cells[-1].paper]
    higher = [row for row in known if row.cells[-1].low > row.cells[-1].paper]
    text = (
        "Networks and trainings that the paper does not have, all without the algorithm's steps, "
        f"at {table.columns[-1][1]} nodes, beside the paper's best predecessor error of any "
        "network and method trained without the steps (with the steps, its NE has 0.064 on "
        f"Dijkstra): in {len(lower)} of {len(known)} rows all our seeds err less than that, in "
        f"{len(higher)} all err more"
    )
    return text + "".join(f"; {_range(row)}" for row in higher) + "."


def _range(row: ReportRow) -> str:
    cell = row.cells[-1]
    return (
        f"{row.texts[1]} on {row.texts[0]}: {number(median(cell.values))} ({cell.seeds} seeds, "
        f"{number(cell.low)}–{number(cell.high)}; the paper's best {number(cell.paper)})"
    )


def size_tables(results: Any) -> list[ReportTable]:
    """Return errors by number of nodes of all experiments evaluated beyond the paper's sizes.

    Runs of one experiment share a row if their settings are equal. Columns name the stand-in for ∞
    and the number of graphs of each family, from the least to the most of all sizes.
    """
    keys = ["target", "model", "method", "source", "infinity", "marks"]
    found, seen = [], set()
    for key, lines in without_algorithm(results).groupby(keys):
        if lines["num_nodes"].max() <= MAX_PAPER_NODES:
            continue
        seen.update(lines["num_nodes"].tolist())
        graphs = count_range(lines[lines["metric"] == "pred"]["num_graphs"])
        cells: Any = over_seeds(seed_values(lines))
        found.append(((*key[:-1], graphs), cells[cells["graph"] == "mean"]))
    heads = ("target", "network", "method", "base", "∞", "graphs", "seeds")
    tables = []
    for metric, title in METRICS_BY_SIZE.items() if found else ():
        columns = tuple((metric, size) for size in sorted(seen))
        rows = tuple(network_row(key, cells, columns) for key, cells in found)
        title = f"{title} by number of nodes, no algorithm"
        tables.append(ReportTable(f"sizes-{metric}", title, heads, rows, columns, GRID_SHAPES))
    return tables


def _predecessors(cells: Any) -> Any:
    return cells[(cells["graph"] == "mean") & (cells["metric"] == "pred")]
