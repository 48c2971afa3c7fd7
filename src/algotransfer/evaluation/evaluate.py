"""`evaluate`: a trained model on test graphs, with the table kept beside its weights."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from algotransfer.checksums import verify_checksum, write_checksum
from algotransfer.datasets import PRESETS, Dataset, make_dataset
from algotransfer.evaluation.evaluate_networks import COLUMNS, Progress, evaluate_networks
from algotransfer.files import DamagedFile, write_atomically
from algotransfer.names import FAMILY_NAMES
from algotransfer.training.runs import Model, load_model

if TYPE_CHECKING:
    import pandas

EVALUATION = "evaluation.csv"
TEXT = tuple(name for name, kind in COLUMNS.items() if kind == "str")


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
    write_checksum(path)
    return path


def read_evaluation(folder: Path) -> pandas.DataFrame:
    """Reads the table of a run folder, and checks that it is what was written."""
    path = folder / EVALUATION
    try:
        verify_checksum(path)
        return read_table(path, TEXT)
    except DamagedFile as error:
        raise DamagedFile(f"{error}; make it again with `algotransfer evaluate {folder}`") from None


def read_table(path: str | Path, text: Iterable[str]) -> pandas.DataFrame:
    """Reads a CSV in which columns of text are that, though a family be called NA or 007."""
    import pandas

    columns = dict.fromkeys(text, "")
    kinds: Any = dict.fromkeys(columns, "str")
    frame = pandas.read_csv(path, dtype=kinds, keep_default_na=False, na_values=[""])
    return frame.fillna(columns)


def _with_other_sizes(frame: pandas.DataFrame, old: Any) -> pandas.DataFrame:
    import pandas

    others: Any = old[~old["num_nodes"].isin(set(frame["num_nodes"]))].astype(COLUMNS)
    return pandas.concat([others, frame], ignore_index=True)
