"""Our numbers and the paper's by cell; tables, figures and claims are made of these."""

import math
from typing import Any

import pandas

from algotransfer.datasets.presets import PAPER_FAMILIES
from algotransfer.evaluation.summary import population_std
from algotransfer.paper import paper_tables
from algotransfer.report.collect import EXPERIMENT

CELL = [*EXPERIMENT, "num_nodes", "graph", "metric"]


def read_at(results: Any, halt: str) -> Any:
    """Keep rows whose answer was read by a halting rule; without a column `halt` all are `told`."""
    if "halt" not in results:
        return results if halt == "told" else results.iloc[:0]
    return results[results["halt"].replace("", None).fillna("told") == halt]


def seed_values(results: Any, halt: str = "told") -> pandas.DataFrame:
    """Return a line per experiment, seed, size, graph and metric; graph `mean` is over families.

    Only rows whose answer was read by the halting rule `halt` count, and only the runs of each
    experiment nearest to the paper's settings. References have their name as `row` and no seed.
    The rows `masked` of NE become networks named `NE masked`.
    """
    results = least_marked(read_at(results, halt))
    masked = results["row"] == "masked"
    results = results.assign(
        model=results["model"].mask(masked, results["model"] + " masked"),
        row=results["row"].mask(masked, "network"),
        value_cpu=results.get("value_cpu", math.nan),
    )
    keys = [*EXPERIMENT, "row", "seed", "num_nodes", "metric"]
    families = results.drop_duplicates([*keys, "family"]).rename(columns={"family": "graph"})
    complete = families[families["graph"].isin(PAPER_FAMILIES)]
    means = complete.groupby(keys, dropna=False, sort=False, as_index=False).agg(
        value=("value", "mean"),
        value_cpu=("value_cpu", "mean"),
        graphs=("graph", "nunique"),
        marks=("marks", "first"),
        diverged=("diverged", "max"),
        num_graphs=("num_graphs", "min"),
    )
    means = means[means["graphs"] == len(PAPER_FAMILIES)].assign(graph="mean")
    columns = [*keys, "graph", "value", "value_cpu", "marks", "diverged", "num_graphs"]
    return pandas.concat([families[columns], means[columns]], ignore_index=True)


def least_marked(results: Any) -> Any:
    """Keep, for each experiment, the runs with the fewest settings that are not the paper's."""
    count = results["marks"].str.split().str.len()
    least = count.groupby([results[name] for name in (*EXPERIMENT, "row")]).transform("min")
    return results[count == least]


def without_algorithm(cells: Any) -> Any:
    """Keep cells trained without the algorithm; append our settings to the network's name.

    `NE++ extra10` is NE++ trained with `extra_steps=10`. `na_mean` is left out.
    """
    supervision = cells["supervision"]
    chosen = supervision.str.startswith("na") & ~supervision.str.startswith("na_mean")
    ours = supervision.str.removeprefix("na").str.replace("_", " ")
    return cells.assign(model=cells["model"] + ours)[chosen]


def over_seeds(values: Any) -> pandas.DataFrame:
    """Return mean, standard deviation, median and range over seeds of every network's cell.

    `cpu_difference` is the mean difference between an evaluation on a CPU and `value`, over the
    `cpu_seeds` seeds that have both. `values` are those of the seeds; `seeds` counts them, `of` all
    seeds of the experiment.
    """
    networks = values[values["row"] == "network"]
    networks = networks.assign(
        of=networks.groupby(EXPERIMENT)["seed"].transform("nunique"),
        cpu_difference=networks["value_cpu"] - networks["value"],
    )
    groups = networks.groupby(CELL, sort=False, as_index=False)
    return groups.agg(
        mean=("value", "mean"),
        cpu_difference=("cpu_difference", "mean"),
        cpu_seeds=("value_cpu", "count"),
        std=("value", population_std),
        median=("value", "median"),
        low=("value", "min"),
        high=("value", "max"),
        values=("value", tuple),
        seeds=("value", "size"),
        of=("of", "max"),
        diverged=("diverged", "sum"),
        marks=("marks", "first"),
    )


