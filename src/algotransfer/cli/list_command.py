"""`algotransfer list`: everything that can be asked for by name."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class ListNames:
    """Show what there is: algorithms, graphs, networks, methods, tables, trained weights."""

    def run(self) -> None:
        """Prints a table for each kind of name."""
        from algotransfer.cli.console import next_step, output
        from algotransfer.cli.dataset_tables import titled
        from algotransfer.evaluation.result_tables import plain_table

        for title, (columns, rows) in SECTIONS.items():
            table = plain_table(columns)
            for row in rows():
                table.add_row(*row)
            output.print(titled(title, table))
        next_step("algotransfer data --algorithm dijkstra --graph er --out er_dijkstra.npz")


def algorithms() -> Iterable[tuple[str, ...]]:
    """Name, title, framework, and the weights that the algorithm can take."""
    from algotransfer.algorithms import ALGORITHMS

    for algorithm in ALGORITHMS.values():
        low, high = algorithm.weights
        weights = "any" if low < 0 else "> 0" if high > 1 else f"> 0, ≤ {high:g}"
        yield algorithm.name, algorithm.title, algorithm.framework.name, weights


def families() -> Iterable[tuple[str, ...]]:
    """Name, and the first line of what its sampler says about itself."""
    from algotransfer.graphs import FAMILIES

    for name, sampler in FAMILIES.items():
        yield name, (inspect.getdoc(sampler) or "").partition("\n")[0]


def presets() -> Iterable[tuple[str, ...]]:
    """Name, and graphs per family and size in each split."""
    from algotransfer.datasets import PRESETS

    for name, preset in PRESETS.items():
        sizes = "/".join(map(str, preset.test_sizes))
        yield (
            name,
            ", ".join(preset.graph),
            f"{preset.train} × {preset.num_nodes}",
            f"{preset.validation} × {preset.num_nodes}",
            f"{preset.test} × {sizes}",
        )


def models() -> Iterable[tuple[str, ...]]:
    """Name, and the first line of what the network says about itself."""
    from algotransfer.networks import MODELS

    for name, model in MODELS.items():
        yield name, (inspect.getdoc(model) or "").partition("\n")[0]


def methods() -> Iterable[tuple[str, ...]]:
    """Name, and what becomes of the processors."""
    from algotransfer.training.transfer import METHODS

    for name, method in METHODS.items():
        kinds = zip(method.processors, method.frozen, strict=True)
        processors = " + ".join(origin + ", frozen" * frozen for origin, frozen in kinds)
        yield name, processors, "together with the target" if method.joint else ""


def tables() -> Iterable[tuple[str, ...]]:
    """Name, and how many experiments it needs."""
    from algotransfer.reproduce.grid import TABLES, experiments

    for name in TABLES:
        yield name, str(len(experiments((name,))))


def weights() -> Iterable[tuple[str, ...]]:
    """Name of weights that come with the package, how many seeds, and what stood for ∞."""
    from algotransfer.training import committed_weights, load_model

    for name in committed_weights():
        model = load_model(name)
        yield name, str(len(model.seeds)), str(model.experiment.infinity)


SECTIONS = {
    "Algorithms (--algorithm)": (("name", "title", "framework", "weights"), algorithms),
    "Families of graphs (--graph)": (("name", "what it is"), families),
    "Presets (--preset): graphs of each family × nodes": (
        ("name", "families", "train", "validation", "test"),
        presets,
    ),
    "Networks (--model)": (("name", "what it is"), models),
    "Transfer methods (--method)": (("name", "processors", "base algorithms"), methods),
    "Tables of the paper (--table)": (("name", "experiments"), tables),
    "Trained weights (algotransfer evaluate NAME)": (
        ("name", "seeds", "∞"),
        weights,
    ),
}
