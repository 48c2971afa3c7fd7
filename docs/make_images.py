"""Draw the figures of the documentation: `python docs/make_images.py`.

They are drawn from the package and from `results/results.csv`; nothing is trained.
"""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from algotransfer import draw_trace, make_dataset
from algotransfer.draw import save_figure
from algotransfer.report.cells import seed_values
from algotransfer.report.collect import read_results
from algotransfer.report.figures import draw_methods, draw_networks

IMAGES = Path(__file__).parent / "images"
RESULTS = Path(__file__).parents[1] / "results" / "results.csv"

BASE, FRESH, PLAIN, INK = "#0072b2", "#d55e00", "#8a8f98", "#1a1a1a"
METHODS = {  # processors: name, colour, whether frozen
    "none": [("fresh", FRESH, False)],
    "freeze": [("base", BASE, True)],
    "fine_tune": [("base", BASE, False)],
    "two_processor": [("base", BASE, True), ("fresh", FRESH, False)],
    "multitask": [("shared", FRESH, False)],
}


def trace(algorithm: str, steps: list[int] | None = None) -> Figure:
    """Draw steps of an algorithm on a grid of twelve nodes."""
    dataset = make_dataset("grid", num_graphs=4, num_nodes=12, shape="square")
    return draw_trace(algorithm, dataset.graphs[3], dataset.trace(algorithm)[3], steps)


def transfer_methods() -> Figure:
    """Draw the parts of the target's network for each method; frozen parts are hatched."""
    figure = Figure(figsize=(9, 2.7), layout="constrained")
    for axes, (method, processors) in zip(figure.subplots(1, 5), METHODS.items(), strict=True):
        axes.set_axis_off()
        axes.set_xlim(0, 10)
        axes.set_ylim(-0.4, 10)
        axes.set_title(method, fontsize=11, color=INK, family="monospace")
        tasks = ["base", "target"] if method == "multitask" else ["target"]
        for place, task in enumerate(tasks):
            x = 5 if len(tasks) == 1 else (2.3, 7.7)[place]
            _box(axes, x, 8.4, f"encode\n{task}", PLAIN)
            _box(axes, x, 1.2, f"decode\n{task}", PLAIN)
            for k in range(len(processors)):
                middle = 5 if len(processors) == 1 else (2.3, 7.7)[k]
                _arrow(axes, (x, 7.3), (middle, 6.0))
                _arrow(axes, (middle, 3.6), (x, 2.3))
        for k, (name, colour, frozen) in enumerate(processors):
            middle = 5 if len(processors) == 1 else (2.3, 7.7)[k]
            _box(axes, middle, 4.8, name, colour, frozen)
        if len(processors) > 1:
            axes.text(5, 4.8, "+", ha="center", va="center", fontsize=13, color=INK)
    return figure


def _box(axes, x: float, y: float, text: str, colour: str, frozen: bool = False) -> None:
    style = {"boxstyle": "round,pad=0.1,rounding_size=0.4", "linewidth": 1.6, "edgecolor": colour}
    face = {"facecolor": "white", "hatch": "////" if frozen else None}
    axes.add_patch(FancyBboxPatch((x - 1.9, y - 1), 3.8, 2, **style, **face))
    behind = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none"}
    axes.text(x, y, text, ha="center", va="center", fontsize=8, color=INK, bbox=behind)


def _arrow(axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    axes.add_patch(FancyArrowPatch(start, end, arrowstyle="-|>", mutation_scale=9, color=INK, lw=1))


def main() -> None:
    """Draw all figures into `docs/images/`."""
    IMAGES.mkdir(exist_ok=True)
    save_figure(trace("dijkstra"), IMAGES / "dijkstra.png", dots_per_inch=80)
    save_figure(trace("bellman_ford", [0, 1, 2]), IMAGES / "bellman_ford.png", dots_per_inch=80)
    save_figure(transfer_methods(), IMAGES / "transfer.png", dots_per_inch=110)
    values = seed_values(read_results(RESULTS))
    for name, draw in {"results": draw_methods, "sizes": draw_networks}.items():
        figure = draw(values, "dijkstra")
        assert figure is not None, f"{RESULTS} has no run on Dijkstra"
        save_figure(figure, IMAGES / f"{name}.png", dots_per_inch=110)


if __name__ == "__main__":
    main()
