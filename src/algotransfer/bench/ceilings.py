"""What the device can do at most, measured: products of matrices, and copies of memory."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jax import lax

from algotransfer.devices import default_platform

MATRIX = {"cpu": 1024}  # sides of the matrices, by platform
MATRIX_ELSEWHERE = 8192
COPIED = {"cpu": 2**26}  # floats that are copied, far more than a cache holds
COPIED_ELSEWHERE = 2**28
REPEATS = 5
PASSES = 16  # over the memory, in one program


@dataclass(frozen=True)
class Ceilings:
    """Operations and bytes per second; a multiplication with its addition is two operations."""

    operations_per_second: float
    bytes_per_second: float


def measure_ceilings(precision: str = "float32") -> Ceilings:
    """The best of several products of square matrices, and of passes that read and write memory.

    **Arguments:**

    - `precision`: of the products, as experiments name it.
    """
    platform = default_platform()
    side = MATRIX.get(platform, MATRIX_ELSEWHERE)
    count = COPIED.get(platform, COPIED_ELSEWHERE)
    with jax.default_matmul_precision(precision):
        matrix = jnp.ones((side, side))
        product = _best_seconds(jax.jit(jnp.matmul), matrix, matrix)
    # Many times in one program: asking for new memory is not what is measured.
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
