"""`explore` pages beside a report, one per network and size, linked from its numbers."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from algotransfer.evaluation.summary import paper_key
from algotransfer.report.cells import least_marked
from algotransfer.report.collect import trained_runs
from algotransfer.trained_models import committed_weights
from algotransfer.training.runs import Model, load_model

EXAMPLES_FOLDER = "examples"
EXAMPLE_SIZES = (20, 50, 100)


def find_models(folder: Path | None, results: Any) -> dict[str, Model]:
    """Return trained networks by name, from a folder of runs or else from the package.

    Where several runs share an experiment, one that the tables of `results` show is taken.
    """
    if folder is None:
        return {name: load_model(path) for name, path in committed_weights().items()}
    shown = set(least_marked(results)["run"])
    return {run.parent.name: model for run, model in trained_runs(folder) if run.name in shown}


def write_examples(models: Mapping[str, Model], out: Path) -> Iterator[tuple[tuple[str, ...], str]]:
    """Write a page for every network and size, each on a grid that is not a training graph.

    Yields experiment and number of nodes of each page, and its address relative to the report.
    """
    from algotransfer.explorer import write_example

    (out / EXAMPLES_FOLDER).mkdir(parents=True, exist_ok=True)
    for name, model in models.items():
        for num_nodes in EXAMPLE_SIZES:
            address = f"{EXAMPLES_FOLDER}/{name}-{num_nodes}.html"
            write_example(model, out / address, family="grid", num_nodes=num_nodes)
            yield (*paper_key(model.experiment).values(), str(num_nodes)), address
