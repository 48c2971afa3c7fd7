"""`compare`: several trained models on the same graphs, seed by seed."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pandas
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from algotransfer.algorithms import run
from algotransfer.datasets.dataset import Dataset
from algotransfer.errors import UserError
from algotransfer.evaluation import per_seed
from algotransfer.evaluation.by_step import evaluate_by_step
from algotransfer.evaluation.evaluate import Progress, evaluate, list_datasets, unseen_graphs
from algotransfer.experiment import differing_settings
from algotransfer.files import notify, write_atomically
from algotransfer.registry import check_name
from algotransfer.report.figures import COLOURS, METRIC_TITLES
from algotransfer.report.latex import latex_line
from algotransfer.report.statistics import welch_contrast
from algotransfer.trained_models import find_weights
from algotransfer.training.curves import read_losses
from algotransfer.training.examples import tasks_of
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
        answers alone. The other tables read the answer of a graph after as many steps as the
        algorithm takes, which is from `read_from` to `read_to` steps on these graphs.
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
        figure = draw_panels(panels)
        if len(self.by_step):
            _mark_steps(figure.axes[1], self.by_step)
        return figure

    def heads(self) -> list[str]:
        """Return the heads of the columns of `rows`."""
        return ["model", "nodes", "seeds", self.metric, "ratio (95 %)"]

    def rows(self) -> list[list[str]]:
        """Return the table as text: a row per model and size, each model named once."""
        lines: list[list[str]] = []
        for model, rows in self.table.groupby("model", sort=False):
            row: Any
            for place, row in enumerate(rows.itertuples()):
                error = f"{row.median:.3g} ({row.lowest:.3g}–{row.highest:.3g})"
                known = row.ratio == row.ratio  # not NaN
                ratio = f"{row.ratio:.2f} ({row.low:.2f}–{row.high:.2f})" if known else ""
                name = "" if place else str(model)
                lines.append([name, str(row.num_nodes), str(row.seeds), error, ratio])
        return lines

    def explanation(self) -> str:
        """Return what the columns hold, and why a ratio is missing, if one is."""
        first = self.table["model"].iloc[0]
        others: Any = self.table[self.table["model"] != first]
        text = f"{self.metric}: median (range) over seeds"
        if not len(others):
            return text
        text += f"; ratio: to {first}, of mean log errors, with a 95 % interval"
        missing = others[others["ratio"].isna()]
        if not len(missing):
            return text
        one_seed = (self.table["seeds"] < 2).any()
        reasons = ["where a seed has an error of 0, which has no logarithm"]
        reasons += ["with a single seed, which has no interval"] * bool(one_seed)
        return f"{text}. There is no ratio {', or '.join(reasons)}"

    def to_latex(self) -> str:
        """Return a table for LaTeX with the columns of `rows`."""
        lines = [
            "% Written by `algotransfer compare`; needs \\usepackage{booktabs}.",
            f"% {self.explanation()}.",
            r"\begin{tabular}{lrrrr}",
            r"\toprule",
            latex_line(self.heads()),
            r"\midrule",
        ]
        for place, row in enumerate(self.rows()):
            lines += [r"\addlinespace"] * bool(place and row[0])
            lines.append(latex_line(row))
        return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def _mark_steps(axes: Any, by_step: Any) -> None:
    """Shade the steps at which the other panels read answers."""
    low, high = int(by_step["read_from"].min()), int(by_step["read_to"].max())
    axes.axvspan(low - 0.5, high + 0.5, color="0.85", lw=0, zorder=0)
    steps = f"step {low}" if low == high else f"steps {low}–{high}"
    axes.set_xlabel(f"step (shaded: answers are read after {steps})")


def draw_panels(panels: Sequence[tuple[Any, str, str, str]]) -> Figure:
    """Draw lines by model and seed: a panel for each data frame, column of x, title and label of x.

    The frames have the columns `model`, `seed` and `value`; epochs have a logarithmic scale.
    """
    figure = Figure(figsize=(4.6 * len(panels), 3.6), layout="constrained")
    models = panels[0][0]["model"].unique()
    for axes, (frame, x, title, label) in zip(
        figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True
    ):
        marker = "o" if frame[x].nunique() == 1 else ""  # a line through one point is invisible
        for place, model in enumerate(models):
            of_model: Any = frame[frame["model"] == model].sort_values(x)
            colour = COLOURS[place % len(COLOURS)]
            for _, seed in of_model.groupby("seed"):
                axes.plot(seed[x], seed["value"], color=colour, alpha=0.3, lw=1, marker=marker)
            median = of_model.groupby(x)["value"].median()
            axes.plot(median.index, median, color=colour, label=model, lw=2, marker=marker)
        axes.set_title(title, loc="left", fontsize=9)
        axes.set_xlabel(label)
        axes.set_yscale("log" if x == "epoch" else "linear")
        if x == "num_nodes":
            axes.set_xticks(sorted(frame[x].unique()))
        else:
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.spines[["top", "right"]].set_visible(False)
    figure.axes[0].legend(frameon=False, fontsize="small")
    return figure


def compare(
    models: Sequence[str | Path | Model],
    datasets: Dataset | Mapping[int, Dataset] | Iterable[Dataset] | None = None,
    *,
    metric: str = "pred",
    progress: Progress = lambda done, total: None,
) -> Comparison:
    """Measure several models on the same graphs.

    **Arguments:**

    - `models`: models, run folders, weights files, or names of trained models.
    - `datasets`: one dataset or more of test graphs, which all models see; by default 20 graphs of
        each of the paper's families with 20, 50 and 100 nodes.
    - `metric`: the error to compare, such as `pred` or `key`.
    """
    if not models:
        raise UserError("no model; give at least one run folder, weights file or name")
    loaded = [load_model(model) for model in models]
    _check_models(models, loaded)
    labels = label_models(models, loaded)
    graphs = list_datasets(unseen_graphs(num_graphs=NUM_GRAPHS) if datasets is None else datasets)
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
        if tasks_of(model.experiment)[-1].supervision.told_steps:
            steps: Any = evaluate_by_step(
                model, [largest], progress=lambda done, _, report=report: report(once + done, _)
            )
            steps = steps.groupby(["seed", "num_nodes", "step"], as_index=False)["value"].mean()
            length = np.asarray(run(model.experiment.target, largest.graphs, record="final").length)
            read = {"read_from": int(length.min()), "read_to": int(length.max())}
            by_step.append(steps.assign(model=label, **read))
    all_errors = pandas.concat(errors, ignore_index=True)
    return Comparison(
        metric,
        _table(all_errors, labels),
        all_errors,
        pandas.concat(by_step, ignore_index=True) if by_step else pandas.DataFrame(),
        _losses(models, labels),
    )


def _check_models(models: Sequence[str | Path | Model], loaded: Sequence[Model]) -> None:
    """Raise a `UserError` if a model is given twice; warn if targets differ."""
    for place, model in enumerate(loaded):
        for before, other in enumerate(loaded[:place]):
            if _same(model, other):
                first, second = (
                    f"model {k + 1} ({model.experiment.short_name if isinstance(m, Model) else m})"
                    for k, m in ((before, models[before]), (place, models[place]))
                )
                raise UserError(
                    f"{second} has the seeds and weights of {first}, which would count twice; "
                    "give each model once"
                )
    targets = dict.fromkeys(model.experiment.target for model in loaded)
    if len(targets) > 1:
        notify(
            f"the models have different targets ({', '.join(targets)}): each row is an error "
            "against the answers of its own target, so compare rows only if the answers are equal"
        )


def _same(one: Model, other: Model) -> bool:
    """Whether two models have equal settings, seeds and weights."""
    if (one.experiment, one.seeds) != (other.experiment, other.seeds):
        return False
    pairs = zip(jax.tree.leaves(one.networks), jax.tree.leaves(other.networks), strict=True)
    return all(np.array_equal(ours, theirs, equal_nan=True) for ours, theirs in pairs)


def label_models(models: Sequence[str | Path | Model], loaded: Sequence[Model]) -> list[str]:
    """Name models by their experiments, and what differs, or else their place, in brackets."""
    experiments = [model.experiment for model in loaded]
    names = [experiment.short_name for experiment in experiments]
    places = [
        str(k) if isinstance(m, Model) else Path(m).name for k, m in enumerate(models, start=1)
    ]
    numbers = [str(k) for k in range(1, len(names) + 1)]
    count, labels = Counter(names), names
    for details in (differing_settings(experiments), places, numbers):
        if len(set(labels)) == len(labels):
            break
        labels = [
            name if count[name] == 1 else f"{name} ({detail})"
            for name, detail in zip(names, details, strict=True)
        ]
    return labels


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
                low, high = map(math.exp, contrast.interval())
                row |= {"ratio": math.exp(contrast.estimate), "low": low, "high": high}
            rows.append(row)
    return pandas.DataFrame(rows, columns=[*rows[0], "ratio", "low", "high"])


def _losses(models: Sequence[str | Path | Model], labels: Sequence[str]) -> pandas.DataFrame:
    """Read the learning curves of run folders."""
    parts = [pandas.DataFrame(columns=["model", "seed", "epoch", "value"])]
    for label, source in zip(labels, models, strict=True):
        if not isinstance(source, Model):
            losses: Any = read_losses(find_weights(source).parent).assign(model=label)
            parts.append(losses.rename(columns={"validation_loss": "value"})[[*parts[0]]])
    return pandas.concat([part for part in parts if len(part)] or parts, ignore_index=True)
