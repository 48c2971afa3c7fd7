"""Measured ceilings of the device: rate of matrix products, and memory bandwidth."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jax import lax

from algotransfer.devices import default_platform

MATRIX_SIDE = {"cpu": 1024, "gpu": 8192}
COPIED_FLOATS = {"cpu": 2**26, "gpu": 2**28}  # far more than a cache holds
REPEATS = 5
PASSES = 16  # over the memory, in one program


@dataclass(frozen=True)
class Ceilings:
    """Operations and bytes per second; a multiplication and an addition are two operations."""

    operations_per_second: float
    bytes_per_second: float


def measure_ceilings(precision: str = "float32") -> Ceilings:
    """Return the best of several matrix products, and of several passes over memory."""
    platform = default_platform()
    side, count = (sizes.get(platform, sizes["gpu"]) for sizes in (MATRIX_SIDE, COPIED_FLOATS))
    with jax.default_matmul_precision(precision):
        matrix = jnp.ones((side, side))
        product = _best_seconds(jax.jit(jnp.matmul), matrix, matrix)
    # Many passes in one program, so that allocation is not measured.
    passes = jax.jit(lambda values: lax.fori_loop(0, PASSES, lambda k, v: v + k, values))
    copied = _best_seconds(passes, jnp.ones(count)) / PASSES
    return Ceilings(2 * side**3 / product, 2 * 4 * count / copied)


def _best_seconds(run: Callable, *arguments) -> float:
    jax.block_until_ready(run(*arguments))
    seconds = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        jax.block_until_ready(run(*arguments))
        seconds.append(time.perf_counter() - began)
    return min(seconds)
