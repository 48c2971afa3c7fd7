"""Pages of the viewer beside a report, so that a number leads to an execution behind it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from algotransfer.evaluation.summary import paper_key
from algotransfer.training.runs import WEIGHTS, Model, committed_weights, load_model

FOLDER = "examples"
SIZES = (20, 50, 100)

Place = tuple[str, ...]  # supervision, model, method, source, target, number of nodes


def models_at_hand(folder: Path | None) -> Iterator[tuple[str, Model]]:
    """Trained networks by name: those of a folder of runs, else those that the package brings."""
    if folder is None:
        paths = committed_weights()
    else:
        paths = {p.parent.parent.name: p for p in sorted(folder.glob(f"*/*/{WEIGHTS}"))}
    for name, path in paths.items():
        yield name, load_model(path)


def write_examples(models: Iterable[tuple[str, Model]], out: Path) -> Iterator[tuple[Place, str]]:
    """Writes a page for every network and size, a grid that no training has seen.

    **Returns:** for each page its place in the tables, and its address as seen from the report.
    """
    from algotransfer.viewer import write_example

    (out / FOLDER).mkdir(parents=True, exist_ok=True)
    for name, model in models:
        for num_nodes in SIZES:
            address = f"{FOLDER}/{name}-{num_nodes}.html"
            write_example(model, out / address, family="grid", num_nodes=num_nodes)
            yield (*paper_key(model.experiment).values(), str(num_nodes)), address
