"""`evaluate`: measure a trained model on test graphs; read and write the table of a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from algotransfer.checksums import verify_checksum, write_checksum
from algotransfer.datasets import PRESETS, Dataset, make_dataset
from algotransfer.datasets.presets import PAPER_FAMILIES
from algotransfer.evaluation.evaluate_networks import COLUMNS, Progress, evaluate_networks
from algotransfer.evaluation.horizon import training_horizon
from algotransfer.files import DamagedFile, write_atomically
from algotransfer.training.runs import Model, load_model

if TYPE_CHECKING:
    import pandas

EVALUATION = "evaluation.csv"
TEXT = tuple(name for name, kind in COLUMNS.items() if kind == "str")


def evaluate(
    source: str | Path | Model,
    datasets: Mapping[int, Dataset] | Iterable[Dataset] | None = None,
    progress: Progress = lambda done, total: None,
    halt: str = "told",
) -> pandas.DataFrame:
    """Measure a trained model on test graphs.

    **Arguments:**

    - `source`: a model, a run folder, a weights file, or the name of committed weights.
    - `datasets`: graphs of any sizes and families; by default the paper's test graphs of 20, 50
        and 100 nodes.
    - `halt`: when the answer of a network that learned from answers alone is read: `told` (after
        the algorithm's number of steps, as in the paper), `horizon` (after the longest training
        rollout) or `settled` (once no pointer has changed for a few steps).

    **Returns:** the tidy table of `evaluate_networks`.
    """
    model = source if isinstance(source, Model) else load_model(source)
    if datasets is None:
        datasets = unseen_graphs()
    horizon = training_horizon(model) if halt == "horizon" else 0
    return evaluate_networks(
        model.networks,
        model.experiment,
        model.seeds,
        datasets,
        progress,
        halt=halt,
        horizon=horizon,
    )


def unseen_graphs(
    sizes: Iterable[int] = PRESETS["paper"].test_sizes,
    num_graphs: int = PRESETS["paper"].test,
    families: Iterable[str] = PAPER_FAMILIES,
    seed: int = 0,
) -> dict[int, Dataset]:
    """Test graphs by number of nodes; the defaults are the paper's."""
    return {
        size: make_dataset(tuple(families), num_graphs, size, seed, split="test") for size in sizes
    }


def save_evaluation(folder: Path, frame: pandas.DataFrame, keep: bool = False) -> Path:
    """Write the table as CSV into a run folder, atomically.

    **Arguments:**

    - `keep`: keep rows of the existing table about graphs of other sizes.
    """
    path = folder / EVALUATION
    if keep and path.exists():
        frame = _with_other_sizes(frame, read_evaluation(folder))
    write_atomically(path, frame.to_csv(index=False).encode())
    write_checksum(path)
    return path


def read_evaluation(folder: Path) -> pandas.DataFrame:
    """Read the table of a run folder and verify its checksum."""
    path = folder / EVALUATION
    try:
        verify_checksum(path)
        return read_table(path, TEXT)
    except DamagedFile as error:
        raise DamagedFile(f"{error}; make it again with `algotransfer evaluate {folder}`") from None


def read_table(path: str | Path, text: Iterable[str]) -> pandas.DataFrame:
    """Read a CSV whose text columns stay text, even for a family called NA or 007."""
    import pandas

    columns = dict.fromkeys(text, "")
    kinds: Any = dict.fromkeys(columns, "str")
    frame = pandas.read_csv(path, dtype=kinds, keep_default_na=False, na_values=[""])
    return frame.fillna(columns)


def _with_other_sizes(frame: pandas.DataFrame, old: Any) -> pandas.DataFrame:
    import pandas

    others: Any = old[~old["num_nodes"].isin(set(frame["num_nodes"]))].astype(COLUMNS)
    return pandas.concat([others, frame], ignore_index=True)
