"""Pictures of traces: a few steps of an algorithm on one graph, side by side."""

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
from algotransfer.graphs import Graph, to_networkx
from algotransfer.graphs.named import check_single

# Viridis without its darkest part: the lighter, the better the key. It is even in lightness, so it
# serves every kind of colour vision, and light enough for dark outlines to show.
BEST, WORST = 0.97, 0.25
INK, EDGE, OUTLINE, FAINT, HIGHLIGHT = "#1a1a1a", "#c9ccd1", "#8a8f98", "#6f7580", "#d55e00"
PANEL = 4.0  # inches
TEXT_UP_TO = 40  # nodes up to which keys and weights are written out
LEAST_DOTS, MOST_DOTS = 20, 2400  # per inch: text needs some, and memory has an end
RADIUS = 12.0  # points; smaller where nothing is written into the nodes

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
    """Draws steps of one execution: colours are keys, rings are visits, arrows predecessors.

    **Arguments:**

    - `graph`, `trace`: a single graph and its trace, for instance `dataset.graphs[0]` and
        `dataset.trace("dijkstra")[0]`.
    - `steps`: which steps to draw; six, evenly spread, if not given.

    **Returns:** the figure, to be shown in a notebook or given to `save_figure`.
    """
    algorithm = get_algorithm(algorithm)
    check_single(graph)
    if trace.key.ndim != 2 or trace.key.shape[-1] != graph.num_nodes:
        raise UserError(
            f"a trace of keys of shape {trace.key.shape} does not belong to one graph of "
            f"{graph.num_nodes} nodes; take the trace of this graph, such as trace[0]"
        )
    if not steps:
        steps = sorted({round(length) for length in np.linspace(0, int(trace.length), 6)})
    if columns < 1 or not all(0 <= step < len(trace.key) for step in steps):
        raise UserError(
            f"steps {shown(steps)} in {columns} columns; expected steps from 0 to "
            f"{len(trace.key) - 1}, and at least one column"
        )
    drawing = Drawing(graph, arrange(graph), _colours(algorithm, np.asarray(trace.key)))

    columns = min(columns, len(steps))
    rows = -(-len(steps) // columns)
    width, height = np.ptp(drawing.at, axis=0)
    panel = 0.6 + PANEL * max(0.25, height / max(width, height, 1e-9))
    figure = Figure(figsize=(PANEL * columns + 1, panel * rows + 1), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).ravel().tolist()
    for axis in axes:
        axis.set_axis_off()
    for axis, step in zip(axes, steps, strict=False):
        drawing.draw(axis, Frame.of(algorithm, trace, step))

    figure.suptitle(f"{algorithm.title}, step by step", fontsize=15, color=INK)
    figure.colorbar(drawing.colours, ax=axes, label="key", shrink=0.6, aspect=30, pad=0.02)
    figure.legend(handles=_legend(algorithm), loc="outside lower center", ncols=5, frameon=False)
    return figure


def save_figure(figure: Figure, path: str | Path, dots_per_inch: int = 130) -> None:
    """Writes a figure in the format that the suffix names, whole or not at all."""
    stream = io.BytesIO()
    kind = Path(path).suffix.removeprefix(".").lower() or "png"
    known = figure.canvas.get_supported_filetypes()
    if kind not in known or not LEAST_DOTS <= dots_per_inch <= MOST_DOTS:
        raise UserError(
            f"{path} with {dots_per_inch} dots per inch; expected one of the suffixes "
            f"{', '.join(known)}, and {LEAST_DOTS} to {MOST_DOTS} dots"
        )
    figure.savefig(stream, format=kind, dpi=dots_per_inch, facecolor="white")
    write_atomically(path, stream.getvalue())


def arrange(graph: Graph) -> Float[np.ndarray, "nodes 2"]:
    """Places for the nodes such that distances in the picture resemble those in the graph."""
    import networkx

    network = to_networkx(graph)
    hops = dict(networkx.all_pairs_shortest_path_length(network))
    apart = 1 + max(max(row.values()) for row in hops.values())  # for nodes that no path joins
    hops = {u: {v: hops[u].get(v, apart) for v in network} for u in network}
    place = networkx.kamada_kawai_layout(network, dist=hops)
    position = np.array([place[node] for node in range(graph.num_nodes)])
    position -= position.mean(axis=0)
    # The longest direction lies flat, with the source in its left half.
    _, _, axes = np.linalg.svd(position.T @ position)
    position = position @ axes.T
    if position[int(graph.source), 0] > 0:
        position = -position
    return position


@dataclass(frozen=True)
class Frame:
    """One step of a trace, and what is new in it."""

    title: str
    key: Float[np.ndarray, " nodes"]
    pred: Int[np.ndarray, " nodes"]
    reached: Bool[np.ndarray, " nodes"]
    visited: Bool[np.ndarray, " nodes"]
    changed: Bool[np.ndarray, " nodes"]

    @classmethod
    def of(cls, algorithm: Algorithm, trace: Trace, step: int) -> Frame:
        """Takes one step out of a trace."""
        key, before = np.asarray(trace.key[step]), max(step - 1, 0)
        reached = key != algorithm.unreached_key
        if trace.visited is None:
            visited, changed = np.zeros_like(reached), key != np.asarray(trace.key[before])
        else:
            visited = np.asarray(trace.visited[step])
            changed = visited & ~np.asarray(trace.visited[before])
        if step == 0:
            title = "start"
        elif algorithm.sequential:
            title = f"step {step}: visits key {', '.join(map(_number, key[changed].tolist()))}"
        else:
            count = int(changed.sum())
            title = f"step {step}: {count} new key{'s' * (count != 1)}"
        return cls(title, key, np.asarray(trace.pred[step]), reached, visited, changed)


@dataclass(frozen=True)
class Drawing:
    """What all steps have in common: the graph, the nodes' places, the colours of keys."""

    graph: Graph
    at: Float[np.ndarray, "nodes 2"]
    colours: ScalarMappable

    def draw(self, axis: Axes, frame: Frame) -> None:
        """Draws one step."""
        written = self.graph.num_nodes <= TEXT_UP_TO
        radius = RADIUS if written else RADIUS * (TEXT_UP_TO / self.graph.num_nodes) ** 0.5 / 1.5
        scale, size = radius / RADIUS, 4 * radius**2

        self._draw_edges(axis, scale, written)
        style: dict[str, Any] = {"arrowstyle": "-|>", "color": INK, "zorder": 2}
        for node, pred in enumerate(frame.pred.tolist()):
            if pred in (-1, node):
                continue
            arrow = FancyArrowPatch(
                self._place(node),
                self._place(pred),
                shrinkA=radius,
                shrinkB=radius + scale,
                mutation_scale=13 * scale,
                linewidth=2 * scale,
                **style,
            )
            axis.add_patch(arrow)

        shade = self.colours.to_rgba(np.clip(frame.key, *self.colours.get_clim()))
        fill = np.where(frame.reached[:, None], shade, 1.0)
        axis.scatter(*self.at[frame.changed].T, s=1.8 * size, color=HIGHLIGHT, lw=0, zorder=3)
        axis.scatter(
            *self.at.T,
            s=size,
            c=fill,
            edgecolors=np.where(frame.visited, INK, OUTLINE).tolist(),
            linewidths=(scale * np.where(frame.visited, 2.6, 1.0)).tolist(),
            zorder=4,
        )
        if written:
            for node, key in enumerate(frame.key.tolist()):
                dark = np.dot(fill[node, :3], (0.3, 0.59, 0.11)) < 0.5
                colour = "white" if dark else INK
                axis.text(*self._place(node), _number(key), color=colour, **KEY_TEXT)
        below: dict[str, Any] = {"xytext": (0, -radius - 6), "textcoords": "offset points"}
        axis.annotate("source", self._place(int(self.graph.source)), **below, **NOTE)
        axis.set_title(frame.title, fontsize=11, color=INK)
        axis.margins(0.12)
        axis.set_aspect("equal")

    def _draw_edges(self, axis: Axes, scale: float, written: bool) -> None:
        once = np.asarray(self.graph.senders) < np.asarray(self.graph.receivers)
        edges = np.stack([self.graph.senders, self.graph.receivers], axis=1)[once]
        ends = self.at[edges]  # edges × 2 ends × 2 coordinates
        axis.add_collection(LineCollection(list(ends), colors=EDGE, lw=1.6 * scale, zorder=1))
        if not written:
            return
        for (start, end), weight in zip(ends, np.asarray(self.graph.weights)[once], strict=True):
            x, y = (end - start) / max(float(np.linalg.norm(end - start)), 1e-9)
            above = (-7 * y, 7 * x) if x >= 0 else (7 * y, -7 * x)  # points, beside the edge
            label, middle = f"{weight:.2f}".removeprefix("0"), (start + end) / 2
            axis.annotate(label, tuple(middle), above, textcoords="offset points", **WEIGHT_TEXT)

    def _place(self, node: int) -> tuple[float, float]:
        x, y = self.at[node]
        return float(x), float(y)


def _colours(algorithm: Algorithm, key: Float[np.ndarray, "steps nodes"]) -> ScalarMappable:
    ends = (BEST, WORST) if algorithm.smaller_is_better else (WORST, BEST)
    shades = matplotlib.colormaps["viridis"](np.linspace(*ends, 256))
    shown = key[np.isfinite(key) & (key != algorithm.unreached_key)]
    low, high = (float(shown.min()), float(shown.max())) if shown.size else (0.0, 1.0)
    return ScalarMappable(Normalize(low, high if high > low else low + 1), ListedColormap(shades))


def _number(key: float) -> str:
    return "∞" if np.isinf(key) else f"{key:.2f}".rstrip("0").rstrip(".")


def _legend(algorithm: Algorithm) -> list[Line2D]:
    def marker(label: str, fill: str, edge: str, width: float) -> Line2D:
        look: dict[str, Any] = {"color": fill, "markeredgecolor": edge, "markeredgewidth": width}
        return Line2D([], [], linestyle="", marker="o", markersize=11, label=label, **look)

    reached = "#a5db36"
    states = [marker("not reached", "white", OUTLINE, 1), marker("reached", reached, OUTLINE, 1)]
    if algorithm.sequential:
        states.append(marker("visited", reached, INK, 2.4))
    new = "visited in this step" if algorithm.sequential else "changed in this step"
    return [
        *states,
        marker(new, reached, HIGHLIGHT, 3),
        Line2D([], [], color=INK, linewidth=2, marker="<", markevery=[0], label="predecessor"),
    ]
