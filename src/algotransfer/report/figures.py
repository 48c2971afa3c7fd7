"""Figures: error against graph size and against distance from the source, per method."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from algotransfer.errors import UserError
from algotransfer.evaluation import beside_paper, per_seed
from algotransfer.evaluation.summary import check_frame
from algotransfer.experiment import Experiment
from algotransfer.methods import METHODS
from algotransfer.registry import check_name
from algotransfer.report.cells import least_marked, paper_cells, without_algorithm
from algotransfer.report.claims import SOURCES

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")  # Okabe and Ito
TITLES = {"pred": "predecessor error rate", "key": "key, mean squared error"}
MODELS = ("NE", "NE++")
INK = "#123456"  # stands for the colour of the page's text, which an SVG inside it takes over


def draw_generalisation(
    results: Mapping[str, tuple[Experiment, pandas.DataFrame]],
    metrics: tuple[str, ...] = ("pred", "key"),
) -> Figure:
    """Error against the number of nodes: a line per experiment, a thin one per seed.

    Crosses are what the paper printed for the same experiment; the dotted line is what pointing at
    a random neighbour gives.

    **Arguments:**

    - `results`: by label, an experiment and its evaluation; up to six.
    - `metrics`: a panel for each.
    """
    from matplotlib.figure import Figure

    if not 1 <= len(results) <= len(COLOURS) or not metrics:
        raise UserError(
            f"{len(results)} results and {len(metrics)} metrics; expected 1 to {len(COLOURS)} "
            "results and at least one metric"
        )
    for metric in metrics:
        for _, frame in results.values():
            check_frame(frame)
            check_name("metric", metric, frame["metric"].unique())
    figure = Figure(figsize=(4.6 * len(metrics), 3.6), layout="constrained")
    for axes, metric in zip(
        figure.subplots(1, len(metrics), squeeze=False)[0], metrics, strict=True
    ):
        for colour, (experiment, frame) in zip(COLOURS, results.values(), strict=False):
            means = per_seed(frame.query("metric == @metric"))
            _lines(axes, means[means["row"] == "network"], colour, "mean")
            printed = beside_paper(frame, experiment)
            printed = printed[(printed["metric"] == metric) & (printed["graph"] == "mean")]
            _crosses(axes, printed, colour)
        _chance(axes, means[means["row"] == "random_neighbour"], "mean")
        _finish(
            axes, TITLES.get(metric, metric), metric, sorted(means["num_nodes"].unique().tolist())
        )
    _legend(axes, dict(zip(results, COLOURS, strict=False)), crosses=True)
    return figure


def draw_methods(
    values: Any, target: str, metrics: tuple[str, ...] = ("pred", "key"), supervision: str = "na"
) -> Figure | None:
    """Error against the number of nodes on one target: a panel per network, a line per method.

    Networks and sizes are the paper's; `draw_networks` has all.

    **Arguments:**

    - `values`: what `seed_values` returns.

    **Returns:** the figure, or None if nothing has been run.
    """
    from matplotlib.figure import Figure

    def of_target(cells: Any) -> Any:
        cells = cells[(cells["target"] == target) & (cells["supervision"] == supervision)]
        return cells[(cells["graph"] == "mean") & cells["source"].isin(["", SOURCES.get(target)])]

    values, paper = of_target(values), of_target(paper_cells())
    sizes = sorted(paper["num_nodes"].unique().tolist())
    values = values[values["num_nodes"].isin(sizes) & values["model"].isin(MODELS)]
    models = _models(values)
    if not models:
        return None
    figure = Figure(figsize=(3.6 * len(models), 3 * len(metrics)), layout="constrained")
    panels = figure.subplots(len(metrics), len(models), squeeze=False, sharex=True, sharey="row")
    for row, metric in zip(panels, metrics, strict=True):
        for axes, model in zip(row, models, strict=True):
            of_metric = values[values["metric"] == metric]
            networks = of_metric[(of_metric["row"] == "network") & (of_metric["model"] == model)]
            printed = paper[(paper["metric"] == metric) & (paper["model"] == model)]
            for colour, method in zip(COLOURS, METHODS, strict=False):
                _lines(axes, networks[networks["method"] == method], colour, "value")
                cells = printed[printed["method"] == method].drop_duplicates("num_nodes")
                _crosses(axes, cells, colour)
            chance = of_metric[of_metric["row"] == "random_neighbour"].drop_duplicates("num_nodes")
            _chance(axes, chance, "value")
            _finish(axes, f"{model}: {TITLES.get(metric, metric)}", metric, sizes)
    _legend(panels[0][-1], dict(zip(METHODS, COLOURS, strict=False)), crosses=True)
    return figure


def draw_networks(
    values: Any, target: str, metrics: tuple[str, ...] = ("pred", "key")
) -> Figure | None:
    """Error against the number of nodes on one target, without transfer: a line per network.

    All were trained without the algorithm, as the paper does it or in ways of our own.

    **Arguments:**

    - `values`: what `seed_values` returns.

    **Returns:** the figure, or None if nothing has been run.
    """
    from matplotlib.figure import Figure

    def of_target(cells: Any) -> Any:
        cells = without_algorithm(cells)
        alone = (cells["method"] == "none") & (cells["graph"] == "mean")
        return cells[alone & (cells["target"] == target)]

    values, paper = of_target(values), of_target(paper_cells())
    models = _models(values)
    if not models:
        return None
    colours = dict(zip(models, COLOURS, strict=False))
    sizes = sorted(values["num_nodes"].unique().tolist())
    figure = Figure(figsize=(4.6 * len(metrics), 3.6), layout="constrained")
    panels = figure.subplots(1, len(metrics), squeeze=False)[0]
    for axes, metric in zip(panels, metrics, strict=True):
        of_metric = values[values["metric"] == metric]
        printed = paper[paper["metric"] == metric].drop_duplicates(["model", "num_nodes"])
        for model, colour in colours.items():
            networks = of_metric[(of_metric["row"] == "network") & (of_metric["model"] == model)]
            _lines(axes, networks, colour, "value")
            _crosses(axes, printed[printed["model"] == model], colour)
        _chance(axes, of_metric[of_metric["row"] == "random_neighbour"], "value")
        _finish(axes, f"{target}: {TITLES.get(metric, metric)}", metric, sizes)
    _legend(panels[-1], colours, crosses=True)
    return figure


def draw_hops(hops: Any, target: str, num_nodes: int = 100) -> Figure | None:
    """Predecessor error by distance from the source: a panel per network, a line per method.

    **Arguments:**

    - `hops`: what `collect_hops` returns.

    **Returns:** the figure, or None if nothing has been run.
    """
    from matplotlib.figure import Figure

    hops = least_marked(hops[(hops["target"] == target) & (hops["supervision"] == "na")])
    hops = hops[(hops["num_nodes"] == num_nodes) & hops["source"].isin(["", SOURCES.get(target)])]
    models = _models(hops)
    if not models:
        return None
    figure = Figure(figsize=(3.6 * len(models), 3), layout="constrained")
    panels = figure.subplots(1, len(models), squeeze=False, sharey=True)[0]
    for axes, model in zip(panels, models, strict=True):
        of_model = hops[hops["model"] == model]
        for colour, method in zip(COLOURS, METHODS, strict=False):
            lines = of_model[(of_model["method"] == method) & (of_model["row"] == "network")]
            axes.plot(lines["hop"], lines["value"], color=colour, marker=".")
            axes.fill_between(lines["hop"], lines["low"], lines["high"], color=colour, alpha=0.15)
        _chance(axes, of_model[of_model["row"] == "random_neighbour"], "value", "hop")
        axes.set_title(f"{model}: {TITLES['pred']}, {num_nodes} nodes", loc="left", fontsize=9)
        axes.set_xlabel("hops from the source (20: or more)")
        axes.spines[["top", "right"]].set_visible(False)
    _legend(panels[-1], dict(zip(METHODS, COLOURS, strict=False)))
    return figure


def to_svg(figure: Figure, title: str) -> str:
    """An SVG element to stand in a page: it takes the page's colour and font, and has a title."""
    import matplotlib

    _ink(figure)
    stream = io.StringIO()
    settings: dict[Any, Any] = {"svg.fonttype": "none", "svg.hashsalt": "algotransfer"}
    with matplotlib.rc_context(settings):
        figure.savefig(stream, format="svg", transparent=True, metadata={"Date": None})
    text = stream.getvalue()
    text = text[text.index("<svg") :].replace(INK, "currentColor")
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r' id="[a-z0-9.]+_\d+"', "", text)  # names of groups, which repeat
    text = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", text, count=1)
    text = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", text, count=1)
    return text.replace("<svg ", f'<svg role="img" aria-label="{title}" ', 1)


