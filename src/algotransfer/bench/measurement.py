"""A row of a benchmark, its share of the ceilings, and rows beside those of another day."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from algotransfer.bench.ceilings import Ceilings
from algotransfer.bench.minimum import Work

SLOWER = 1.1  # times the baseline's time, from which on a row counts as slower


@dataclass(frozen=True)
class Row:
    """What one thing costs; a step is one training step, or one step of an execution."""

    part: str
    what: str
    graphs_per_second: float
    milliseconds_per_step: float
    compile_seconds: float
    memory_bytes: int  # that the compiled program asks for
    peak_bytes: int  # the most so far, of the device or (on a CPU) of the process
    operations: float | None = None  # of a step, at least
    bytes: float | None = None

    @classmethod
    def of(cls, work: Work | None, **numbers: Any) -> Row:
        """A row with what must be done at least, where that is known."""
        if work is None:
            return cls(**numbers)
        return cls(operations=work.operations, bytes=work.bytes, **numbers)

    def shares(self, ceilings: Ceilings) -> tuple[float, float] | None:
        """The achieved share of the device's operations and bytes per second."""
        if self.operations is None or self.bytes is None:
            return None
        seconds = self.milliseconds_per_step / 1000
        return (
            self.operations / seconds / ceilings.operations_per_second,
            self.bytes / seconds / ceilings.bytes_per_second,
        )


def median_seconds(run: Callable[[], object], repeats: int) -> float:
    """The median time of something that is warmed up."""
    seconds = []
    for _ in range(repeats):
        began = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - began)
    return statistics.median(seconds)


def slower_than(rows: Iterable[dict], baseline: Iterable[dict]) -> list[tuple[str, float]]:
    """Rows that take over a tenth longer than in the baseline: which, and how many times as long.

    **Arguments:**

    - `rows`, `baseline`: as JSON has them; those that only one of both has are left out.
    """
    before = {(row["part"], row["what"]): row for row in baseline if "what" in row}
    found = []
    for row in rows:
        old = before.get((row["part"], row["what"]))
        if old is not None:
            ratio = row["milliseconds_per_step"] / old["milliseconds_per_step"]
            if ratio > SLOWER:
                found.append((f"{row['part']}: {row['what']}", ratio))
    return found
