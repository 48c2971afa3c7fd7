"""Collect evaluations of finished runs into tables with the paper's column names."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas

from algotransfer.datasets.presets import PAPER
from algotransfer.errors import UserError
from algotransfer.evaluation.evaluate import COLUMNS, EVALUATION, read_evaluation, read_table
from algotransfer.evaluation.summary import paper_key
from algotransfer.experiment import Experiment
from algotransfer.files import DamagedFile, notify
from algotransfer.training.provenance import read_provenance
from algotransfer.training.runs import WEIGHTS, Model, check_weights, load_model, read_config

EXPERIMENT = ["supervision", "model", "method", "source", "target"]
NAME_COLUMNS = dict.fromkeys([*EXPERIMENT, "marks"], "str")
RESULT_COLUMNS = {
    **NAME_COLUMNS,
    **{name: kind for name, kind in COLUMNS.items() if name != "hop"},
    "infinity": "str",
    "run": "str",
    "diverged": "bool",
}
HOP_COLUMNS = {
    **NAME_COLUMNS,
    **{name: COLUMNS[name] for name in ("row", "num_nodes", "hop", "value")},
    "low": "float64",
    "high": "float64",
    "seeds": "int64",
}
# Fields that the paper's tables name, and one that decides speed alone.
NAMED = {"model", "target", "supervision", "method", "base", "select", "precision"}


def environments(folder: str | Path) -> dict[str, Any]:
    """Return the provenance of every training slice, by experiment and run hash."""
    runs = [path.parent for path in sorted(Path(folder).glob(f"*/*/{WEIGHTS}"))]
    return {f"{run.parent.name}/{run.name}": read_provenance(run) for run in runs}


def read_results(path: str | Path) -> pandas.DataFrame:
    """Read a CSV of the table that `collect` returns."""
    return read_table(path, RESULT_COLUMNS)


def read_hops(path: str | Path) -> pandas.DataFrame:
    """Read a CSV of the table that `collect_hops` returns."""
    return read_table(path, HOP_COLUMNS)


def add_cpu_values(results: pandas.DataFrame, path: str | Path) -> pandas.DataFrame:
    """Add the column `value_cpu`, from an evaluation of the same networks on a CPU."""
    keys = [*EXPERIMENT, "row", "seed", "family", "num_nodes", "metric"]
    other: Any = read_table(path, {name: RESULT_COLUMNS[name] for name in (*keys, "value")})
    other = other[[*keys, "value"]].rename(columns={"value": "value_cpu"}).drop_duplicates(keys)
    return results.merge(other, on=keys, how="left")


def collect(folder: str | Path) -> pandas.DataFrame:
    """Collect evaluations of all finished runs below a folder, except errors by hop distance.

    In front are the columns by which the paper's tables name an experiment, `infinity`, the run's
    hash, and `marks`: what else differs from the paper's settings.
    """
    parts = [name_rows(frame, model, run.name) for model, run, frame in _evaluations(folder)]
    return _together(parts, folder)


def name_rows(frame: Any, model: Model, run: str) -> pandas.DataFrame:
    """Return the rows of `collect` for a model, from the table that `evaluate` returns."""
    frame = frame[frame["hop"].isna()].drop(columns="hop")
    diverged = dict(zip(model.seeds, model.diverged, strict=True))
    frame["diverged"] = frame["seed"].map(diverged).fillna(False).astype(bool)
    marked = " ".join(filter(None, [marks(model), *_test_graphs(frame)]))
    front = {"infinity": str(model.experiment.infinity), "run": run, "marks": marked}
    return _named(frame, model.experiment, front)


def collect_hops(folder: str | Path) -> pandas.DataFrame:
    """Collect predecessor errors by hop distance: means over graphs, then over seeds.

    Families are weighted by the number of graphs with nodes at that distance. Seeds of runs with
    equal settings count together.
    """
    parts = [_seed_hops(frame, model) for model, _, frame in _evaluations(folder)]
    return _hops_over_seeds(_together(parts, folder))


def name_hops(frame: Any, model: Model) -> pandas.DataFrame:
    """Return the rows of `collect_hops` for a model, from the table that `evaluate` returns."""
    return _hops_over_seeds(_seed_hops(frame, model))


def _seed_hops(frame: Any, model: Model) -> pandas.DataFrame:
    frame = frame[frame["hop"].notna() & (frame["metric"] == "pred")]
    frame = frame.assign(value=frame["value"] * frame["num_graphs"])
    keys = ["row", "num_nodes", "hop", "seed"]
    sums = frame.groupby(keys, dropna=False)[["value", "num_graphs"]].sum()
    seeds = (sums["value"] / sums["num_graphs"]).rename("value").reset_index()
    return _named(seeds, model.experiment, {"marks": marks(model)})


def _hops_over_seeds(seeds: Any) -> pandas.DataFrame:
    keys = [*NAME_COLUMNS, "row", "num_nodes", "hop"]
    return (
        seeds.groupby(keys, sort=False, as_index=False)
        .agg(
            value=("value", "mean"),
            low=("value", "min"),
            high=("value", "max"),
            seeds=("seed", "nunique"),
        )
        .round(6)
    )


def marks(model: Model) -> str:
    """Return what differs from the paper's settings and training graphs, separated by spaces."""
    train = model.card["data"]["train"]
    same = (train.get("num_graphs"), train.get("num_nodes")) == (PAPER.train, PAPER.num_nodes)
    return " ".join([*changed_settings(model), *["other_data"] * (not same)])


def changed_settings(model: Model) -> list[str]:
    """Return the settings of a model that differ from the paper's, such as `max_epochs=3`."""
    return model.experiment.changed_settings(but=NAMED)


def _test_graphs(frame: Any) -> list[str]:
    """Return marks for test sets of the paper's sizes with another number of graphs."""
    frame = frame[frame["num_nodes"].isin(PAPER.test_sizes)]
    # `pred` exists for every test graph; other metrics, such as `cost`, only for some.
    frame = frame[(frame["row"] == "network") & (frame["metric"] == "pred")]
    counts = frame["num_graphs"].unique().tolist()
    return [f"test_graphs={count}" for count in sorted(counts) if count != PAPER.test]


def trained_runs(folder: str | Path) -> Iterator[tuple[Path, Model]]:
    """Yield finished runs below a folder; warn about runs that cannot be loaded."""
    for path in sorted(Path(folder).glob(f"*/*/{WEIGHTS}")):
        try:
            model = load_model(path)
            if (config := read_config(path.parent)) is not None:
                check_weights(path, config)
        except DamagedFile:
            raise
        except ValueError as error:
            notify(f"{error}; the run is left out")
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
    if not parts:
        raise UserError(
            f"{folder} holds no evaluated runs; make some with `algotransfer reproduce`"
        )
    return pandas.concat(parts, ignore_index=True)
