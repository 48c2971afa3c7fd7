"""Our numbers and the paper's, cell by cell: what every table, figure and claim is made of."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from algotransfer.evaluation.summary import population_std
from algotransfer.evaluation.tables import number
from algotransfer.names import FAMILY_NAMES
from algotransfer.paper import paper_tables
from algotransfer.report.collect import EXPERIMENT

if TYPE_CHECKING:
    import pandas

CELL = [*EXPERIMENT, "num_nodes", "graph", "metric"]


def seed_values(results: Any) -> pandas.DataFrame:
    """A line per experiment, seed, size, graph and metric; graph `mean` is over the families.

    Of several runs of one experiment those count that differ least from the paper's settings.
    References have their name as `row` and no seed.
    """
    import pandas

    results = least_marked(results).assign(value_cpu=results.get("value_cpu", math.nan))
    keys = [*EXPERIMENT, "row", "seed", "num_nodes", "metric"]
    families = results.drop_duplicates([*keys, "family"]).rename(columns={"family": "graph"})
    complete = families[families["graph"].isin(FAMILY_NAMES)]
    means = complete.groupby(keys, dropna=False, sort=False, as_index=False).agg(
        value=("value", "mean"),
        value_cpu=("value_cpu", "mean"),
        graphs=("graph", "nunique"),
        marks=("marks", "first"),
        diverged=("diverged", "max"),
        num_graphs=("num_graphs", "min"),
    )
    means = means[means["graphs"] == len(FAMILY_NAMES)].assign(graph="mean")
    columns = [*keys, "graph", "value", "value_cpu", "marks", "diverged", "num_graphs"]
    return pandas.concat([families[columns], means[columns]], ignore_index=True)


def least_marked(results: Any) -> Any:
    """Of several runs of one experiment those that differ least from the paper's settings."""
    count = results["marks"].str.split().str.len()
    least = count.groupby([results[name] for name in (*EXPERIMENT, "row")]).transform("min")
    return results[count == least]


def without_algorithm(cells: Any) -> Any:
    """Cells of trainings without the algorithm, each network named with what is ours about it.

    `NE++ linger10` is NE++ whose answers had to last; means of trajectories are left out.
    """
    supervision = cells["supervision"]
    chosen = supervision.str.startswith("na") & ~supervision.str.startswith("na_mean")
    ours = supervision.str.removeprefix("na").str.replace("_", " ")
    return cells.assign(model=cells["model"] + ours)[chosen]


def over_seeds(values: Any) -> pandas.DataFrame:
    """Mean, standard deviation, median and range over the seeds of every cell, networks only.

    `mean_cpu` is the mean of an evaluation of the same networks on a CPU, where there is one. Seeds
    without a number are left out; `of` says how many there are.
    """
    networks = values[values["row"] == "network"]
    networks = networks.assign(of=networks.groupby(EXPERIMENT)["seed"].transform("nunique"))
    groups = networks.groupby(CELL, sort=False, as_index=False)
    return groups.agg(
        mean=("value", "mean"),
        mean_cpu=("value_cpu", "mean"),
        std=("value", population_std),
        median=("value", "median"),
        low=("value", "min"),
        high=("value", "max"),
        seeds=("value", "size"),
        of=("of", "max"),
        diverged=("diverged", "sum"),
        marks=("marks", "first"),
    )


def device_note(values: Any) -> str:
    """Say what ‡ means and how many cells have it; nothing without an evaluation on a CPU."""
    cells: Any = over_seeds(values)
    cells = cells[cells["mean_cpu"].notna() & (cells["graph"] == "mean")]
    if not len(cells):
        return ""
    cells = cells.assign(difference=(cells["mean"] - cells["mean_cpu"]).abs())
    found = []
    for (model, nodes), of in cells.groupby(["model", "num_nodes"]):
        largest = of.groupby("metric")["difference"].max()
        shown = [f"{number(largest[m], 2)} in `{m}`" for m in ("pred", "tree") if m in largest]
        marked = (of["difference"] > of["std"]).sum()
        words = f"{model} at {nodes} nodes {marked} of {len(of)}"
        found.append(words + (f" (largest difference {' and '.join(shown)})" if shown else ""))
    return (
        "‡ marks a number that depends on the device. Nearly all of ours were measured on a GPU; "
        "evaluated again on a CPU (`device-sensitivity.csv`), the same networks give a mean that "
        "differs by more than the standard deviation over seeds, because rounding decides between "
        f"near equals. Marked of the means over families that were compared: {', '.join(found)}. "
        "`tables.csv` has both means."
    )


def paper_cells() -> pandas.DataFrame:
    """The paper's numbers, as `paper` and `paper_std`."""
    printed: Any = paper_tables().fillna({"source": ""})
    return printed.rename(columns={"value": "paper", "std": "paper_std"})


def table_cells(values: Any) -> pandas.DataFrame:
    """Every cell of the paper's 20 tables with ours beside it; what is our own joins the rows.

    **Returns:** a line per table and cell: `table`, the columns of a cell, `paper`, `paper_std`,
    and those of `over_seeds`; numbers are missing where there is none.
    """
    import pandas

    paper, ours = paper_cells(), over_seeds(values)
    beside = paper.merge(ours, on=CELL, how="left")
    # A network or a method that the paper does not have stands wherever all else is the same.
    parts = [beside]
    for own in ("model", "method"):
        others = ours[~ours[own].isin(list(paper[own]))]
        places = paper.drop(columns=[own, "paper", "paper_std"]).drop_duplicates()
        parts.append(places.merge(others, on=[name for name in CELL if name != own]))
    columns = ["table", *CELL, "paper", "paper_std", *ours.columns.difference(CELL, sort=False)]
    return pandas.concat(parts, ignore_index=True).reindex(columns=columns)


def extra_cells(values: Any, metrics: tuple[str, ...]) -> pandas.DataFrame:
    """Cells of metrics that the paper does not have, for the rows of its tables of means."""
    ours: Any = over_seeds(values)
    places: Any = table_cells(values)
    keys = [name for name in CELL if name != "metric"]
    places = places[places["graph"] == "mean"][["table", *keys]].drop_duplicates()
    return places.merge(ours[ours["metric"].isin(metrics)], on=keys)


def reference_cells(values: Any) -> pandas.DataFrame:
    """What needs no network: a line per target, reference, size, graph and metric.

    Of several runs the one with the most graphs counts.
    """
    rows = values[values["row"] != "network"]
    rows = rows.sort_values("num_graphs", ascending=False, kind="stable")
    keys = ["supervision", "target", "row", "num_nodes", "graph", "metric"]
    return rows.drop_duplicates(keys)[[*keys, "value"]]


def all_cells(values: Any, metrics: tuple[str, ...]) -> pandas.DataFrame:
    """All tables with our own metrics; a reference has its name as `model` and no method."""
    import pandas

    cells = pandas.concat([table_cells(values), extra_cells(values, metrics)], ignore_index=True)
    references: Any = reference_cells(values).rename(columns={"row": "model", "value": "mean"})
    keys = [name for name in references if name not in ("model", "mean")]
    # Trajectories that are averaged are a supervision of its own, and nothing to a reference.
    places = cells.assign(supervision=cells["supervision"].str.slice(0, 2))
    places = places[["table", *keys]].drop_duplicates()
    return pandas.concat([cells, places.merge(references, on=keys)], ignore_index=True)
