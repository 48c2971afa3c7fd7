"""Draw steps of an algorithm on one graph, side by side, with matplotlib."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from jaxtyping import Bool, Float, Int
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.colors import ListedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch

from algotransfer.algorithms import Algorithm, Trace, get_algorithm
from algotransfer.errors import UserError, shown
from algotransfer.files import write_atomically
from algotransfer.graphs import Graph
from algotransfer.graphs.named import check_single, unique_edges
from algotransfer.node_layout import place_nodes

# Range of viridis for the best and the worst key: readable with every kind of colour vision, and
# without its darkest part, on which outlines would not show.
BEST, WORST = 0.97, 0.25
INK, EDGE, OUTLINE, FAINT, HIGHLIGHT = "#1a1a1a", "#c9ccd1", "#8a8f98", "#6f7580", "#d55e00"
PANEL = 4.0  # inches
TEXT_MAX_NODES = 40  # larger graphs are drawn without keys and weights
MIN_DPI, MAX_DPI = 20, 2400
RADIUS = 12.0  # points; smaller in graphs without text

CENTRED: dict[str, Any] = {"ha": "center", "va": "center"}
WEIGHT_TEXT: dict[str, Any] = {"fontsize": 7, "color": FAINT, "zorder": 2.5, **CENTRED}
KEY_TEXT: dict[str, Any] = {"fontsize": 8, "zorder": 5, **CENTRED}
NOTE: dict[str, Any] = {"fontsize": 7.5, "color": INK, "zorder": 6, **CENTRED}


def draw_trace(
    algorithm: str | Algorithm,
    graph: Graph,
    trace: Trace,
    steps: Sequence[int] | None = None,
    columns: int = 3,
) -> Figure:
    """Draw steps of one trace: colours are keys, dark rings visited nodes, arrows predecessors.

    **Arguments:**

    - `graph`, `trace`: a single graph and its trace, for instance `dataset.graphs[0]` and
        `dataset.trace("dijkstra")[0]`.
    - `steps`: the steps to draw; by default six, evenly spaced.
    - `columns`: number of steps in a row.

    **Returns:** the figure, for a notebook or `save_figure`.
    """
    algorithm = get_algorithm(algorithm)
    check_single(graph)
    if trace.key.ndim != 2 or trace.key.shape[-1] != graph.num_nodes:
        raise UserError(
            f"the keys of the trace have shape {trace.key.shape}; expected (steps, "
            f"{graph.num_nodes}): give the trace of this graph alone, such as trace[0]"
        )
    if not steps:
        steps = sorted({round(length) for length in np.linspace(0, int(trace.length), 6)})
    if columns < 1 or not all(0 <= step < len(trace.key) for step in steps):
        raise UserError(
            f"steps is {shown(steps)} and columns is {columns}; expected steps from 0 to "
            f"{len(trace.key) - 1} and at least one column"
        )
    positions = place_nodes(graph) * (1, -1)  # the y axis of matplotlib points up
    drawing = Drawing(graph, positions, _colours(algorithm, np.asarray(trace.key)))

    columns = min(columns, len(steps))
    rows = -(-len(steps) // columns)
    width, height = np.ptp(positions, axis=0)
    panel = 0.6 + PANEL * max(0.25, height / max(width, height, 1e-9))
    figure = Figure(figsize=(PANEL * columns + 1, panel * rows + 1), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).ravel().tolist()
    for axis in axes:
        axis.set_axis_off()
    for axis, step in zip(axes, steps, strict=False):
        drawing.draw(axis, make_frame(algorithm, trace, step))

    figure.suptitle(f"{algorithm.title}, step by step", fontsize=15, color=INK)
    figure.colorbar(drawing.colours, ax=axes, label="key", shrink=0.6, aspect=30, pad=0.02)
    handles = _legend(trace.visited is not None)
    figure.legend(handles=handles, loc="outside lower center", ncols=5, frameon=False)
    return figure


def save_figure(figure: Figure, path: str | Path, dots_per_inch: int = 130) -> None:
    """Write a figure atomically, in the format that the suffix of `path` names (default: PNG)."""
    stream = io.BytesIO()
    kind = Path(path).suffix.removeprefix(".").lower() or "png"
    known = figure.canvas.get_supported_filetypes()
    if kind not in known:
        raise UserError(f"the suffix of {path} is {kind!r:.80}; use one of {', '.join(known)}")
    if not MIN_DPI <= dots_per_inch <= MAX_DPI:
        raise UserError(f"dots_per_inch is {dots_per_inch}; expected {MIN_DPI} to {MAX_DPI}")
    figure.savefig(stream, format=kind, dpi=dots_per_inch, facecolor="white")
    write_atomically(path, stream.getvalue())


@dataclass(frozen=True)
class Frame:
    """One step of a trace; `changed` marks the nodes visited, or given a new key, in this step."""

    title: str
    key: Float[np.ndarray, " nodes"]
    pred: Int[np.ndarray, " nodes"]
    reached: Bool[np.ndarray, " nodes"]
    visited: Bool[np.ndarray, " nodes"]
    changed: Bool[np.ndarray, " nodes"]


def make_frame(algorithm: Algorithm, trace: Trace, step: int) -> Frame:
    """Return one step of a trace and what changed in it."""
    key, before = np.asarray(trace.key[step]), max(step - 1, 0)
    reached = key != algorithm.unreached_key
    if trace.visited is None:
        visited, changed = np.zeros_like(reached), key != np.asarray(trace.key[before])
        count = int(changed.sum())
        title = f"step {step}: {count} new key{'s' * (count != 1)}"
    else:
        visited = np.asarray(trace.visited[step])
        changed = visited & ~np.asarray(trace.visited[before])
        title = f"step {step}: visits key {', '.join(map(_number, key[changed].tolist()))}"
    title = title if step else "start"
    return Frame(title, key, np.asarray(trace.pred[step]), reached, visited, changed)


@dataclass(frozen=True)
class Drawing:
    """The parts that all steps share: graph, node positions and colours of keys."""

    graph: Graph
    positions: Float[np.ndarray, "nodes 2"]
    colours: ScalarMappable

    def draw(self, axis: Axes, frame: Frame) -> None:
        """Draw one step."""
        with_text = self.graph.num_nodes <= TEXT_MAX_NODES
        scale = 1.0 if with_text else (TEXT_MAX_NODES / self.graph.num_nodes) ** 0.5 / 1.5
        self._draw_edges(axis, scale, with_text)
        self._draw_predecessors(axis, scale, frame.pred.tolist())
        self._draw_nodes(axis, scale, with_text, frame)
        source, above = tuple(self.positions[int(self.graph.source)]), (0, RADIUS * scale + 6)
        axis.annotate("source", source, above, textcoords="offset points", **NOTE)
        axis.set_title(frame.title, fontsize=11, color=INK)
        axis.margins(0.12)
        axis.set_aspect("equal")

    def _draw_edges(self, axis: Axes, scale: float, with_text: bool) -> None:
        edges = list(unique_edges(self.graph))
        lines = [self.positions[[tail, head]] for tail, head, _ in edges]
        if self.graph.directed:
            for start, end in lines:
                arrow = FancyArrowPatch(
                    tuple(start),
                    tuple(end),
                    arrowstyle="-|>",
                    color=EDGE,
                    zorder=1,
                    shrinkA=0,
                    shrinkB=RADIUS * scale,
                    mutation_scale=11 * scale,
                    linewidth=1.6 * scale,
                )
                axis.add_patch(arrow)
        else:
            axis.add_collection(LineCollection(lines, colors=EDGE, lw=1.6 * scale, zorder=1))
        if not with_text:
            return
        for (start, end), (_, _, weight) in zip(lines, edges, strict=True):
            x, y = (end - start) / max(float(np.linalg.norm(end - start)), 1e-9)
            above = (-7 * y, 7 * x) if x >= 0 else (7 * y, -7 * x)  # points, beside the edge
            label, middle = f"{weight:.2f}".removeprefix("0"), (start + end) / 2
            axis.annotate(label, tuple(middle), above, textcoords="offset points", **WEIGHT_TEXT)

    def _draw_predecessors(self, axis: Axes, scale: float, predecessors: list[int]) -> None:
        radius = RADIUS * scale
        for node, pred in enumerate(predecessors):
            if pred in (-1, node):
                continue
            arrow = FancyArrowPatch(
                tuple(self.positions[node]),
                tuple(self.positions[pred]),
                arrowstyle="-|>",
                color=INK,
                zorder=2,
                shrinkA=radius,
                shrinkB=radius + scale,
                mutation_scale=13 * scale,
                linewidth=2 * scale,
            )
            axis.add_patch(arrow)

    def _draw_nodes(self, axis: Axes, scale: float, with_text: bool, frame: Frame) -> None:
        size = 4 * (RADIUS * scale) ** 2
        shade = self.colours.to_rgba(np.clip(frame.key, *self.colours.get_clim()))
        fill = np.where(frame.reached[:, None], shade, 1.0)
        changed = self.positions[frame.changed]
        axis.scatter(*changed.T, s=1.8 * size, color=HIGHLIGHT, lw=0, zorder=3)
        axis.scatter(
            *self.positions.T,
            s=size,
            c=fill,
            edgecolors=np.where(frame.visited, INK, OUTLINE).tolist(),
            linewidths=(scale * np.where(frame.visited, 2.6, 1.0)).tolist(),
            zorder=4,
        )
        if with_text:
            rows = zip(self.positions.tolist(), frame.key.tolist(), fill, strict=True)
            for (x, y), key, rgba in rows:
                colour = "white" if np.dot(rgba[:3], (0.3, 0.59, 0.11)) < 0.5 else INK
                axis.text(x, y, _number(key), color=colour, **KEY_TEXT)


def _colours(algorithm: Algorithm, key: Float[np.ndarray, "steps nodes"]) -> ScalarMappable:
    ends = (BEST, WORST) if algorithm.smaller_is_better else (WORST, BEST)
    shades = matplotlib.colormaps["viridis"](np.linspace(*ends, 256))
    shown = key[np.isfinite(key) & (key != algorithm.unreached_key)]
    low, high = (float(shown.min()), float(shown.max())) if shown.size else (0.0, 1.0)
    return ScalarMappable(Normalize(low, high if high > low else low + 1), ListedColormap(shades))


def _number(key: float) -> str:
    return "∞" if np.isinf(key) else f"{key:.2f}".rstrip("0").rstrip(".")


def _legend(has_visits: bool) -> list[Line2D]:
    def marker(label: str, fill: str, edge: str, width: float) -> Line2D:
        look: dict[str, Any] = {"color": fill, "markeredgecolor": edge, "markeredgewidth": width}
        return Line2D([], [], linestyle="", marker="o", markersize=11, label=label, **look)

    reached = "#a5db36"
    visited = [marker("visited", reached, INK, 2.4)] if has_visits else []
    return [
        marker("not reached", "white", OUTLINE, 1),
        marker("reached", reached, OUTLINE, 1),
        *visited,
        marker(f"{'visited' if has_visits else 'changed'} in this step", reached, HIGHLIGHT, 3),
        Line2D([], [], color=INK, linewidth=2, marker="<", markevery=[0], label="predecessor"),
    ]
