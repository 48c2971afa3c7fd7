"""Pages of the viewer beside a report, so that a number leads to an execution behind it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from algotransfer.evaluation.summary import paper_key
from algotransfer.report.cells import least_marked
from algotransfer.report.collect import trained_runs
from algotransfer.training.runs import Model, committed_weights, load_model

FOLDER = "examples"
SIZES = (20, 50, 100)

Place = tuple[str, ...]  # supervision, model, method, source, target, number of nodes


def models_at_hand(folder: Path | None, results: Any) -> dict[str, Model]:
    """Trained networks by name: those of a folder of runs, else those that the package brings.

    Of several runs of one experiment it is one that the tables show.

    **Arguments:**

    - `results`: what `collect` returns for the folder.
    """
    if folder is None:
        return {name: load_model(path) for name, path in committed_weights().items()}
    shown = set(least_marked(results)["run"])
    return {run.parent.name: model for run, model in trained_runs(folder) if run.name in shown}


def write_examples(models: Mapping[str, Model], out: Path) -> Iterator[tuple[Place, str]]:
    """Writes a page for every network and size, a grid that no training has seen.

    **Returns:** for each page its place in the tables, and its address as seen from the report.
    """
    from algotransfer.explorer import write_example

    (out / FOLDER).mkdir(parents=True, exist_ok=True)
    for name, model in models.items():
        for num_nodes in SIZES:
            address = f"{FOLDER}/{name}-{num_nodes}.html"
            write_example(model, out / address, family="grid", num_nodes=num_nodes)
            yield (*paper_key(model.experiment).values(), str(num_nodes)), address
