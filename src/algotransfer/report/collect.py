"""Finished runs as tidy tables, with the paper's words for what each of them is."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from algotransfer.datasets import PRESETS
from algotransfer.evaluation.evaluate import COLUMNS
from algotransfer.evaluation.runs import EVALUATION, read_evaluation, read_table
from algotransfer.evaluation.summary import paper_key
from algotransfer.experiment import Experiment
from algotransfer.files import DamagedFile, Notice
from algotransfer.training.runs import WEIGHTS, Model, check_weights, load_model, read_config
from algotransfer.training.slices import read_slices

if TYPE_CHECKING:
    import pandas

EXPERIMENT = ["supervision", "model", "method", "source", "target"]
NAMES = dict.fromkeys([*EXPERIMENT, "marks"], "str")
RESULT_COLUMNS = {
    **NAMES,
    **{name: kind for name, kind in COLUMNS.items() if name != "hop"},
    "infinity": "str",
    "run": "str",
    "diverged": "bool",
}
HOP_COLUMNS = {
    **NAMES,
    **{name: COLUMNS[name] for name in ("row", "num_nodes", "hop", "value")},
    "low": "float64",
    "high": "float64",
}
# Fields that the paper's tables name, and one that decides speed alone.
NAMED = {"model", "target", "supervision", "method", "base", "select", "precision"}


def environments(folder: str | Path) -> dict[str, Any]:
    """What every slice of every finished run was made with, by experiment and hash."""
    runs = [path.parent for path in sorted(Path(folder).glob(f"*/*/{WEIGHTS}"))]
    return {f"{run.parent.name}/{run.name}": read_slices(run) for run in runs}


def read_results(path: str | Path) -> pandas.DataFrame:
    """Reads a table that `collect` made and somebody kept."""
    return read_table(path, RESULT_COLUMNS)


def add_cpu_values(results: pandas.DataFrame, path: str | Path) -> pandas.DataFrame:
    """Add the column `value_cpu`, from an evaluation of the same networks on a CPU."""
    keys = [*EXPERIMENT, "row", "seed", "family", "num_nodes", "metric"]
    other: Any = read_table(path, {name: RESULT_COLUMNS[name] for name in (*keys, "value")})
    other = other[[*keys, "value"]].rename(columns={"value": "value_cpu"}).drop_duplicates(keys)
    return results.merge(other, on=keys, how="left")


def read_hops(path: str | Path) -> pandas.DataFrame:
    """Reads a table that `collect_hops` made and somebody kept."""
    return read_table(path, HOP_COLUMNS)


def collect(folder: str | Path) -> pandas.DataFrame:
    """Evaluations of all finished runs below a folder, without breakdowns by hop distance.

    **Returns:** the columns of `evaluate_networks` but `hop`, and in front of them those by which
    the paper's tables name an experiment, `infinity`, the run's hash, and `marks`: what else
    differs from the paper's settings, empty if nothing does. A diverged seed has `diverged` set.
    """
    parts = []
    for model, run, frame in _evaluations(folder):
        frame = frame[frame["hop"].isna()].drop(columns="hop")
        diverged = dict(zip(model.seeds, model.diverged, strict=True))
        frame["diverged"] = frame["seed"].map(diverged).fillna(False).astype(bool)
        marked = " ".join(filter(None, [marks(model), *_test_graphs(frame)]))
        front = {"infinity": str(model.experiment.infinity), "run": run.name, "marks": marked}
        parts.append(_named(frame, model.experiment, front))
    return _together(parts, folder)


def collect_hops(folder: str | Path) -> pandas.DataFrame:
    """Predecessor errors by hop distance from the source: means over graphs, then over seeds.

    A family counts by how many of its graphs have nodes so far out: the farthest are of grids.
    """
    parts = []
    for model, _, frame in _evaluations(folder):
        frame = frame[frame["hop"].notna() & (frame["metric"] == "pred")]
        keys = ["row", "num_nodes", "hop"]
        frame = frame.assign(value=frame["value"] * frame["num_graphs"])
        sums = frame.groupby([*keys, "seed"], dropna=False)[["value", "num_graphs"]].sum()
        seeds = (sums["value"] / sums["num_graphs"]).rename("value").reset_index()
        short = seeds.groupby(keys, as_index=False).agg(
            value=("value", "mean"), low=("value", "min"), high=("value", "max")
        )
        parts.append(_named(short.round(6), model.experiment, {"marks": marks(model)}))
    return _together(parts, folder)


def marks(model: Model) -> str:
    """What a model was trained with that the paper's tables do not name and would not expect."""
    fields = dataclasses.fields(Experiment)
    changed = [
        f"{field.name}={getattr(model.experiment, field.name)}"
        for field in fields
        if field.name not in NAMED and getattr(model.experiment, field.name) != field.default
    ]
    train, paper = model.card["data"]["train"], PRESETS["paper"]
    if (train.get("num_graphs"), train.get("num_nodes")) != (paper.train, paper.num_nodes):
        changed.append("other_data")
    return " ".join(changed)


def _test_graphs(frame: Any) -> list[str]:
    """A mark for test sets of the paper's sizes that are not as large as the paper's."""
    paper = PRESETS["paper"]
    frame = frame[frame["num_nodes"].isin(paper.test_sizes)]
    # Every test graph has predecessors; a random run, say, has a cost only where it built a tree.
    frame = frame[(frame["row"] == "network") & (frame["metric"] == "pred")]
    counts = frame["num_graphs"].unique().tolist()
    return [f"test_graphs={count}" for count in sorted(counts) if count != paper.test]


def trained_runs(folder: str | Path) -> Iterator[tuple[Path, Model]]:
    """All finished runs below a folder; one of an algorithm that is not known here is left out."""
    for path in sorted(Path(folder).glob(f"*/*/{WEIGHTS}")):
        try:
            model = load_model(path)
            if (config := read_config(path.parent)) is not None:
                check_weights(path, config)
        except DamagedFile:
            raise
        except ValueError as error:
            warnings.warn(f"{error}; the run is left out", Notice, stacklevel=2)
        else:
            yield path.parent, model


def _evaluations(folder: str | Path) -> Iterator[tuple[Model, Path, Any]]:
    for run, model in trained_runs(folder):
        if (run / EVALUATION).exists():
            yield model, run, read_evaluation(run)


def _named(frame: Any, experiment: Experiment, more: dict[str, str]) -> pandas.DataFrame:
    for place, (column, value) in enumerate({**paper_key(experiment), **more}.items()):
        frame.insert(place, column, value)
    return frame


def _together(parts: list[Any], folder: str | Path) -> pandas.DataFrame:
    import pandas

    if not parts:
        raise ValueError(
            f"{folder} holds no evaluated runs; make some with `algotransfer reproduce`"
        )
    return pandas.concat(parts, ignore_index=True)