def count_range(counts: Any, noun: str = "") -> str:
    """Return the least and the most of some counts, such as `3 to 8 seeds`, or the only one."""
    least, most = min(counts), max(counts)
    text = str(most) if least == most else f"{least} to {most}"
    return f"{text} {noun}" if noun else text


def paper_cells() -> pandas.DataFrame:
    """Return the paper's numbers, as `paper` and `paper_std`."""
    printed: Any = paper_tables().fillna({"source": ""})
    return printed.rename(columns={"value": "paper", "std": "paper_std"})


def table_cells(values: Any, ours: Any) -> pandas.DataFrame:
    """Return every cell of the paper's 20 tables with ours, and rows for our networks and methods.

    Ours are `seed_values`, and `over_seeds` of them. `percentile` is that of the paper's number
    among our seeds, from 0 (below all) to 100; missing numbers are NaN.
    """
    paper = paper_cells()
    beside = paper.merge(ours, on=CELL, how="left")
    beside = beside.merge(_percentiles(values, paper), on=["table", *CELL], how="left")
    # Networks and methods that the paper lacks join the tables that have the same other columns.
    parts = [beside]
    for own in ("model", "method"):
        others = ours[~ours[own].isin(list(paper[own]))]
        places = paper.drop(columns=[own, "paper", "paper_std"]).drop_duplicates()
        parts.append(places.merge(others, on=[name for name in CELL if name != own]))
    statistics = [*ours.columns.difference(CELL, sort=False), "percentile"]
    columns = ["table", *CELL, "paper", "paper_std", *statistics]
    return pandas.concat(parts, ignore_index=True).reindex(columns=columns)


def _percentiles(values: Any, paper: Any) -> Any:
    """Return the percentage of seeds below each number of the paper; equal ones count half."""
    seeds = values[values["row"] == "network"][[*CELL, "value"]].dropna(subset="value")
    both = paper[["table", *CELL, "paper"]].merge(seeds, on=CELL)
    below, equal = both["value"] < both["paper"], both["value"] == both["paper"]
    both["percentile"] = 100.0 * below + 50.0 * equal
    return both.groupby(["table", *CELL], as_index=False)["percentile"].mean()


def extra_cells(cells: Any, ours: Any, metrics: tuple[str, ...]) -> pandas.DataFrame:
    """Return cells of metrics that the paper lacks, for the rows of its tables of means."""
    keys = [name for name in CELL if name != "metric"]
    places = cells[cells["graph"] == "mean"][["table", *keys]].drop_duplicates()
    return places.merge(ours[ours["metric"].isin(metrics)], on=keys)


def reference_cells(values: Any) -> pandas.DataFrame:
    """Return a line per target, reference, size, graph and metric, of the most graphs evaluated."""
    rows = values[values["row"] != "network"]
    rows = rows.sort_values("num_graphs", ascending=False, kind="stable")
    keys = ["supervision", "target", "row", "num_nodes", "graph", "metric"]
    return rows.drop_duplicates(keys)[[*keys, "value"]]


def all_cells(cells: Any, extra: Any, references: Any) -> pandas.DataFrame:
    """Return all cells in one table; a reference has its name as `model` and no method."""
    cells = pandas.concat([cells, extra], ignore_index=True)
    references = references.rename(columns={"row": "model", "value": "mean"})
    keys = [name for name in references if name not in ("model", "mean")]
    # `na_mean` shares the references of `na`.
    places = cells.assign(supervision=cells["supervision"].str.slice(0, 2))
    places = places[["table", *keys]].drop_duplicates()
    cells = cells.drop(columns="values")
    return pandas.concat([cells, places.merge(references, on=keys)], ignore_index=True)
