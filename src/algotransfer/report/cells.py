"""Our numbers and the paper's, cell by cell: what every table, figure and claim is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

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

    results = results.assign(count=results["marks"].str.split().str.len())
    least = results.groupby([*EXPERIMENT, "row"])["count"].transform("min")
    results = results[results["count"] == least]
    keys = [*EXPERIMENT, "row", "seed", "num_nodes", "metric"]
    families = results.drop_duplicates([*keys, "family"]).rename(columns={"family": "graph"})
    complete = families[families["graph"].isin(FAMILY_NAMES)]
    means = complete.groupby(keys, dropna=False, sort=False, as_index=False).agg(
        value=("value", "mean"),
        graphs=("graph", "nunique"),
        marks=("marks", "first"),
        diverged=("diverged", "max"),
        num_graphs=("num_graphs", "min"),
    )
    means = means[means["graphs"] == len(FAMILY_NAMES)].assign(graph="mean")
    columns = [*keys, "graph", "value", "marks", "diverged", "num_graphs"]
    return pandas.concat([families[columns], means[columns]], ignore_index=True)


def over_seeds(values: Any) -> pandas.DataFrame:
    """Mean, standard deviation, median and range over the seeds of every cell, networks only."""
    networks = values[values["row"] == "network"]
    groups = networks.groupby(CELL, sort=False, as_index=False)
    return groups.agg(
        mean=("value", "mean"),
        std=("value", _std),
        median=("value", "median"),
        low=("value", "min"),
        high=("value", "max"),
        seeds=("value", "size"),
        diverged=("diverged", "sum"),
        marks=("marks", "first"),
    )


def paper_cells() -> pandas.DataFrame:
    """The paper's numbers, as `paper` and `paper_std`."""
    printed: Any = paper_tables().fillna({"source": ""})
    return printed.rename(columns={"value": "paper", "std": "paper_std"})


def table_cells(values: Any) -> pandas.DataFrame:
    """Every cell of the paper's 20 tables with ours beside it; networks of our own join the rows.

    **Returns:** a line per table and cell: `table`, the columns of a cell, `paper`, `paper_std`,
    and those of `over_seeds`; numbers are missing where there is none.
    """
    import pandas

    paper, ours = paper_cells(), over_seeds(values)
    beside = paper.merge(ours, on=CELL, how="left")
    # A network that the paper does not have stands in every table that has its experiment.
    others = ours[~ours["model"].isin(list(paper["model"]))]
    places = paper.drop(columns=["model", "paper", "paper_std"]).drop_duplicates()
    more = places.merge(others, on=[name for name in CELL if name != "model"])
    columns = ["table", *CELL, "paper", "paper_std", *ours.columns.difference(CELL, sort=False)]
    return pandas.concat([beside, more], ignore_index=True).reindex(columns=columns)


def extra_cells(values: Any, metrics: tuple[str, ...]) -> pandas.DataFrame:
    """Cells of metrics that the paper does not have, for the rows of its tables of means."""
    ours: Any = over_seeds(values)
    places: Any = table_cells(values)
    places = places[places["graph"] == "mean"][["table", *EXPERIMENT, "graph"]].drop_duplicates()
    return places.merge(ours[ours["metric"].isin(metrics)], on=[*EXPERIMENT, "graph"])


def reference_cells(values: Any) -> pandas.DataFrame:
    """What needs no network: a line per target, reference, size, graph and metric.

    Of several runs the one with the most graphs counts.
    """
    rows = values[values["row"] != "network"]
    rows = rows.sort_values("num_graphs", ascending=False, kind="stable")
    keys = ["supervision", "target", "row", "num_nodes", "graph", "metric"]
    return rows.drop_duplicates(keys)[[*keys, "value"]]


def _std(values) -> float:
    with np.errstate(invalid="ignore"):  # an infinite value has no distance from the mean
        return float(np.std(np.asarray(values, np.float64)))
