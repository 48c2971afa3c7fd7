"""`evaluate`: a trained model on test graphs, with the table kept beside its weights."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from algotransfer.arguments import checked
from algotransfer.datasets import PRESETS, Dataset, make_dataset
from algotransfer.evaluation.evaluate import COLUMNS, Progress, evaluate_networks
from algotransfer.files import DamagedFile, write_atomically
from algotransfer.names import FAMILY_NAMES
from algotransfer.sums import check_seal, seal
from algotransfer.training.runs import Model, load_model

if TYPE_CHECKING:
    import pandas

EVALUATION = "evaluation.csv"
LARGEST_WHOLE = 2**53  # beyond it floats, as which pandas reads columns with gaps, skip numbers
EXPECTED = {
    "float64": "a number",
    "int64": "a whole number",
    "Int64": "a whole number or nothing",
    "bool": "True or False",
}


@checked
def evaluate(
    source: str | Path | Model,
    datasets: Mapping[int, Dataset] | Iterable[Dataset] | None = None,
    progress: Progress = lambda done, total: None,
) -> pandas.DataFrame:
    """Measures a trained model on test graphs.

    **Arguments:**

    - `source`: a model, a run folder, a weights file, or the name of committed weights.
    - `datasets`: graphs of any sizes and families; by default the paper's test graphs of 20, 50
        and 100 nodes.

    **Returns:** the tidy table of `evaluate_networks`.
    """
    model = source if isinstance(source, Model) else load_model(source)
    if datasets is None:
        datasets = unseen_graphs()
    return evaluate_networks(model.networks, model.experiment, model.seeds, datasets, progress)


def unseen_graphs(
    sizes: Iterable[int] = PRESETS["paper"].test_sizes,
    num_graphs: int = PRESETS["paper"].test,
    families: Iterable[str] = FAMILY_NAMES,
    seed: int = 0,
) -> dict[int, Dataset]:
    """Test graphs by number of nodes; the defaults are the paper's."""
    return {
        size: make_dataset(tuple(families), num_graphs, size, seed, split="test") for size in sizes
    }


def save_evaluation(folder: Path, frame: pandas.DataFrame, keep: bool = False) -> Path:
    """Writes the table as CSV into a run folder, all of it or nothing.

    **Arguments:**

    - `keep`: also keep what the folder's table has of graphs of other sizes.
    """
    path = folder / EVALUATION
    if keep and path.exists():
        frame = _with_other_sizes(frame, read_evaluation(folder))
    write_atomically(path, frame.to_csv(index=False).encode())
    seal(path)
    return path


def read_evaluation(folder: Path) -> pandas.DataFrame:
    """Reads the table of a run folder, and checks that it is what was written."""
    path = folder / EVALUATION
    try:
        check_seal(path)
        return parse_evaluation(path)
    except ValueError as error:
        message = f"{error}; make it again with `algotransfer evaluate {folder}`"
        raise DamagedFile(message) from None


def parse_evaluation(path: Path) -> pandas.DataFrame:
    """Reads the table of a run, without looking at its seal."""
    return read_table(path, COLUMNS)


def read_table(path: str | Path, kinds: Mapping[str, str]) -> pandas.DataFrame:
    """Reads a CSV that must have some columns; text stays text, though a family be called NA.

    **Arguments:**

    - `kinds`: for each column its type in pandas; other columns are kept as they are.
    """
    import pandas

    text = {name: "" for name, kind in kinds.items() if kind == "str"}
    dtype: Any = dict.fromkeys(text, "str")
    try:
        frame = pandas.read_csv(path, dtype=dtype, keep_default_na=False, na_values=[""])
    except ValueError as error:  # as pandas calls what it cannot parse
        raise ValueError(f"{path} is not a table of results ({error!s:.80})") from error
    missing = [name for name in kinds if name not in frame]
    if missing:
        raise ValueError(f"{path} is not a table of results: it has no column {missing[0]!r}")
    frame = frame.fillna(text)
    for name, kind in kinds.items():
        if kind != "str":
            frame[name] = _column(frame[name], kind, path)
    return frame


def _column(values: Any, kind: str, path: str | Path) -> Any:
    """A column in its type; raises a ValueError that quotes the first value of another kind."""
    try:
        return _convert(values, kind)
    except (ValueError, TypeError, OverflowError):
        pass
    for value in values:
        try:
            _convert(values.__class__([value]), kind)
        except (ValueError, TypeError, OverflowError):
            break
    raise ValueError(
        f"{path} is not a table of results: {values.name} is {str(value)!r:.80}, "
        f"expected {EXPECTED[kind]}"
    )


def _convert(values: Any, kind: str) -> Any:
    import pandas

    if kind == "bool":
        if not values.isin([True, False]).all():
            raise ValueError
        return values.astype(bool)
    numbers: Any = pandas.to_numeric(values)
    if kind != "float64" and (numbers.abs() > LARGEST_WHOLE).any():  # casts would wrap around
        raise OverflowError
    return (numbers if kind == "float64" else numbers.astype("Int64")).astype(kind)


def _with_other_sizes(frame: pandas.DataFrame, old: Any) -> pandas.DataFrame:
    import pandas

    others: Any = old[~old["num_nodes"].isin(set(frame["num_nodes"]))].astype(COLUMNS)
    return pandas.concat([others, frame], ignore_index=True)
