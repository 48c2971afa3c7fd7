"""Tables that the paper does not have: networks of our own, and graphs beyond its sizes."""

from __future__ import annotations

import math
from typing import Any

from algotransfer.evaluation.result_tables import number
from algotransfer.report.cells import over_seeds, paper_cells, seed_values, without_algorithm
from algotransfer.report.paper_tables import Row, Table, row_cells

MAX_PAPER_NODES = 100  # nodes of the paper's graphs
BY_SIZE = {"pred": "Predecessor error", "key": "Key, mean squared error"}
NO_TREND = (
    "Grids of more than 100 nodes are nearest a square, smaller ones have any shape and are harder "
    "for it, so that the step from 100 to 200 nodes is not one of size alone."
)


def own_networks(values: Any) -> Table | None:
    """Predecessor errors of networks, or trainings, that the paper does not have, without steps.

    The paper's number in a cell is its best one of any network and method.

    **Arguments:**

    - `values`: what `seed_values` returns.

    **Returns:** the table, or None if there is no such network.
    """
    paper: Any = paper_cells()
    ours: Any = over_seeds(values)
    paper, ours = (_predecessors(without_algorithm(cells)) for cells in (paper, ours))
    ours = ours[~ours["model"].isin(list(paper["model"]))]
    best = paper.groupby(["target", "num_nodes"])["paper"].min()
    columns = tuple(("pred", int(size)) for size in sorted(paper["num_nodes"].unique()))
    rows = []
    for key, lines in ours.groupby(["target", "model", "method", "source"]):
        beside = [best.get((key[0], size), math.nan) for size in lines["num_nodes"]]
        cells = row_cells(lines.assign(paper=beside), columns)
        rows.append(Row(tuple(map(str, key)), cells, lines["marks"].iloc[0], "na"))
    if not rows:
        return None
    title = (
        "Networks and trainings of our own: predecessor error, beside the paper's best without the "
        "steps"
    )
    return Table("own", title, ("target", "network", "method", "base"), columns, tuple(rows))


def what_changes(table: Table) -> str:
    """What these networks change of the paper's picture, in a sentence or two."""
    last = [row.cells[-1] for row in table.rows]
    known = [cell for cell in last if cell.seeds and not math.isnan(cell.paper)]
    if not known:
        return ""
    lower = sum(cell.mean < cell.paper for cell in known)
    most, least = max(cell.mean for cell in known), min(cell.paper for cell in known)
    return (
        "Networks and ways of training that the paper does not have, without the algorithm's "
        f"steps: in {lower} "
        f"of {len(known)} rows the predecessor error at {table.columns[-1][1]} nodes is below the "
        f"paper's best of any network and method trained so. The largest of them is "
        f"{number(most)}; the smallest that the paper printed for them is {number(least)}."
    )


def size_tables(results: Any) -> list[Table]:
    """Errors by number of nodes of all runs that were evaluated beyond the paper's sizes.

    Runs of one experiment stand apart. Columns say what stood for ∞, and from how many graphs of
    each family the numbers are: the least and the most of all sizes.

    **Arguments:**

    - `results`: what `collect` returns.

    **Returns:** a table per metric, or none where there is no such run.
    """
    without = without_algorithm(results)
    large = without[without["num_nodes"] > MAX_PAPER_NODES]["run"]
    runs = without[without["run"].isin(large)]
    sizes = sorted(runs["num_nodes"].unique().tolist())
    keys = ["target", "model", "method", "source", "infinity", "run"]
    found = [
        (
            (*map(str, key[:-1]), _graphs(lines)),
            lines["marks"].iloc[0],
            over_seeds(seed_values(lines)),
        )
        for key, lines in runs.groupby(keys)
    ]
    heads = ("target", "network", "method", "base", "∞", "graphs")
    tables = []
    for metric, title in BY_SIZE.items() if found else ():
        columns = tuple((metric, size) for size in sizes)
        rows = tuple(
            Row(words, row_cells(cells[cells["graph"] == "mean"], columns), marks, "na")
            for words, marks, cells in found
        )
        title = f"{title} by number of nodes, no algorithm"
        tables.append(Table(f"sizes-{metric}", title, heads, columns, rows, NO_TREND))
    return tables


def _graphs(lines: Any) -> str:
    counts = lines[lines["metric"] == "pred"]["num_graphs"]
    least, most = counts.min(), counts.max()
    return str(most) if least == most else f"{least} to {most}"


def _predecessors(cells: Any) -> Any:
    return cells[(cells["graph"] == "mean") & (cells["metric"] == "pred")]
