"""Steps of a reproduction for the eye: what will be done, what was done, where the time went."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.console import Group

from algotransfer.cli.dataset_tables import titled
from algotransfer.evaluation.result_tables import plain_table
from algotransfer.reproduce.estimates import Estimates
from algotransfer.reproduce.progress_view import duration
from algotransfer.reproduce.runner import Result
from algotransfer.reproduce.steps import Step


def estimate_table(steps: Iterable[Step], folder: Path, estimates: Estimates) -> Group:
    """Every step with the time it will take, and all of them one after the other."""
    table, total, left = plain_table(["step"], ["estimate"]), 0.0, 0
    for step in steps:
        if step.found(folder):
            table.add_row(step.name, "there already")
            continue
        seconds = step.estimate(folder, estimates)
        table.add_row(step.name, duration(seconds))
        total, left = total + seconds, left + 1
    title = f"{left} steps, {duration(total)} one after the other ({estimates.origin})"
    return titled(title, table)


def result_table(results: Sequence[Result], wall: float) -> Group:
    """How many steps of each kind ended how; then what the time went into."""
    kinds = list(dict.fromkeys(result.step.name.split()[0] for result in results))
    states = list(dict.fromkeys(result.state for result in results))
    counts = Counter((result.step.name.split()[0], result.state) for result in results)
    steps = plain_table(["steps"], states)
    for kind in kinds:
        steps.add_row(kind, *[str(counts[kind, state] or "") for state in states])
    spent: Counter[str] = Counter()
    for result in results:
        spent.update(result.seconds)
    times = plain_table(["time went into"], ["seconds", "share"])
    for name, seconds in spent.most_common():
        times.add_row(name, f"{seconds:.0f}", f"{seconds / max(spent.total(), 1e-9):.0%}")
    title = (
        f"{duration(wall)} on the clock, {duration(spent.total())} of work in steps that ran "
        "beside each other"
    )
    return Group(titled("What was done", steps), titled(title, times))
