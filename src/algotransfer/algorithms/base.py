"""What an algorithm is (a few lines of data) and what running it leaves behind (a trace)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Bool, Float, Int

Array = jax.Array | np.ndarray


def largest_final_key_plus_one(final_key: Float[Array, "*batch nodes"]) -> Float[Array, "*batch"]:
    """The field's stand-in for ∞: just beyond the largest finite answer of that graph."""
    return 1 + jnp.max(final_key, axis=-1, where=jnp.isfinite(final_key), initial=0.0)


@dataclass(frozen=True, eq=False)
class Algorithm:
    """One of the paper's algorithms: `initialise_nodes` and `relax_edge`, as data.

    The two frameworks (the paper's Algorithms 1 and 2) do the rest: a *parallel* algorithm relaxes
    every edge at once until nothing changes, a *sequential* one pops the best node of a queue and
    relaxes its edges. Adding an algorithm is one such object.

    **Arguments:**

    - `relax`: `(key of u, weight of the edge) -> candidate key of v`, on arrays that broadcast.
    - `source_key`: `(number of nodes) -> key of the source` at the start.
    - `unreached_key`: key of every other node at the start; a node is *reached* once it differs.
    - `relax_once`: a node keeps the first key that it is given (depth-first search).
    - `weights`: the closed interval in which the algorithm makes sense of weights; the lower end
        is excluded when it is 0.
    - `weighted`: whether the network sees the weights (otherwise 1 on every edge).
    - `binary`: whether the key is a bit that the network predicts by a logit.
    - `stand_in`: `(final keys) -> finite number` that the network sees in place of ∞ under the
        instance rule.
    - `unit`: `(number of nodes) -> number` that keys are divided by on their way to the network.
    - `cost`: how good a predicted answer is: the key along its `path`, the weight of its `tree`,
        or None where there is no such thing.
    """

    name: str
    title: str
    sequential: bool
    relax: Callable[[Array, Array], Array]
    source_key: Callable[[int], float]
    unreached_key: float
    smaller_is_better: bool
    relax_once: bool = False
    weights: tuple[float, float] = (0.0, np.inf)
    weighted: bool = True
    binary: bool = False
    stand_in: Callable[[Array], Array] = field(default=largest_final_key_plus_one)
    unit: Callable[[int], float] = field(default=lambda num_nodes: 1.0)
    cost: Literal["path", "tree"] | None = "path"

    @property
    def framework(self) -> str:
        """`parallel` or `sequential`."""
        return "sequential" if self.sequential else "parallel"

    def better(self, a: Array, b: Array) -> Array:
        """Whether key `a` is strictly better than key `b`."""
        return a < b if self.smaller_is_better else a > b

    def initial_key(self, source: ArrayLike, num_nodes: int) -> Float[jax.Array, " {num_nodes}"]:
        """The keys of step 0, ∞ and all."""
        is_source = jnp.arange(num_nodes) == source
        return jnp.where(
            is_source, jnp.float32(self.source_key(num_nodes)), jnp.float32(self.unreached_key)
        )

    def __repr__(self) -> str:
        return f"<{self.framework} algorithm {self.name!r}>"


class Trace(eqx.Module):
    """Every step of an execution, for one graph or a batch.

    Step 0 is the initial state, steps after `length` repeat the last one; with `record="final"`
    the one step kept is the last. `pred` is −1 where a node has none; the source points at itself.
    `visited` is None for parallel algorithms.
    """

    key: Float[Array, "*batch steps nodes"]
    pred: Int[Array, "*batch steps nodes"]
    visited: Bool[Array, "*batch steps nodes"] | None
    length: Int[Array, "*batch"]

    @property
    def final_key(self) -> Float[Array, "*batch nodes"]:
        """The answer: keys after the last step."""
        return self.key[..., -1, :]

    @property
    def final_pred(self) -> Int[Array, "*batch nodes"]:
        """The answer: predecessors after the last step."""
        return self.pred[..., -1, :]

    def __getitem__(self, index) -> Trace:
        """The traces at `index` of the batch."""
        return jax.tree.map(lambda leaf: leaf[index], self)
