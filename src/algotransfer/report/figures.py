"""Figures of errors against graph size and against distance from the source."""

import io
import re
from collections.abc import Mapping
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from algotransfer.evaluation.summary import PAPER_MODELS
from algotransfer.methods import METHODS
from algotransfer.report.cells import count_range, least_marked, paper_cells, without_algorithm
from algotransfer.report.claims import PAPER_BASES
from algotransfer.report.collect import EXPERIMENT

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")  # Okabe and Ito
METRIC_TITLES = {"pred": "predecessor error rate", "key": "key, mean squared error"}
HOP_NODES = 100  # of the graphs in figures by distance
INK = "#123456"  # placeholder for the text colour of the page that shows the SVG


def draw_methods(values: Any, target: str) -> Figure | None:
    """Draw error against the number of nodes on one target: a panel per network, a line per method.

    Networks and sizes are the paper's; `draw_networks` has all. None if there is no run.
    """

    def of_target(cells: Any) -> Any:
        cells = cells[(cells["target"] == target) & (cells["supervision"] == "na")]
        return _from_paper_base(cells[cells["graph"] == "mean"], target)

    values, paper = of_target(values), of_target(paper_cells())
    values = values[values["num_nodes"].isin(paper["num_nodes"])]
    models = _models(values[values["model"].isin(PAPER_MODELS.values())])
    if not models:
        return None
    figure, panels = _figure(len(METRIC_TITLES), len(models), sharex=True, sharey="row")
    for row, metric in zip(panels, METRIC_TITLES, strict=True):
        of_metric = values[values["metric"] == metric]
        for axes, model in zip(row, models, strict=True):
            networks = _networks(of_metric, model)
            printed = paper[(paper["metric"] == metric) & (paper["model"] == model)]
            for colour, method in zip(COLOURS, METHODS, strict=False):
                of_method = printed[printed["method"] == method]
                _curve(axes, networks[networks["method"] == method], of_method, colour)
            _chance(axes, of_metric)
            _finish(axes, f"{model}: {METRIC_TITLES[metric]}", metric, paper)
            _name_seeds(axes, _count_seeds(networks))
    _legend(panels[0][-1], dict(zip(METHODS, COLOURS, strict=False)), crosses=True)
    return figure


def draw_networks(values: Any, target: str) -> Figure | None:
    """Draw error against the number of nodes on one target, without transfer: a line per network.

    All are trained without the algorithm, as in the paper or in our own ways. None without runs.
    """

    def of_target(cells: Any) -> Any:
        cells = without_algorithm(cells)
        alone = (cells["method"] == "none") & (cells["graph"] == "mean")
        return cells[alone & (cells["target"] == target)]

    values, paper = of_target(values), of_target(paper_cells())
    colours = dict(zip(_models(values), COLOURS, strict=False))
    if not colours:
        return None
    figure, panels = _figure(1, len(METRIC_TITLES), width=4.6, height=3.6)
    for axes, metric in zip(panels[0], METRIC_TITLES, strict=True):
        of_metric, printed = values[values["metric"] == metric], paper[paper["metric"] == metric]
        for model, colour in colours.items():
            of_model = printed[printed["model"] == model]
            _curve(axes, _networks(of_metric, model), of_model, colour)
        _chance(axes, of_metric)
        _finish(axes, f"{target}: {METRIC_TITLES[metric]}", metric, values)
        _name_seeds(axes, _count_seeds(of_metric[of_metric["row"] == "network"]))
    _legend(panels[0][-1], colours, crosses=True)
    return figure


def draw_hops(hops: Any, target: str) -> Figure | None:
    """Draw predecessor error by distance from the source: a panel per network, a line per method.

    None if there is no run in `collect_hops`.
    """
    hops = least_marked(hops[(hops["target"] == target) & (hops["supervision"] == "na")])
    hops = _from_paper_base(hops[hops["num_nodes"] == HOP_NODES], target)
    models = _models(hops)
    if not models:
        return None
    figure, panels = _figure(1, len(models), sharey=True)
    for axes, model in zip(panels[0], models, strict=True):
        networks = _networks(hops, model)
        for colour, method in zip(COLOURS, METHODS, strict=False):
            lines = networks[networks["method"] == method]
            axes.plot(lines["hop"], lines["value"], color=colour, marker=".")
            axes.fill_between(lines["hop"], lines["low"], lines["high"], color=colour, alpha=0.15)
        _chance(axes, hops[hops["model"] == model], "hop")
        axes.set_title(
            f"{model}: {METRIC_TITLES['pred']}, {HOP_NODES} nodes", loc="left", fontsize=9
        )
        axes.set_xlabel("hops from the source (20: or more)")
        _name_seeds(axes, networks["seeds"])
        axes.spines[["top", "right"]].set_visible(False)
    _legend(panels[0][-1], dict(zip(METHODS, COLOURS, strict=False)))
    return figure


