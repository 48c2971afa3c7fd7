"""`compare`: several trained models on the same graphs, seed by seed."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas
from matplotlib.figure import Figure

from algotransfer.datasets.dataset import Dataset
from algotransfer.errors import UserError, shown
from algotransfer.evaluation import per_seed
from algotransfer.evaluation.by_step import evaluate_by_step
from algotransfer.evaluation.evaluate import evaluate, unseen_graphs
from algotransfer.evaluation.evaluate_networks import Progress
from algotransfer.files import write_atomically
from algotransfer.registry import check_name
from algotransfer.report.figures import COLOURS, METRIC_TITLES
from algotransfer.report.latex import escape
from algotransfer.report.statistics import welch_contrast
from algotransfer.trained_models import find_weights
from algotransfer.training.curves import read_losses
from algotransfer.training.runs import Model, load_model

NUM_GRAPHS = 20  # of each family and size


@dataclass(frozen=True, eq=False)
class Comparison:
    """Errors and learning curves of several models, as tidy tables.

    **Arguments:**

    - `table`: a row per model and number of nodes: `median`, `lowest` and `highest` error over
        seeds; `ratio` of its mean log error to that of the first model, with the 95 % interval
        `low`–`high` (Welch). Ratios are missing for one seed, and where an error is 0.
    - `errors`: the error of every seed, a mean over families.
    - `by_step`: predecessor errors by step at the largest size, of models that learned from
        answers alone.
    - `losses`: validation loss by epoch and seed, of run folders.
    """

    metric: str
    table: Any
    errors: Any
    by_step: Any
    losses: Any

    def save(self, folder: str | Path) -> list[Path]:
        """Write the tables as CSV, the first one as LaTeX too, and the figure as PNG."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        texts = {
            "table.csv": self.table.to_csv(index=False),
            "errors.csv": self.errors.to_csv(index=False),
            "table.tex": self.to_latex(),
        }
        if len(self.by_step):
            texts["by-step.csv"] = self.by_step.to_csv(index=False)
        if len(self.losses):
            texts["losses.csv"] = self.losses.to_csv(index=False)
        for name, text in texts.items():
            write_atomically(folder / name, text.encode())
        self.draw().savefig(folder / "comparison.png", dpi=150)
        return [*(folder / name for name in texts), folder / "comparison.png"]

    def draw(self) -> Figure:
        """Draw error by size, error by step and learning curves; thin lines are seeds."""
        panels = [(self.errors, "num_nodes", METRIC_TITLES.get(self.metric, self.metric), "nodes")]
        if len(self.by_step):
            nodes = self.by_step["num_nodes"].iloc[0]
            panels.append((self.by_step, "step", f"predecessor error, {nodes} nodes", "step"))
        if len(self.losses):
            panels.append((self.losses, "epoch", "validation loss", "epoch"))
        return draw_panels(panels)

    def to_latex(self) -> str:
        """Return a table for LaTeX: a row per model, a column per number of nodes."""
        sizes = sorted(self.table["num_nodes"].unique())
        lines = [
            "% Written by `algotransfer compare`; needs \\usepackage{booktabs}.",
            rf"\begin{{tabular}}{{l{'r' * len(sizes)}}}",
            r"\toprule",
            " & ".join(["model", *(f"{size} nodes" for size in sizes)]) + r" \\",
            r"\midrule",
        ]
        for model, rows in self.table.groupby("model", sort=False):
            cells = [error_text(row) for row in rows.sort_values("num_nodes").itertuples()]
            lines.append(" & ".join([escape(str(model)), *map(escape, cells)]) + r" \\")
        return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def error_text(row: Any) -> str:
    """Return a median with the range of the seeds, such as `0.041 (0.034–0.090)`."""
    return f"{row.median:.3g} ({row.lowest:.3g}–{row.highest:.3g})"


def draw_panels(panels: Sequence[tuple[Any, str, str, str]]) -> Figure:
    """Draw lines by model and seed: a panel for each data frame, column of x, title and label of x.

    The frames have the columns `model`, `seed` and `value`; epochs have a logarithmic scale.
    """
    figure = Figure(figsize=(4.6 * len(panels), 3.6), layout="constrained")
    models = panels[0][0]["model"].unique()
    for axes, (frame, x, title, label) in zip(
        figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True
    ):
        for place, model in enumerate(models):
            of_model: Any = frame[frame["model"] == model].sort_values(x)
            colour = COLOURS[place % len(COLOURS)]
            for _, seed in of_model.groupby("seed"):
                axes.plot(seed[x], seed["value"], color=colour, alpha=0.3, lw=1)
            median = of_model.groupby(x)["value"].median()
            axes.plot(median.index, median, color=colour, label=model, lw=2)
        axes.set_title(title, loc="left", fontsize=9)
        axes.set_xlabel(label)
        axes.set_yscale("log" if x == "epoch" else "linear")
        axes.spines[["top", "right"]].set_visible(False)
    figure.axes[0].legend(frameon=False, fontsize="small")
    return figure


