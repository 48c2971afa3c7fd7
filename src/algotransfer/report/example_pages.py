"""`explore` pages beside a report, which its numbers link to."""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from algotransfer.evaluation.summary import paper_key
from algotransfer.explorer import explore
from algotransfer.explorer.page import link_graph
from algotransfer.graphs import Graph, sample_graphs
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
        models = {name: load_model(path) for name, path in committed_weights().items()}
        # Of networks that differ in the stand-in for ∞ alone, tables show those with the paper's.
        return dict(
            sorted(models.items(), key=lambda item: item[1].experiment.infinity != "instance")
        )
    shown = set(least_marked(results)["run"])
    return {run.parent.name: model for run, model in trained_runs(folder) if run.name in shown}


def write_examples(models: Mapping[str, Model], out: Path) -> Iterator[tuple[tuple[str, ...], str]]:
    """Write live pages: one for the networks of a kind, supervision and target, to compare methods.

    Yields each experiment, and the address of its network relative to the report. An address
    becomes a link by adding a graph of `example_graphs`.
    """
    pages: dict[str, dict[tuple[str, ...], Model]] = {}
    for model in models.values():
        key = paper_key(model.experiment)
        name = "-".join((key["model"].lower(), key["target"], key["supervision"]))
        pages.setdefault(name, {}).setdefault(tuple(key.values()), model)
    (out / EXAMPLES_FOLDER).mkdir(parents=True, exist_ok=True)
    for name, shown in pages.items():
        address = f"{EXAMPLES_FOLDER}/{name}.html"
        explore(example_graph(20), list(shown.values()), title=name).save(out / address)
        for choice, key in enumerate(shown):
            yield key, f"{address}#choice={choice}"


@cache
def example_graphs() -> dict[int, str]:
    """Return a grid of each size, none of them a training graph, as text for a link."""
    return {num_nodes: link_graph(example_graph(num_nodes)) for num_nodes in EXAMPLE_SIZES}


def example_graph(num_nodes: int) -> Graph:
    """Return a grid that is not a training graph."""
    return sample_graphs("grid", 1, num_nodes, split="test")[0]
