"""Initialisation of weight matrices, and their blocks for concatenated inputs."""

from collections.abc import Callable
from itertools import accumulate
from typing import TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

Draw = Callable[[int, int], Array]  # (inputs, outputs) -> a new matrix, used as `x @ matrix`
Network = TypeVar("Network")


def initialise(build: Callable[[Draw], Network], key: PRNGKeyArray) -> Network:
    """Build a network with Glorot-uniform matrices.

    All numbers come from one draw that is split into pieces: a program with one random generator
    compiles several times faster than one with a generator per matrix.
    """
    sizes: list[int] = []

    def count(inputs: int, outputs: int):
        sizes.append(inputs * outputs)
        return jnp.zeros((inputs, outputs))

    jax.eval_shape(lambda: build(count))
    numbers = jax.random.uniform(key, (sum(sizes),), minval=-1.0, maxval=1.0)
    pieces = iter(jnp.split(numbers, np.cumsum(sizes)[:-1]))

    def draw(inputs: int, outputs: int):
        return next(pieces).reshape(inputs, outputs) * (6 / (inputs + outputs)) ** 0.5

    return build(draw)


def split_rows(matrix: Float[Array, "rows *h"], *sizes: int) -> list[Float[Array, "_ *h"]]:
    """Split a matrix that multiplies a concatenation into one block for each of its pieces."""
    ends = [*accumulate(sizes)]
    assert ends[-1] == matrix.shape[0], f"matrix of {matrix.shape[0]} rows; expected {ends[-1]}"
    return [matrix[end - size : end] for end, size in zip(ends, sizes, strict=True)]
