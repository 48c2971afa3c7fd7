"""`evaluate`: measure a trained model on test graphs; read and write the table of a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from algotransfer.checksums import verify_checksum, write_checksum
from algotransfer.datasets import Dataset, make_dataset
from algotransfer.datasets.presets import PAPER, PAPER_FAMILIES
from algotransfer.errors import UserError, shown
from algotransfer.evaluation.evaluate_networks import COLUMNS, Progress, evaluate_networks
from algotransfer.evaluation.horizon import training_horizon
from algotransfer.evaluation.training_range import fit_dataset
from algotransfer.files import DamagedFile, write_atomically
from algotransfer.training.runs import Model, load_model

if TYPE_CHECKING:
    import pandas

EVALUATION = "evaluation.csv"


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
    - `halt`: when the answer of a network that learned from answers alone is read: `told` (after
        the algorithm's number of steps, as in the paper), `horizon` (after the longest training
        rollout) or `settled` (once no pointer has changed for a few steps).

    **Returns:** the tidy table of `evaluate_networks`.
    """
    model = source if isinstance(source, Model) else load_model(source)
    given = list_datasets(unseen_graphs() if datasets is None else datasets)
    horizon = training_horizon(model) if halt == "horizon" else 0
    return evaluate_networks(
        model.networks,
        model.experiment,
        model.seeds,
        [fit_dataset(model, dataset) for dataset in given],
        progress,
        halt=halt,
        horizon=horizon,
    )


def list_datasets(datasets: Dataset | Mapping[int, Dataset] | Iterable[Dataset]) -> list[Dataset]:
    """Return one or several datasets as a list; raise a `UserError` for anything else."""
    if isinstance(datasets, Dataset):
        return [datasets]
    listed = [*(datasets.values() if isinstance(datasets, Mapping) else datasets)]
    if not listed or not all(isinstance(dataset, Dataset) for dataset in listed):
        raise UserError(f"datasets are {shown(listed)}; expected one Dataset or more")
    return listed


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
