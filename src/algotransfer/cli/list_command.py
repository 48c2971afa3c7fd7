"""`algotransfer list`: every registered name."""

import inspect
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Annotated, Any, Literal

from tyro.conf import Positional

from algotransfer.cli.options import Json, optional
from algotransfer.errors import UserError
from algotransfer.registry import Registry

# Key in JSON, title, columns, rows.
Section = tuple[str, str, tuple[str, ...], Iterable[tuple[str | int, ...]]]


@dataclass(frozen=True)
class ListCommand:
    """List the names of algorithms, networks, methods, trained models and all other choices."""

    kind: Annotated[Positional[Literal["models"] | None], optional("{models}", "all names")] = None
    """What to list: trained models only, or all names."""
    target: Annotated[str | None, optional("ALGORITHM", "all")] = None
    """Only trained models that have learned this algorithm."""
    json: Json = False

    def run(self) -> None:
        """Print a table for each kind of name."""
        from algotransfer.cli.console import next_step, output, print_json
        from algotransfer.cli.tables import titled
        from algotransfer.evaluation.result_tables import plain_table

        if self.target is not None and self.kind is None:
            raise UserError(f"--target selects trained models: list models --target {self.target}")
        sections = [_trained_models(self.target)]
        document = {}
        for key, title, columns, rows in sections if self.kind else [*_sections(), *sections]:
            table = plain_table(columns)
            document[key] = [dict(zip(columns, row, strict=True)) for row in rows]
            for row in document[key]:
                table.add_row(*map(str, row.values()))
            output.print(titled(title, table))
        if self.json:
            print_json(document)
        make_data = "data --algorithm dijkstra --family er --out er_dijkstra.npz"
        next_step(f"algotransfer {'execute NAME GRAPH.csv' if self.kind else make_data}")


def _sections() -> Iterator[Section]:
    # Not from the packages: these modules import no jax.
    from algotransfer.algorithms.registry import ALGORITHMS
    from algotransfer.datasets.presets import PRESETS
    from algotransfer.graphs.registry import FAMILIES
    from algotransfer.methods import METHODS
    from algotransfer.networks.registry import MODELS, PROCESSORS
    from algotransfer.reproduce.grid import TABLES, experiments
    from algotransfer.supervisions import SUPERVISIONS

    head = ("name", "title", "framework", "weights")
    rows = ((name, *ALGORITHMS.summary(name, summarise_algorithm)) for name in ALGORITHMS)
    yield "algorithms", "Algorithms (--algorithm, --target, --base)", head, rows
    yield "families", "Graph families (--family)", ("name", "description"), _described(FAMILIES)
    head = ("name", "families", "train", "validation", "test")
    rows = ((name, *_splits(preset)) for name, preset in PRESETS.items())
    yield "presets", "Presets (--preset): graphs of each family × nodes", head, rows
    yield "networks", "Networks (--model)", ("name", "description"), _described(MODELS)
    title = "Processors of NE and NE++ (--processor)"
    yield "processors", title, ("name", "description"), _described(PROCESSORS)
    title = "Supervisions (--supervision)"
    yield "supervisions", title, ("name", "description"), _described(SUPERVISIONS)
    head = ("name", "processors", "base algorithms")
    rows = ((name, *_processors(method)) for name, method in METHODS.items())
    yield "methods", "Transfer methods (--method)", head, rows
    rows = ((name, len(experiments((name,)))) for name in TABLES)
    yield "tables", "Tables of the paper (--table)", ("name", "experiments"), rows


def _trained_models(target: str | None) -> Section:
    from algotransfer.trained_models import list_models

    rows = [(m.name, m.experiment.target, len(m.seeds)) for m in list_models(target)]
    title = "Trained models (algotransfer evaluate NAME)"
    return "models", title, ("name", "target", "seeds"), rows


def summarise_algorithm(algorithm: Any) -> tuple[str, ...]:
    """Return title, framework and range of weights."""
    return algorithm.title, algorithm.framework.name, _weights(*algorithm.weights)


def _weights(low: float, high: float) -> str:
    return "any" if low < 0 else "> 0" if high > 1 else f"> 0, ≤ {high:g}"


def _described(registry: Registry[Any]) -> Iterator[tuple[str, ...]]:
    for name in registry:
        yield name, *registry.summary(name, _first_line)


def _first_line(entry: Any) -> tuple[str, ...]:
    """Return the first line of the docstring of an entry: a class, a function or an instance."""
    return ((inspect.getdoc(entry) or "").partition("\n")[0],)


def _splits(preset: Any) -> tuple[str, ...]:
    size = f"{preset.num_nodes}"
    if preset.min_nodes is not None:
        size = f"{preset.min_nodes}–{size}"
    counts = [f"{count} × {size}" for count in (preset.train, preset.validation)]
    sizes = groupby(preset.test_counts, key=lambda size: preset.test_counts[size])
    tests = [f"{count} × {'/'.join(map(str, nodes))}" for count, nodes in sizes]
    return ", ".join(preset.family), *counts, ", ".join(tests)


def _processors(method: Any) -> tuple[str, str]:
    kinds = zip(method.processors, method.frozen, strict=True)
    processors = " + ".join(origin + ", frozen" * frozen for origin, frozen in kinds)
    return processors, "together with the target" if method.joint else ""