def to_svg(figure: Figure, title: str) -> str:
    """Return an SVG element with a title; it takes the colour and font of the page around it."""
    _ink(figure)
    stream = io.StringIO()
    settings: dict[Any, Any] = {"svg.fonttype": "none", "svg.hashsalt": "algotransfer"}
    with matplotlib.rc_context(settings):
        figure.savefig(stream, format="svg", transparent=True, metadata={"Date": None})
    text = stream.getvalue()
    text = text[text.index("<svg") :].replace(INK, "currentColor")
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r' id="[a-z0-9.]+_\d+"', "", text)  # group names repeat between figures
    text = re.sub(r' (d|x|y|transform)="[^"]*"', _two_decimals, text)
    text = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", text, count=1)
    text = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", text, count=1)
    return text.replace("<svg ", f'<svg role="img" aria-label="{title}" ', 1)


def _two_decimals(attribute: re.Match[str]) -> str:
    """Round coordinates to hundredths of a point, which a screen cannot show."""
    return re.sub(r"\d+\.\d{3,}", lambda hit: f"{float(hit[0]):.2f}", attribute[0])


def _figure(
    rows: int, columns: int, width: float = 3.6, height: float = 3, **shared: Any
) -> tuple[Figure, Any]:
    figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **shared)


def _from_paper_base(cells: Any, target: str) -> Any:
    """Keep runs without transfer or with the base that the paper pairs with the target."""
    return cells[cells["source"].isin(["", PAPER_BASES.get(target)])]


def _name_seeds(axes: Axes, counts: Any) -> None:
    """Append the numbers of seeds of a panel's lines to the label of its x-axis."""
    if len(counts):
        axes.set_xlabel(f"{axes.get_xlabel()}; lines of {count_range(counts, 'seeds')}")


def _count_seeds(networks: Any) -> Any:
    """Return the number of seeds of every point of the lines."""
    return networks.groupby([*EXPERIMENT, "num_nodes"])["seed"].nunique()


def _models(frame: Any) -> list[str]:
    there = set(frame[frame["row"] == "network"]["model"])
    paper = list(PAPER_MODELS.values())
    return [m for m in paper if m in there] + sorted(there.difference(paper))


def _networks(frame: Any, model: str) -> Any:
    return frame[(frame["row"] == "network") & (frame["model"] == model)]


def _curve(axes: Axes, networks: Any, printed: Any, colour: str) -> None:
    """Draw thin lines for seeds, their median, and crosses for the paper's numbers."""
    for _, seed in networks.sort_values("num_nodes").groupby("seed"):
        axes.plot(seed["num_nodes"], seed["value"], color=colour, alpha=0.25, lw=1)
    median = networks.groupby("num_nodes")["value"].median()
    axes.plot(median.index, median, color=colour, marker="o")
    printed = printed.drop_duplicates("num_nodes")
    crosses = {"marker": "x", "ms": 8, "ls": "none", "zorder": 3}
    axes.plot(printed["num_nodes"], printed["paper"], color=colour, **crosses)


def _chance(axes: Axes, frame: Any, over: str = "num_nodes") -> None:
    """Draw the error of pointing at a random neighbour."""
    chance = frame[frame["row"] == "random_neighbour"].sort_values(over).drop_duplicates(over)
    if len(chance):
        axes.plot(chance[over], chance["value"], color="0.5", ls=":")


def _finish(axes: Axes, title: str, metric: str, frame: Any) -> None:
    sizes = sorted(frame["num_nodes"].unique().tolist())
    axes.set_xscale("log")
    axes.set_xticks(sizes, [str(size) for size in sizes], minor=False)
    axes.minorticks_off()
    axes.set_yscale("log" if metric == "key" else "linear")
    axes.set_xlabel("nodes")
    axes.set_title(title, loc="left", fontsize=9)
    axes.spines[["top", "right"]].set_visible(False)


def _legend(axes: Axes, colours: Mapping[str, str], crosses: bool = False) -> None:
    handles = [Line2D([], [], color=c, marker="o", label=name) for name, c in colours.items()]
    handles.append(Line2D([], [], color="0.5", ls=":", label="random neighbour"))
    if crosses:
        handles.append(Line2D([], [], color="0.5", marker="x", ls="none", label="the paper"))
    place = {"loc": "upper left", "bbox_to_anchor": (1, 1)}
    axes.legend(handles=handles, frameon=False, fontsize="small", **place)


def _ink(figure: Figure) -> None:
    """Give text, ticks and frames the placeholder colour."""
    for axes in figure.axes:
        axes.tick_params(colors=INK, which="both")
        for part in (axes.xaxis.label, axes.yaxis.label, axes._left_title):  # type: ignore[attr-defined]
            part.set_color(INK)
        for spine in axes.spines.values():
            spine.set_color(INK)
        legend = axes.get_legend()
        for text in legend.get_texts() if legend else ():
            text.set_color(INK)
