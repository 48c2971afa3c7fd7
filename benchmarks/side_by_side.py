"""Times taken side by side: contestants alternate, so that a busy machine slows all of them."""

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
    """One way to do the work: `seconds(repeat)` does it once for `graphs` graphs, warmed up."""

    graphs: int
    seconds: Callable[[int], float]


def timed(work: Callable[[], object]) -> float:
    """Seconds that a piece of work takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def graphs_per_second(contestants: Mapping[str, Contestant], repeats: int) -> dict[str, float]:
    """The median rate of each contestant over alternating repeats."""
    rates: dict[str, list[float]] = {name: [] for name in contestants}
    for repeat in range(repeats):
        for name, contestant in contestants.items():
            rates[name].append(contestant.graphs / contestant.seconds(repeat))
    return {name: statistics.median(values) for name, values in rates.items()}


def show(title: str, rows: list[dict], first: str, note: str = "") -> None:
    """Prints a line per setting and contestant; how many times as fast the `first` one is."""
    settings = [name for name in rows[0] if name != "graphs_per_second"]
    table = Table(title=title, caption=note, title_justify="left", caption_justify="left")
    for name in (*settings, "contestant"):
        table.add_column(name)
    table.add_column("graphs/s", justify="right")
    table.add_column(f"{first} is", justify="right")
    for row in rows:
        rates = row["graphs_per_second"]
        for place, (name, rate) in enumerate(rates.items()):
            ratio = f"{rates[first] / rate:,.1f}×" if first in rates and name != first else ""
            shown = [str(row[setting]) if place == 0 else "" for setting in settings]
            last = place == len(rates) - 1
            table.add_row(*shown, name, f"{rate:,.0f}", ratio, end_section=last)
    Console().print(table)


def write(path: Path, rows: list[dict], packages: tuple[str, ...] = ("jax", "networkx")) -> None:
    """Writes the rows with what they were measured on."""
    machine = {
        "cores": os.cpu_count(),
        "processor": platform.machine(),
        "python": platform.python_version(),
        "load_average": os.getloadavg()[1],  # of five minutes: well above the cores, be wary
        **{package: version(package) for package in packages},
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"machine": machine, "rows": rows}, indent=2) + "\n")
    print(f"wrote {os.path.relpath(path)}")
