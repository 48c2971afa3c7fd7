"""`evaluate`: measure a trained model on test graphs; read and write the table of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from algotransfer.checksums import verify_checksum, write_checksum
from algotransfer.datasets import Dataset, make_dataset
from algotransfer.datasets.presets import PAPER, PAPER_FAMILIES
from algotransfer.errors import UserError, shown
from algotransfer.evaluation.evaluation_batch import EvaluationBatch, Label, Report
from algotransfer.evaluation.metrics import METRICS, Metrics
from algotransfer.evaluation.training_range import fit_dataset
from algotransfer.files import DamagedFile, write_atomically
from algotransfer.training.runs import Model, load_model

if TYPE_CHECKING:
    import pandas

EVALUATION = "evaluation.csv"
Progress = Callable[[int, int], None]  # (graphs done, total graphs)

COLUMNS = {
    "row": "str",
    "seed": "Int64",
    "family": "str",
    "num_nodes": "int64",
    "metric": "str",
    "hop": "Int64",
    "value": "float64",
    "num_graphs": "int64",
}


def evaluate(
    source: str | Path | Model,
    datasets: Dataset | Mapping[int, Dataset] | Iterable[Dataset] | None = None,
    progress: Progress = lambda done, total: None,
    halt: str = "told",
) -> pandas.DataFrame:
    """Measure a trained model on test graphs.

    **Arguments:**

    - `source`: a model, its name (see `list_models`), a run folder or a weights file.
    - `datasets`: one dataset or more, of any sizes and families; by default the paper's test
        graphs of 20, 50 and 100 nodes. Weights outside the range of the training graphs are
        rescaled if the answer does not depend on their scale; errors of keys are in the rescaled
        units.
    - `progress`: called with the number of graphs done and to be done.
    - `halt`: when the answer of a network that learned from answers alone is read: `told` (after
        the algorithm's number of steps, as in the paper), `horizon` (after the longest training
        rollout) or `settled` (once no pointer has changed for a few steps).

    **Returns:** a row per seed, family, number of nodes, metric and hop distance, with the columns

    - `row`: `network`; `masked`, the same networks with keys that change only in reached nodes
        (parallel algorithms, teacher forcing); or a reference: `algorithm`, `random_neighbour`,
        `lightest_edge`.
    - `seed`: of the network; missing for references.
    - `family`, `num_nodes`, `metric`.
    - `hop`: distance from the source of the nodes that count (20 for 20 and more); missing where
        all nodes count.
    - `value`: the metric of each graph, averaged over graphs.
    - `num_graphs`: graphs that have such a value.
    """
    import pandas

    model = load_model(source)
    given = list_datasets(unseen_graphs() if datasets is None else datasets)
    fitted = [fit_dataset(model, dataset) for dataset in given]
    report, rows = graph_counter(progress, fitted), []
    for dataset in fitted:
        batch = EvaluationBatch.prepare(model, dataset.graphs, halt)
        measured = batch.on_all_graphs(batch.measure, report)
        for labels, metrics in zip(batch.labels, measured, strict=True):
            rows += _rows(labels, dataset, metrics)
    return pandas.DataFrame(rows, columns=list(COLUMNS)).astype(COLUMNS)


def _rows(labels: list[Label], dataset: Dataset, metrics: Metrics) -> Iterator[tuple]:
    for family in dataset.families:
        members = dataset.family == family
        place = (family, dataset.num_nodes)
        for metric in sorted(metrics.graphs, key=METRICS.index):
            values = metrics.graphs[metric][:, members]
            yield from _averages(labels, (*place, metric, None), values)
        for metric in sorted(metrics.hops, key=METRICS.index):
            for hop, values in enumerate(np.moveaxis(metrics.hops[metric][:, members], -1, 0)):
                yield from _averages(labels, (*place, metric, hop), values)


def _averages(labels: list[Label], what: tuple, values) -> Iterator[tuple]:
    """One row per label: the mean over the graphs that have a value."""
    for label, of_label in zip(labels, values, strict=True):
        there = of_label[~np.isnan(of_label)]
        if len(there):
            yield (*label, *what, float(np.mean(there)), len(there))


def list_datasets(datasets: Dataset | Mapping[int, Dataset] | Iterable[Dataset]) -> list[Dataset]:
    """Return one or several datasets as a list; raise a `UserError` for anything else."""
    if isinstance(datasets, Dataset):
        return [datasets]
    listed = [*(datasets.values() if isinstance(datasets, Mapping) else datasets)]
    if not listed or not all(isinstance(dataset, Dataset) for dataset in listed):
        raise UserError(f"datasets are {shown(listed)}; expected one Dataset or more")
    return listed


def graph_counter(progress: Progress, datasets: list[Dataset]) -> Report:
    """Return a function that counts the graphs done and calls `progress`."""
    total, done = sum(map(len, datasets)), 0

    def report(num_graphs: int) -> None:
        nonlocal done
        done += num_graphs
        progress(done, total)

    return report


def unseen_graphs(
    sizes: Iterable[int] = PAPER.test_sizes,
    num_graphs: int = PAPER.test,
    families: Iterable[str] = PAPER_FAMILIES,
) -> dict[int, Dataset]:
    """Test graphs by number of nodes; the defaults are the paper's."""
    return {size: make_dataset(tuple(families), num_graphs, size, split="test") for size in sizes}