def _models(frame: Any) -> list[str]:
    there = set(frame[frame["row"] == "network"]["model"])
    return [m for m in MODELS if m in there] + sorted(there - set(MODELS))


def _lines(axes: Axes, networks: Any, colour: str, column: str) -> None:
    for _, seed in networks.sort_values("num_nodes").groupby("seed"):
        axes.plot(seed["num_nodes"], seed[column], color=colour, alpha=0.25, lw=1)
    median = networks.groupby("num_nodes")[column].median()
    axes.plot(median.index, median, color=colour, marker="o")


def _crosses(axes: Axes, printed: Any, colour: str) -> None:
    axes.plot(
        printed["num_nodes"], printed["paper"], color=colour, marker="x", ms=8, ls="none", zorder=3
    )


def _chance(axes: Axes, chance: Any, column: str, over: str = "num_nodes") -> None:
    if len(chance):
        chance = chance.sort_values(over).drop_duplicates(over)
        axes.plot(chance[over], chance[column], color="0.5", ls=":")


def _finish(axes: Axes, title: str, metric: str, sizes: list[int]) -> None:
    axes.set_xscale("log")
    axes.set_xticks(sizes, [str(size) for size in sizes], minor=False)
    axes.minorticks_off()
    axes.set_yscale("log" if metric == "key" else "linear")
    axes.set_xlabel("nodes")
    axes.set_title(title, loc="left", fontsize=9)
    axes.spines[["top", "right"]].set_visible(False)


def _legend(axes: Axes, colours: Mapping[str, str], crosses: bool = False) -> None:
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], color=c, marker="o", label=name) for name, c in colours.items()]
    handles.append(Line2D([], [], color="0.5", ls=":", label="random neighbour"))
    if crosses:
        handles.append(Line2D([], [], color="0.5", marker="x", ls="none", label="the paper"))
    place = {"loc": "upper left", "bbox_to_anchor": (1, 1)}
    axes.legend(handles=handles, frameon=False, fontsize="small", **place)


def _ink(figure: Figure) -> None:
    """Text, ticks and frames in the stand-in for the page's colour."""
    for axes in figure.axes:
        axes.tick_params(colors=INK, which="both")
        for part in (axes.xaxis.label, axes.yaxis.label, axes._left_title):  # type: ignore[attr-defined]
            part.set_color(INK)
        for spine in axes.spines.values():
            spine.set_color(INK)
        legend = axes.get_legend()
        for text in legend.get_texts() if legend else ():
            text.set_color(INK)
