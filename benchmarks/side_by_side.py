"""Time several programs in turn, so that load on the machine affects all of them alike."""

from __future__ import annotations

import json
import os
import platform
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "runs" / "benchmarks"


@dataclass(frozen=True)
class Contestant:
    """A compiled program: `seconds(repeat)` runs it on `graphs` graphs and returns the time."""

    graphs: int
    seconds: Callable[[int], float]


def timed(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """Return the seconds that a function takes, by a clock."""
    start = clock()
    work()
    return clock() - start


def median_seconds(
    contestants: Mapping[str, Callable[[], float]], repeats: int
) -> dict[str, float]:
    """Return the median time of each contestant over alternating repeats."""
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(repeats):
        for name, take in contestants.items():
            seconds[name].append(take())
    return {name: statistics.median(values) for name, values in seconds.items()}


def graphs_per_second(contestants: Mapping[str, Contestant], repeats: int) -> dict[str, float]:
    """Return the median rate of each contestant over alternating repeats."""
    rounds = {name: iter(range(repeats)) for name in contestants}
    seconds = median_seconds(
        {name: lambda n=name, c=c: c.seconds(next(rounds[n])) for name, c in contestants.items()},
        repeats,
    )
    return {name: contestants[name].graphs / taken for name, taken in seconds.items()}


def show(title: str, rows: list[dict], first: str, note: str = "") -> None:
    """Print a line per setting and contestant, and the speed-up of the `first` contestant.

    Every row has the numbers of its contestants as `graphs_per_second` or as `seconds`.
    """
    are_times = "seconds" in rows[0]
    column, heading = ("seconds",) * 2 if are_times else ("graphs_per_second", "graphs/s")
    settings = [name for name in rows[0] if name != column]
    table = Table(title=title, caption=note, title_justify="left", caption_justify="left")
    for name in (*settings, "contestant"):
        table.add_column(name)
    table.add_column(heading, justify="right")
    table.add_column(f"{first} is", justify="right")
    for row in rows:
        numbers = row[column]
        for place, (name, number) in enumerate(numbers.items()):
            speedup = ""
            if first in numbers and name != first:
                ratio = number / numbers[first]
                speedup = f"{ratio if are_times else 1 / ratio:,.1f}×"
            shown = [str(row[setting]) if place == 0 else "" for setting in settings]
            precise = f"{number:,.0f}" if number >= 100 else f"{number:.3g}"
            table.add_row(*shown, name, precise, speedup, end_section=place == len(numbers) - 1)
    Console().print(table)


def write(path: Path, rows: list[dict], packages: tuple[str, ...] = ("jax", "networkx")) -> None:
    """Write the rows and a description of the machine."""
    machine = {
        "cores": os.cpu_count(),
        "processor": platform.machine(),
        "python": platform.python_version(),
        # Over five minutes. Above the number of cores, times are unreliable.
        "load_average": os.getloadavg()[1],
        **{package: version(package) for package in packages},
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"machine": machine, "rows": rows}, indent=2) + "\n")
    print(f"wrote {os.path.relpath(path)}")
