"""Outputs of an execution beside the true values they are compared with."""

from __future__ import annotations

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int


class Comparison(eqx.Module):
    """Given values beside wanted values.

    **Arguments:**

    - `given`, `wanted`: one value per node (per step and node if `steps`), or one per graph.
    - `mask`: the entries that count; None for one value per graph.
    - `kind`: how an error is computed: `squared`, `wrong` (share), `right` (share) or `relative`.
    """

    given: Array
    wanted: Array
    mask: Bool[Array, "..."] | None = None
    kind: str = eqx.field(static=True, default="wrong")
    steps: bool = eqx.field(static=True, default=False)


class Comparisons(eqx.Module):
    """All comparisons of one execution by metric, and its final predecessor pointers."""

    by_metric: dict[str, Comparison]
    answer: Int[Array, "*batch n"] | None


def compare_termination(stop: Array | None, length: Array) -> dict[str, Comparison]:
    """Compare the first step whose termination probability exceeds one half with `length`."""
    if stop is None:
        return {}
    return {"term": Comparison(first_stop(stop), length, kind="relative")}


def first_stop(stop: Array) -> Int[Array, ""]:
    """Return the first step whose termination logit is above 0, or the number of steps."""
    says_stop = stop > 0
    return jnp.where(jnp.any(says_stop), jnp.argmax(says_stop) + 1, len(says_stop))


def repeat_single_step(values: Array, num_steps: int) -> Array:
    """Return the first `num_steps` steps; a single recorded step is repeated."""
    return jnp.broadcast_to(values[:num_steps], (num_steps, *values.shape[1:]))
