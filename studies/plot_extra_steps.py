"""Plot the predecessor error by step of every variant of `studies/extra_steps.md`.

    python studies/plot_extra_steps.py
    python studies/plot_extra_steps.py --table results/extra-steps-validation.csv --out figure.png

One panel per variant and one line per seed; the last panel has the errors after the true number of
steps.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from algotransfer.draw import save_figure

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "results" / "extra-steps-validation.csv"
PICTURE = ROOT / "docs" / "images" / "extra_steps.png"
TITLES = {
    "none": "none",
    "exact10": "exactly 10 extra",
    "random3": "random 0–3 extra",
    "random10": "random 0–10 extra",
    "random30": "random 0–30 extra",
    "mixed": "mixed sizes 8–20",
    "progressive": "progressive",
}
HORIZON = 20  # steps of the longest training rollout without extra steps
COLOUR = "#0072b2"


def errors_by_seed(table: pandas.DataFrame) -> pandas.Series:
    """Return the mean error over families, by variant, seed and step (`told`: the true end)."""
    return table.groupby(["variant", "seed", "step"])["value"].mean()


def draw_seeds(axes: Axes, errors: pandas.Series) -> None:
    """Draw errors by seed and step: a line per seed, and the training horizon."""
    for _, values in errors.groupby("seed"):
        steps = values.index.get_level_values("step").astype(int)
        curve = pandas.Series(values.to_numpy(), steps).sort_index()
        axes.plot(curve.index, curve, color=COLOUR, linewidth=0.9, alpha=0.7)
    axes.axvline(HORIZON, color="black", linewidth=0.8, linestyle=":")


def draw(table: pandas.DataFrame) -> Figure:
    """Draw a panel of lines per variant, and one panel of errors at the true end."""
    errors = errors_by_seed(table)
    names = [name for name in TITLES if name in errors.index.levels[0]]
    figure = Figure(figsize=(10, 4.6), layout="constrained")
    panels = figure.subplots(2, 4, sharey=True).flat
    for axes, name in zip(panels, names, strict=False):
        draw_seeds(axes, errors[name].drop("told", level="step"))
        axes.set(title=TITLES[name], xlabel="step")
    last = figure.axes[-1]
    for place, name in enumerate(names):
        told = errors[name].xs("told", level="step")
        last.plot([place] * len(told), told, "o", color=COLOUR, markersize=3.5, alpha=0.7)
        last.plot(place, told.median(), "_", color="black", markersize=14)
    last.set_xticks(range(len(names)), names, rotation=60, ha="right", fontsize=7)
    last.set(title="after the true number of steps")
    for axes in figure.axes:
        axes.set_yscale("log")
        axes.title.set_fontsize(10)
    figure.supylabel("predecessor error, 100 nodes")
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--table", type=Path, default=TABLE, help="tidy table (.csv)")
    parser.add_argument("--out", type=Path, default=PICTURE, help="figure to write (.png)")
    arguments = parser.parse_args()
    table = pandas.read_csv(arguments.table, dtype={"step": str})
    save_figure(draw(table), arguments.out, dots_per_inch=90)
    print(f"wrote {arguments.out}")


if __name__ == "__main__":
    main()
