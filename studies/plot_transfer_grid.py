"""Plot the errors of the transfer methods of `studies/transfer_grid.md`, one dot per seed.

    python studies/plot_transfer_grid.py
    python studies/plot_transfer_grid.py --table results/transfer-grid-test.csv --out figure.png

One panel per network and target. Filled dots are read at the end of the rollout, open ones after
20 steps, the longest training rollout.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from algotransfer.draw import save_figure

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "results" / "transfer-grid-test.csv"
PICTURE = ROOT / "docs" / "images" / "transfer_grid.png"
PANELS = {
    ("ne", "dijkstra"): "NE, Dijkstra",
    ("ne", "reliable_seq"): "NE, most reliable path",
    ("ne++", "dijkstra"): "NE++, Dijkstra",
    ("ne++", "reliable_seq"): "NE++, most reliable path",
}
METHODS = {
    "none": "none",
    "freeze": "freeze",
    "fine_tune": "fine-tune",
    "two_processor": "two processors",
    "multitask": "multi-task",
}
READINGS = {"told": ("at the end", 0.12), "horizon": ("after 20 steps", -0.12)}
TICKS = [0.03, 0.05, 0.1, 0.2, 0.5]
COLOURS = {"told": "#0072b2", "horizon": "#d55e00"}


def errors_by_seed(table: pandas.DataFrame) -> pandas.Series:
    """Return the mean error over families, by network, target, method, reading and seed."""
    wanted = table[(table["metric"] == "pred") & (table["num_nodes"] == 100)]
    return wanted.groupby(["model", "target", "method", "halt", "seed"])["value"].mean()


def draw_panel(axes: Axes, errors: pandas.Series) -> None:
    """Draw the seeds of every method, with a bar at their median, for both readings."""
    for halt, (label, shift) in READINGS.items():
        face = COLOURS[halt] if halt == "told" else "none"
        for place, method in enumerate(METHODS):
            values = errors[method][halt]
            axes.plot(
                [place + shift] * len(values),
                values,
                "o",
                color=COLOURS[halt],
                markerfacecolor=face,
                markersize=4,
                label=label if place == 0 else None,
            )
            axes.plot(place + shift, values.median(), "_", color="black", markersize=11)
    axes.set_xticks(range(len(METHODS)), METHODS.values(), rotation=40, ha="right", fontsize=8)
    axes.set_yscale("log")


def draw(table: pandas.DataFrame) -> Figure:
    """Draw a panel for every network and target."""
    errors = errors_by_seed(table)
    figure = Figure(figsize=(10, 3.3), layout="constrained")
    panels = figure.subplots(1, len(PANELS), sharey=True)
    for axes, (names, title) in zip(panels, PANELS.items(), strict=True):
        draw_panel(axes, errors[names])
        axes.set_title(title, fontsize=10)
    panels[0].set_yticks(TICKS, map(str, TICKS))
    panels[0].set_yticks([], minor=True)
    panels[0].set_ylabel("predecessor error, 100 nodes")
    panels[-1].legend(fontsize=8, loc="lower right")
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--table", type=Path, default=TABLE, help="tidy table (.csv)")
    parser.add_argument("--out", type=Path, default=PICTURE, help="figure to write (.png)")
    arguments = parser.parse_args()
    save_figure(draw(pandas.read_csv(arguments.table)), arguments.out, dots_per_inch=90)
    print(f"wrote {arguments.out}")


if __name__ == "__main__":
    main()
