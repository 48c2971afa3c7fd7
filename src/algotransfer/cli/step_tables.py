"""Rich tables of the steps of `reproduce`: estimates and results."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.console import Group

from algotransfer.cli.dataset_tables import titled
from algotransfer.evaluation.result_tables import plain_table
from algotransfer.reproduce.estimates import Estimates
from algotransfer.reproduce.progress_view import duration
from algotransfer.reproduce.runner import StepResult
from algotransfer.reproduce.steps import Step


def estimate_table(steps: Iterable[Step], folder: Path, estimates: Estimates) -> Group:
    """Make a row per step with its estimated time; the title has the sum."""
    table = plain_table(["step"], ["estimate"])
    known, unknown = [], 0
    for step in steps:
        if step.is_finished(folder):
            table.add_row(step.name, "done")
            continue
        seconds = step.estimate(folder, estimates)
        if seconds is None:
            unknown += 1
        else:
            known.append(seconds)
        table.add_row(step.name, "unknown" if seconds is None else duration(seconds))
    title = (
        f"{len(known) + unknown} steps to run: {duration(sum(known))} one after the other for "
        f"{len(known)} steps, from finished runs in the folder; unknown for {unknown} steps"
    )
    return titled(title, table)


def result_table(results: Sequence[StepResult], wall: float) -> Group:
    """Count the steps of each kind by outcome; sum the time by activity."""
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
    title = (
        f"{duration(wall)} of wall-clock time, {duration(spent.total())} summed over steps that "
        "ran in parallel"
    )
    return Group(titled("Steps", steps), titled(title, times))
