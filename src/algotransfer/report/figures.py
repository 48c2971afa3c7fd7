"""Figures: error against graph size, with the paper's points."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from algotransfer.evaluation import beside_paper, per_seed
from algotransfer.experiment import Experiment

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")  # Okabe and Ito
TITLES = {"pred": "predecessor error rate", "key": "key, mean squared error"}


def draw_generalisation(
    results: Mapping[str, tuple[Experiment, pandas.DataFrame]],
    metrics: tuple[str, ...] = ("pred", "key"),
) -> Figure:
    """Error against the number of nodes: a line per experiment, a thin one per seed.

    Crosses are what the paper printed for the same experiment; the dotted line is what pointing at
    a random neighbour gives.

    **Arguments:**

    - `results`: by label, an experiment and its evaluation.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.6 * len(metrics), 3.6), layout="constrained")
    for axes, metric in zip(
        figure.subplots(1, len(metrics), squeeze=False)[0], metrics, strict=True
    ):
        for colour, (label, (experiment, frame)) in zip(COLOURS, results.items(), strict=False):
            means = per_seed(frame.query("metric == @metric"))
            networks = means[means["row"] == "network"]
            for _, seed in networks.groupby("seed"):
                axes.plot(seed["num_nodes"], seed["mean"], color=colour, alpha=0.25, lw=1)
            median = networks.groupby("num_nodes")["mean"].median()
            axes.plot(median.index, median, color=colour, marker="o", label=label)
            printed = beside_paper(frame, experiment)
            printed = printed[(printed["metric"] == metric) & (printed["graph"] == "mean")]
            axes.plot(
                printed["num_nodes"],
                printed["paper"],
                color=colour,
                marker="x",
                ms=8,
                ls="none",
                label=f"{label}, paper",
            )
        chance = means[means["row"] == "random_neighbour"]
        if len(chance):
            axes.plot(
                chance["num_nodes"], chance["mean"], color="0.5", ls=":", label="random neighbour"
            )
        axes.set_xscale("log")
        sizes = sorted(means["num_nodes"].unique())
        axes.set_xticks(sizes, [str(size) for size in sizes], minor=False)
        axes.minorticks_off()
        axes.set_yscale("log" if metric == "key" else "linear")
        axes.set_xlabel("nodes")
        axes.set_title(TITLES.get(metric, metric), loc="left")
        axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize="small")
    return figure