def compare(
    models: Sequence[str | Path | Model],
    datasets: Iterable[Dataset] | None = None,
    *,
    metric: str = "pred",
    progress: Progress = lambda done, total: None,
) -> Comparison:
    """Measure several models on the same graphs.

    **Arguments:**

    - `models`: models, run folders, weights files, or names of trained models.
    - `datasets`: test graphs, which all models see; by default 20 of each of the paper's families
        with 20, 50 and 100 nodes.
    - `metric`: the error to compare, such as `pred` or `key`.
    """
    if not models:
        raise UserError("no model; give at least one run folder, weights file or name")
    loaded = [m if isinstance(m, Model) else load_model(m) for m in models]
    labels = label_models(models, loaded)
    graphs = [*(unseen_graphs(num_graphs=NUM_GRAPHS).values() if datasets is None else datasets)]
    if not graphs or not all(isinstance(dataset, Dataset) for dataset in graphs):
        raise UserError(f"datasets are {shown(graphs)}; expected one Dataset or more")
    largest = max(graphs, key=lambda dataset: dataset.num_nodes)
    once = sum(map(len, graphs))
    each = once + len(largest)  # errors by step run the largest graphs again
    errors, by_step = [], []
    for place, (label, model) in enumerate(zip(labels, loaded, strict=True)):

        def report(done, _, before=place * each):
            progress(before + done, each * len(loaded))

        frame: Any = evaluate(model, graphs, report)
        check_name("metric", metric, frame["metric"].unique())
        seeds: Any = per_seed(frame[(frame["metric"] == metric) & (frame["row"] == "network")])
        errors.append(
            seeds.rename(columns={"mean": "value"})[["seed", "num_nodes", "value"]].assign(
                model=label
            )
        )
        if model.experiment.supervision != "tf":
            steps: Any = evaluate_by_step(
                model, [largest], progress=lambda done, _, report=report: report(once + done, _)
            )
            steps = steps.groupby(["seed", "num_nodes", "step"], as_index=False)["value"].mean()
            by_step.append(steps.assign(model=label))
    all_errors = pandas.concat(errors, ignore_index=True)
    return Comparison(
        metric,
        _table(all_errors, labels),
        all_errors,
        pandas.concat(by_step, ignore_index=True) if by_step else pandas.DataFrame(),
        _losses(models, labels),
    )


def label_models(models: Sequence[str | Path | Model], loaded: Sequence[Model]) -> list[str]:
    """Name models by their experiments, and by their place too where that is not unique."""
    names = [model.experiment.short_name for model in loaded]
    count = Counter(names)
    return [
        name if count[name] == 1 else f"{name} ({Path(m).name if not isinstance(m, Model) else k})"
        for k, (name, m) in enumerate(zip(names, models, strict=True), start=1)
    ]


def _table(errors: Any, labels: Sequence[str]) -> pandas.DataFrame:
    samples: dict[tuple[str, int], np.ndarray] = {
        (str(model), int(num_nodes)): values.to_numpy()
        for (model, num_nodes), values in errors.groupby(["model", "num_nodes"])["value"]
    }
    rows = []
    for model in labels:
        for num_nodes in sorted({size for _, size in samples}):
            values, first = samples[model, num_nodes], samples[labels[0], num_nodes]
            row = {
                "model": model,
                "num_nodes": num_nodes,
                "seeds": len(values),
                "median": float(np.median(values)),
                "lowest": float(values.min()),
                "highest": float(values.max()),
            }
            comparable = model != labels[0] and min(len(values), len(first)) > 1
            if comparable and min(values.min(), first.min()) > 0:
                contrast = welch_contrast([np.log(values), -np.log(first)])
                low, high = contrast.interval()
                row |= {"ratio": math.exp(contrast.estimate)}
                row |= {"low": math.exp(low), "high": math.exp(high)}
            rows.append(row)
    columns = [*rows[0], "ratio", "low", "high"]
    return pandas.DataFrame(rows, columns=list(dict.fromkeys(columns)))


def _losses(models: Sequence[str | Path | Model], labels: Sequence[str]) -> pandas.DataFrame:
    """Read the learning curves of run folders."""
    parts = [pandas.DataFrame(columns=["model", "seed", "epoch", "value"])]
    for label, source in zip(labels, models, strict=True):
        if not isinstance(source, Model):
            losses: Any = read_losses(find_weights(source).parent).assign(model=label)
            parts.append(losses.rename(columns={"validation_loss": "value"})[[*parts[0]]])
    return pandas.concat([part for part in parts if len(part)] or parts, ignore_index=True)