def save_evaluation(folder: Path, frame: pandas.DataFrame, keep: bool = False) -> Path:
    """Write the table into a run folder; `keep` its rows about graphs of other sizes."""
    path = folder / EVALUATION
    if keep and path.exists():
        import pandas

        old: Any = read_evaluation(folder)
        others: Any = old[~old["num_nodes"].isin(set(frame["num_nodes"]))].astype(COLUMNS)
        frame = pandas.concat([others, frame], ignore_index=True)
    write_atomically(path, frame.to_csv(index=False).encode())
    write_checksum(path)
    return path


def read_evaluation(folder: Path) -> pandas.DataFrame:
    """Read the table of a run folder and verify its checksum."""
    path = folder / EVALUATION
    try:
        verify_checksum(path)
        return read_table(path, COLUMNS)
    except UserError as error:
        raise DamagedFile(f"{error}; make it again with `algotransfer evaluate {folder}`") from None


def read_table(path: str | Path, kinds: Mapping[str, str]) -> pandas.DataFrame:
    """Read a CSV with these pandas types; raise a `UserError` if a column is missing or another.

    Text stays text, even for a family called NA or 007. Other columns are returned as they are.
    """
    import pandas

    text = {name: "" for name, kind in kinds.items() if kind == "str"}
    dtype: Any = dict.fromkeys(text, "str")
    try:
        frame = pandas.read_csv(
            path, dtype=dtype, keep_default_na=False, na_values=[""], low_memory=False
        )
    except ValueError as error:  # pandas raises subclasses for content that it cannot parse
        raise UserError(f"{path} is not a table of results ({error!s:.80})") from error
    missing = [name for name in kinds if name not in frame]
    if missing:
        raise UserError(f"{path} is not a table of results: it has no column {missing[0]!r}")
    frame = frame.fillna(text)
    for name, kind in kinds.items():
        if kind == "str":
            continue
        try:
            frame[name] = _convert(frame[name], kind)
        except (ValueError, TypeError, OverflowError) as error:
            raise UserError(
                f"{path} is not a table of results: {name} is not {kind} ({error!s:.80})"
            ) from error
    return frame


def _convert(values: Any, kind: str) -> Any:
    """Convert a column; raise an exception if a value would change."""
    import pandas

    if kind == "bool":
        if not values.isin([True, False]).all():
            raise ValueError("expected True or False")
        return values.astype(bool)
    numbers: Any = pandas.to_numeric(values)
    return (numbers if kind == "float64" else numbers.astype("Int64")).astype(kind)
