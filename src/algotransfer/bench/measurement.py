"""Measurements of a benchmark, and ceilings of the device."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from algotransfer.bench.minimum_work import Work
from algotransfer.devices import default_platform, peak_memory

MATRIX_SIDE = {"cpu": 1024, "gpu": 8192}
COPIED_FLOATS = {"cpu": 2**26, "gpu": 2**28}  # far more than a cache holds
REPEATS = 5
PASSES = 16  # over the memory, in one program


@dataclass(frozen=True)
class Ceilings:
    """Operations and bytes per second; a multiplication and an addition are two operations."""

    operations_per_second: float
    bytes_per_second: float


@dataclass(frozen=True)
class Measurement:
    """Measured cost of a step: one training step, or one step of an execution."""

    part: str
    what: str
    graphs_per_second: float
    milliseconds_per_step: float
    compile_seconds: float
    memory_bytes: int = 0  # of the compiled program
    # peak of the device or, on a CPU, of the process
    peak_bytes: int = field(default_factory=peak_memory)
    operations: float | None = None  # minimum of a step, see minimum_work.py
    bytes: float | None = None

    @classmethod
    def of(cls, work: Work | None, **numbers: Any) -> "Measurement":
        """Return a measurement with its minimum work, if known."""
        if work is None:
            return cls(**numbers)
        return cls(operations=work.operations, bytes=work.bytes, **numbers)

    def shares(self, ceilings: Ceilings) -> tuple[float, float] | None:
        """Return the achieved shares of the device's operations and bytes per second."""
        if self.operations is None or self.bytes is None:
            return None
        seconds = self.milliseconds_per_step / 1000
        return (
            self.operations / seconds / ceilings.operations_per_second,
            self.bytes / seconds / ceilings.bytes_per_second,
        )


def median_seconds(run: Callable[[], object], repeats: int) -> float:
    """Return the median time of a function that is already compiled."""
    return statistics.median(_seconds(run, repeats))


def _seconds(run: Callable[[], object], repeats: int) -> list[float]:
    seconds = []
    for _ in range(repeats):
        began = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - began)
    return seconds


def measure_ceilings() -> Ceilings:
    """Return the best of several matrix products, and of several passes over memory."""
    platform = default_platform()
    side, count = (sizes.get(platform, sizes["gpu"]) for sizes in (MATRIX_SIDE, COPIED_FLOATS))
    with jax.default_matmul_precision("float32"):
        matrix = jnp.ones((side, side))
        product = _best_seconds(jax.jit(jnp.matmul), matrix, matrix)
    # Many passes in one program, so that allocation is not measured.
    passes = jax.jit(lambda values: lax.fori_loop(0, PASSES, lambda k, v: v + k, values))
    copied = _best_seconds(passes, jnp.ones(count)) / PASSES
    return Ceilings(2 * side**3 / product, 2 * 4 * count / copied)


def _best_seconds(run: Callable, *arguments) -> float:
    jax.block_until_ready(run(*arguments))
    return min(_seconds(lambda: jax.block_until_ready(run(*arguments)), REPEATS))
