"""Summaries of evaluation tables: over families, over seeds, beside the paper's numbers."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from algotransfer.algorithms import get_algorithm
from algotransfer.datasets.presets import PAPER_FAMILIES
from algotransfer.experiment import Experiment
from algotransfer.paper import paper_tables

if TYPE_CHECKING:
    import pandas

PAPER_MODELS = {"ne": "NE", "ne++": "NE++"}


def per_seed(frame: pandas.DataFrame) -> pandas.DataFrame:
    """Mean and standard deviation over families, as the paper prints them, for every seed.

    **Returns:** the columns `row`, `seed`, `num_nodes`, `metric`, `mean`, `std`.
    """
    overall: Any = frame[frame["hop"].isna()]
    groups = overall.groupby(
        ["row", "seed", "num_nodes", "metric"], dropna=False, sort=False, as_index=False
    )
    return groups.agg(mean=("value", "mean"), std=("value", population_std))


def summary(frame: pandas.DataFrame) -> pandas.DataFrame:
    """Summarise what `evaluate` returns: one line per row, number of nodes and metric.

    **Returns:** the columns `row`, `num_nodes`, `metric`; of the seeds' means over families the
    `median`, `mean` and `std`; the median `family_std` of their standard deviations over families;
    `num_seeds`. Standard deviations are those of the population, and missing if a value is
    infinite.
    """
    return _over_seeds(per_seed(frame), ["row", "num_nodes", "metric"])


def beside_paper(frame: pandas.DataFrame, experiment: Experiment) -> pandas.DataFrame:
    """Join the networks' numbers with the paper's for the same experiment.

    **Returns:** a line per number of the paper that was evaluated too, with the columns `table`,
    `num_nodes`, `graph`, `metric`, `paper`, `paper_std`, and `median`, `mean`, `std`, `family_std`
    and `num_seeds` as in `summary`.
    """
    import pandas

    ours: Any = frame[(frame["row"] == "network") & frame["family"].isin(PAPER_FAMILIES)]
    families = ours[ours["hop"].isna()].rename(columns={"family": "graph", "value": "mean"})
    keys = ["num_nodes", "graph", "metric"]
    parts = [_over_seeds(families.assign(std=np.nan), keys)]
    # The paper's means are over all three families.
    complete = ours.groupby("num_nodes")["family"].nunique() == len(PAPER_FAMILIES)
    ours = ours[ours["num_nodes"].isin(complete[complete].index)]
    parts.append(_over_seeds(per_seed(ours).assign(graph="mean"), keys))
    ours = pandas.concat([part for part in parts if len(part)] or parts)
    paper: Any = paper_tables().fillna({"source": ""})
    for column, value in paper_key(dataclasses.replace(experiment, extra_steps=0)).items():
        paper = paper[paper[column] == value]
    paper = paper.rename(columns={"value": "paper", "std": "paper_std"})
    return paper[["table", *keys, "paper", "paper_std"]].merge(ours, on=keys)


def paper_key(experiment: Experiment) -> dict[str, str]:
    """Return the names that the paper's tables use for an experiment."""
    supervision = experiment.supervision
    sampled = supervision == "na" and get_algorithm(experiment.target).framework.samples
    if sampled and experiment.select == "mean":
        supervision += "_mean"
    if experiment.extra_steps:  # not in the paper
        supervision += f"_extra{experiment.extra_steps}"
    return {
        "supervision": supervision,
        "model": PAPER_MODELS.get(experiment.model, experiment.model),
        "method": experiment.method,
        "source": "+".join(experiment.base),
        "target": experiment.target,
    }


def _over_seeds(frame: Any, keys: list[str]) -> pandas.DataFrame:
    groups = frame.groupby(keys, sort=False, as_index=False)
    return groups.agg(
        median=("mean", "median"),
        mean=("mean", "mean"),
        std=("mean", population_std),
        family_std=("std", "median"),
        num_seeds=("mean", "size"),
    )


def population_std(values) -> float:
    """Population standard deviation; NaN if a value is infinite."""
    with np.errstate(invalid="ignore"):  # an infinite value has no distance from the mean
        return float(np.std(np.asarray(values, np.float64)))
