"""`algotransfer list`: every registered name."""

import inspect
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class ListCommand:
    """List the names of algorithms, networks, methods, trained weights and all other choices."""

    def run(self) -> None:
        """Print a table for each kind of name."""
        from algotransfer.cli.console import next_step, output
        from algotransfer.cli.dataset_tables import titled
        from algotransfer.evaluation.result_tables import plain_table

        for title, (columns, rows) in SECTIONS.items():
            table = plain_table(columns)
            for row in rows():
                table.add_row(*row)
            output.print(titled(title, table))
        next_step("algotransfer data --algorithm dijkstra --family er --out er_dijkstra.npz")


def algorithms() -> Iterable[tuple[str, ...]]:
    """Yield name, title, framework and valid edge weights."""
    from algotransfer.algorithms import ALGORITHMS

    for algorithm in ALGORITHMS.values():
        low, high = algorithm.weights
        weights = "any" if low < 0 else "> 0" if high > 1 else f"> 0, ≤ {high:g}"
        yield algorithm.name, algorithm.title, algorithm.framework.name, weights


def families() -> Iterable[tuple[str, ...]]:
    """Yield name and description."""
    from algotransfer.graphs import FAMILIES

    for name, sampler in FAMILIES.items():
        yield name, _first_line(sampler)


def presets() -> Iterable[tuple[str, ...]]:
    """Yield name, families, and graphs × nodes of each split."""
    from algotransfer.datasets import PRESETS

    for name, preset in PRESETS.items():
        sizes = "/".join(map(str, preset.test_sizes))
        yield (
            name,
            ", ".join(preset.family),
            f"{preset.train} × {preset.num_nodes}",
            f"{preset.validation} × {preset.num_nodes}",
            f"{preset.test} × {sizes}",
        )


def models() -> Iterable[tuple[str, ...]]:
    """Yield name and description."""
    from algotransfer.networks import MODELS

    for name, model in MODELS.items():
        yield name, _first_line(model)


def processors() -> Iterable[tuple[str, ...]]:
    """Yield name and description."""
    from algotransfer.networks import PROCESSORS

    for name, processor in PROCESSORS.items():
        yield name, _first_line(processor)


def supervisions() -> Iterable[tuple[str, ...]]:
    """Yield name and description."""
    from algotransfer.supervisions import SUPERVISIONS

    for name, supervision in SUPERVISIONS.items():
        yield name, _first_line(type(supervision))


def methods() -> Iterable[tuple[str, ...]]:
    """Yield name, origin of the processors, and the training of the base algorithms."""
    from algotransfer.methods import METHODS

    for name, method in METHODS.items():
        kinds = zip(method.processors, method.frozen, strict=True)
        processors = " + ".join(origin + ", frozen" * frozen for origin, frozen in kinds)
        yield name, processors, "together with the target" if method.joint else ""


def tables() -> Iterable[tuple[str, ...]]:
    """Yield name and number of experiments."""
    from algotransfer.reproduce.grid import TABLES, experiments

    for name in TABLES:
        yield name, str(len(experiments((name,))))


def weights() -> Iterable[tuple[str, ...]]:
    """Yield name, number of seeds and the stand-in for ∞ of the weights in the package."""
    from algotransfer.training import committed_weights, load_model

    for name in committed_weights():
        model = load_model(name)
        yield name, str(len(model.seeds)), str(model.experiment.infinity)


def _first_line(described: object) -> str:
    return (inspect.getdoc(described) or "").partition("\n")[0]


SECTIONS = {
    "Algorithms (--algorithm, --target, --base)": (
        ("name", "title", "framework", "weights"),
        algorithms,
    ),
    "Graph families (--family)": (("name", "description"), families),
    "Presets (--preset): graphs of each family × nodes": (
        ("name", "families", "train", "validation", "test"),
        presets,
    ),
    "Networks (--model)": (("name", "description"), models),
    "Processors of NE and NE++ (--processor)": (("name", "description"), processors),
    "Supervisions (--supervision)": (("name", "description"), supervisions),
    "Transfer methods (--method)": (("name", "processors", "base algorithms"), methods),
    "Tables of the paper (--table)": (("name", "experiments"), tables),
    "Trained weights (algotransfer evaluate NAME)": (("name", "seeds", "∞"), weights),
}
