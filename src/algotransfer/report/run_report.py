"""The report of any runs: settings, errors by size and learning curves, without the paper's tables.

The numbers are those that `evaluate` saved in the run folders.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import pandas

from algotransfer.datasets.dataset import total_graphs
from algotransfer.errors import UserError
from algotransfer.evaluation import per_seed
from algotransfer.evaluation.evaluate import EVALUATION, read_evaluation
from algotransfer.evaluation.metrics import METRICS
from algotransfer.evaluation.result_tables import number
from algotransfer.evaluation.summary import population_std
from algotransfer.files import notify
from algotransfer.report.collect import changed_settings, name_rows, trained_runs
from algotransfer.report.compare import draw_panels, label_models
from algotransfer.report.figures import METRIC_TITLES
from algotransfer.report.report_data import ReportData
from algotransfer.report.report_tables import REFERENCE_NAMES, ReportRow, ReportTable, row_cells
from algotransfer.report.sections import ReportFigure, Section
from algotransfer.trained_models import WEIGHTS, find_weights
from algotransfer.training.curves import read_losses
from algotransfer.training.runs import Model, load_model

LEGEND = (
    "Each number is the mean ± standard deviation over seeds (the population's) of a run, as "
    "`algotransfer evaluate` saved it; each seed is a mean over the graph families that were "
    "evaluated. `tables.csv` has the median and the range over seeds. `pred`, `next`, `worse` and "
    "`no_path` are error rates, `key` is a mean squared error, `cost` is that of the predicted "
    "paths divided by the best; `term`, `tree`, `exact` and `micro_f1` are better when larger. "
    "Rows without a number of seeds are references, which need no network. "
    "Runs that were evaluated on other graphs are not comparable; `algotransfer compare` evaluates "
    "several models on the same graphs, with intervals."
)
LINES = "Bold lines are medians over seeds, thin lines single seeds."
HEADS = ("run", "test graphs", "seeds")
PAPER_METRICS = ("next", "key", "pred", "term")  # in the first table, others are folded


def find_runs(names: Iterable[str | Path]) -> list[Path]:
    """Return the evaluated run folders of names, run folders, and folders of runs.

    Runs in a folder of runs that were not evaluated, such as base models, or cannot be loaded, are
    left out with a `Notice`; a run named itself must have an evaluation.
    """
    found: list[Path] = []
    for name in names:
        inside = [run for run, _ in trained_runs(name)]
        unusable = len([*Path(name).glob(f"*/*/{WEIGHTS}")]) - len(inside)
        runs = inside if inside or unusable else [find_weights(name).parent]
        evaluated = [run for run in runs if (run / EVALUATION).is_file()]
        if not evaluated and unusable:
            others = f", {len(runs)} not evaluated (run `algotransfer evaluate RUN`)"
            raise UserError(
                f"none of the runs in {name} can be used: {unusable} not loaded (see the notes)"
                + others * bool(runs)
            )
        if not evaluated:
            raise UserError(
                f"{name} has no {EVALUATION}; a report is made of run folders that `algotransfer "
                "evaluate RUN` has evaluated (`algotransfer compare` takes any trained models)"
            )
        if left := len(runs) - len(evaluated):
            notify(f"{name}: left out {left} of {len(runs)} runs, which have no {EVALUATION}")
        found += evaluated
    return list(dict.fromkeys(found))


def make_run_report(runs: Sequence[Path]) -> tuple[ReportData, pandas.DataFrame]:
    """Return the report of run folders, and their results as `collect` returns them."""
    models = [load_model(run) for run in runs]
    labels = label_models(runs, models)
    frames = [read_evaluation(run) for run in runs]
    cells = [_cells(*run) for run in zip(labels, models, frames, strict=True)]
    sections = [Section("runs", "Runs", tables=(_settings(labels, models, runs),))]
    for target in dict.fromkeys(model.experiment.target for model in models):
        chosen = [k for k, model in enumerate(models) if model.experiment.target == target]
        lines: Any = pandas.concat([cells[k] for k in chosen], ignore_index=True)
        graphs = {labels[k]: _graphs(frames[k]) for k in chosen}
        title = f"Errors of {target} by number of nodes"
        table = _metrics(target, title, lines, graphs, PAPER_METRICS)
        others = [metric for metric in METRICS if metric not in PAPER_METRICS]
        title = f"Further metrics of {target} by number of nodes"
        further = _metrics(f"{target}-further", title, lines, graphs, others)
        draw = partial(_draw, [(labels[k], frames[k], runs[k]) for k in chosen])
        figure = ReportFigure(f"{target}: errors and learning curves", LINES, draw)
        sections.append(
            Section(target, target, tables=(table,), folded=(further,), figures=(figure,))
        )
    results = [name_rows(*run) for run in zip(frames, models, [r.name for r in runs], strict=True)]
    every = pandas.concat(cells).drop(columns="values")
    data = ReportData((LEGEND,), tuple(sections), every, {}, "Results of runs")
    return data, pandas.concat(results, ignore_index=True)


def _settings(labels: Sequence[str], models: Sequence[Model], runs: Sequence[Path]) -> ReportTable:
    rows = []
    for label, model, run in zip(labels, models, runs, strict=True):
        losses = [loss for loss in model.card["validation_loss"] if loss is not None]
        best = f"{number(median(losses))} ({_range(losses)})" if losses else ""
        texts = (str(len(model.seeds)), _range(model.card["epochs"]), best)
        settings = " ".join(changed_settings(model))
        more = (str(sum(model.diverged)), _training_graphs(model), settings, f"`{run}`")
        rows.append(ReportRow((label, *texts, *more)))
    heads = ("run", "seeds", "epochs", "best validation loss", "diverged", "training graphs")
    heads += ("settings", "folder")
    title = "Runs: median (range) over seeds, and settings that differ from the paper's"
    return ReportTable("runs", title, heads, tuple(rows))


def _training_graphs(model: Model) -> str:
    """Describe the training graphs, such as `own: 90 graphs of 16 nodes`."""
    data = model.card["data"]["train"]
    try:
        least, most = data.get("min_nodes"), data["num_nodes"]
        families, count = ", ".join(dict.fromkeys(data["graph"])), total_graphs(data)
    except (KeyError, TypeError, ValueError):  # a card from elsewhere may lack an entry
        return "unknown"
    size = f"{most}" if least is None else f"{least}–{most}"
    return f"{families}: {count:,} graphs of {size} nodes"


def _range(values: Sequence[float]) -> str:
    least, most = number(min(values)), number(max(values))
    return least if least == most else f"{least}–{most}"


def _cells(label: str, model: Model, frame: Any) -> pandas.DataFrame:
    """Return a line per row, number of nodes and metric, with statistics over seeds."""
    groups = per_seed(frame).groupby(["row", "num_nodes", "metric"], sort=False, as_index=False)
    cells = groups.agg(
        mean=("mean", "mean"),
        std=("mean", population_std),
        median=("mean", "median"),
        low=("mean", "min"),
        high=("mean", "max"),
        seeds=("mean", "size"),
        values=("mean", tuple),
    )
    front: Any = {"target": model.experiment.target, "model": label, "of": len(model.seeds)}
    return cells.assign(**front, diverged=0)


def _graphs(frame: Any) -> str:
    """Return the families and the numbers of graphs of each, such as `er, ba: 50`."""
    counts = frame[frame["hop"].isna()].groupby("num_nodes")["num_graphs"].max()
    return f"{', '.join(frame['family'].unique())}: {_range(counts.tolist())}"


def _metrics(
    name: str, title: str, cells: Any, graphs: dict[str, str], metrics: Sequence[str]
) -> ReportTable:
    there = [metric for metric in metrics if metric in set(cells["metric"])]
    sizes = sorted(cells["num_nodes"].unique().tolist())
    columns = tuple((metric, size) for metric in there for size in sizes)
    rows = [
        ReportRow((label, graphs[label], str(lines["of"].max())), row_cells(lines, columns))
        for label, lines in cells[cells["row"] == "network"].groupby("model", sort=False)
    ]
    for row, text in REFERENCE_NAMES.items():
        lines = cells[cells["row"] == row].drop_duplicates(["num_nodes", "metric"])
        if len(lines):
            lines = lines.drop(columns="values").assign(of=1, seeds=1)
            rows.append(ReportRow((text, "", ""), row_cells(lines, columns), kind="reference"))
    return ReportTable(name, title, HEADS, tuple(rows), columns)


def _draw(runs: Sequence[tuple[str, Any, Path]]) -> Any:
    """Draw the errors by size and the validation losses of runs with one target."""
    errors, losses = [], []
    for label, frame, run in runs:
        of_network: Any = per_seed(frame[frame["row"] == "network"]).assign(model=label)
        errors.append(of_network.rename(columns={"mean": "value"}))
        curves: Any = read_losses(run).assign(model=label)
        losses.append(curves.rename(columns={"validation_loss": "value"}))
    every: Any = pandas.concat(errors)
    panels = [
        (every[every["metric"] == metric], "num_nodes", title, "nodes")
        for metric, title in METRIC_TITLES.items()
        if metric in set(every["metric"])
    ]
    if any(map(len, losses)):
        panels.append((pandas.concat(losses), "epoch", "validation loss", "epoch"))
    return draw_panels(panels)
