"""Rich tables for datasets, training runs and the steps of `reproduce`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from rich.console import Group
from rich.table import Table
from rich.text import Text

from algotransfer.evaluation.result_tables import plain_table

if TYPE_CHECKING:
    from algotransfer.datasets.statistics import GraphStatistics, TraceStatistics
    from algotransfer.reproduce.runner import StepResult
    from algotransfer.training import Model


class StepEstimate(NamedTuple):
    """A planned step of `reproduce` or `sweep`; `seconds` is None if unknown."""

    step: str
    finished: bool
    seconds: float | None


def titled(title: str, table: Table) -> Group:
    """Put a table under a title that may be wider than the table."""
    return Group(Text(title, style="bold"), table, Text())


def graph_table(statistics: Mapping[str, Sequence[GraphStatistics]]) -> Group:
    """Make a row per dataset and family; a single dataset is not named."""
    several = len(statistics) > 1
    table = plain_table(
        ["dataset"] * several + ["family"],
        ["graphs", "nodes", "edges", "degree", "diameter", "reached\nnodes", "all\nreached"],
    )
    for dataset, rows in statistics.items():
        for place, row in enumerate(rows):
            table.add_row(
                *[dataset if place == 0 else ""] * several,
                row.family,
                str(row.graphs),
                str(row.nodes),
                f"{row.mean_edges:.1f}",
                _mean_and_max(row.mean_degree, row.max_degree),
                _mean_and_max(row.mean_diameter, row.max_diameter),
                f"{row.reached_share:.1%}",
                f"{row.whole_share:.1%}",
                end_section=0 < place == len(rows) - 1,
            )
    return titled("Graphs: mean (max); reached nodes and diameter seen from the source", table)


def trace_table(statistics: Mapping[str, Sequence[TraceStatistics]]) -> Group:
    """Make a row per dataset and algorithm, a column per family; a single dataset is not named."""
    several = len(statistics) > 1
    families = list(dict.fromkeys(row.family for rows in statistics.values() for row in rows))
    table = plain_table(["dataset"] * several + ["algorithm"], families)
    for dataset, rows in statistics.items():
        algorithms = list(dict.fromkeys(row.algorithm for row in rows))
        for place, algorithm in enumerate(algorithms):
            cells = {
                row.family: _mean_and_max(row.mean_length, row.max_length)
                for row in rows
                if row.algorithm == algorithm
            }
            table.add_row(
                *[dataset if place == 0 else ""] * several,
                algorithm,
                *[cells.get(family, "") for family in families],
                end_section=0 < place == len(algorithms) - 1,
            )
    return titled("Steps of the algorithms: mean (max)", table)


def _mean_and_max(mean: float, maximum: int) -> str:
    return f"{mean:.1f} ({maximum})"


class SeedResult(NamedTuple):
    """How the training of a seed ended; `validation_loss` is the best one, if finite."""

    seed: int
    epochs: int
    validation_loss: float | None
    diverged: bool


def seed_results(model: Model) -> list[SeedResult]:
    """Return the end of the training of every seed."""
    counts, losses = model.card["epochs"], model.card["validation_loss"]
    found = zip(model.seeds, counts, losses, model.diverged, strict=True)
    return [SeedResult(*values) for values in found]


def training_table(model: Model) -> Group:
    """Make a row per seed: epochs, best validation loss, divergence."""
    table = plain_table(["seed"], ["epochs", "best validation loss", "diverged"])
    for seed, epochs, loss, diverged in seed_results(model):
        shown = "–" if loss is None else f"{loss:.5f}"
        table.add_row(str(seed), str(epochs), shown, "yes" if diverged else "")
    return titled(model.experiment.name, table)


def estimate_table(steps: Sequence[StepEstimate]) -> Group:
    """Make a row per step with its estimated time; the title has the sum."""
    from algotransfer.reproduce.progress_view import duration

    table = plain_table(["step"], ["estimate"])
    for step, finished, seconds in steps:
        shown = "unknown" if seconds is None else duration(seconds)
        table.add_row(step, "done" if finished else shown)
    left = [estimate.seconds for estimate in steps if not estimate.finished]
    known = [seconds for seconds in left if seconds is not None]
    title = (
        f"{len(left)} steps to run: {duration(sum(known))} one after the other for {len(known)} "
        f"steps, from finished runs in the folder; unknown for {len(left) - len(known)} steps"
    )
    return titled(title, table)


def result_table(results: Sequence[StepResult], wall: float) -> Group:
    """Count the steps of each kind by outcome; sum the time by activity."""
    from algotransfer.reproduce.progress_view import duration

    kinds = list(dict.fromkeys(result.step.name.split()[0] for result in results))
    states = list(dict.fromkeys(result.state for result in results))
    counts = Counter((result.step.name.split()[0], result.state) for result in results)
    steps = plain_table(["steps"], states)
    for kind in kinds:
        steps.add_row(kind, *[str(counts[kind, state] or "") for state in states])
    spent: Counter[str] = Counter()
    for result in results:
        spent.update(result.seconds)
    times = plain_table(["time spent on"], ["seconds", "share"])
    for name, seconds in spent.most_common():
        times.add_row(name, f"{seconds:.0f}", f"{seconds / max(spent.total(), 1e-9):.0%}")
    title = f"{duration(wall)} of wall-clock time, {duration(spent.total())} summed over steps"
    return Group(titled("Steps", steps), titled(title, times))
