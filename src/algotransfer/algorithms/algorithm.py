"""`Algorithm`, a graph algorithm as data, and `Trace`, the record of its steps."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Bool, Float, Int

from algotransfer.algorithms.frameworks import Framework
from algotransfer.algorithms.state import State
from algotransfer.errors import UserError, shown
from algotransfer.losses import binary_cross_entropy, smooth_l1
from algotransfer.type_checks import check_fields

Array = jax.Array | np.ndarray


def largest_final_key_plus_one(final_key: Float[Array, "*batch nodes"]) -> Float[Array, "*batch"]:
    """The field's stand-in for ∞: the largest finite answer of that graph plus one."""
    return 1 + jnp.max(final_key, axis=-1, where=jnp.isfinite(final_key), initial=0.0)


@dataclass(frozen=True, eq=False)
class Algorithm:
    """A graph algorithm: `initialise_nodes` and `relax_edge` of the paper, as data.

    The framework does the rest: a *parallel* algorithm relaxes every edge at once until nothing
    changes, a *sequential* one pops the best node of a queue and relaxes its edges.

    **Arguments:**

    - `name`: letters, digits and `_ . -`; folders and files are named after it.
    - `framework`: `PARALLEL` or `SEQUENTIAL`.
    - `relax`: `(key of u, weight of the edge) -> candidate key of v`, on arrays that broadcast.
    - `source_key`: `(number of nodes) -> key of the source` at the start.
    - `unreached_key`: key of every other node at the start, different from that of the source; a
        node is *reached* once it differs.
    - `relax_once`: a node keeps the first key that it is given (depth-first search).
    - `weights`: the closed interval of valid weights; the lower end is excluded when it is 0.
    - `graphs`: graphs that it runs on: `any`, `undirected` ones or directed `acyclic` ones.
    - `weighted`: whether the network sees the weights (otherwise 1 on every edge).
    - `binary`: whether the key is a bit that the network predicts by a logit. Predecessors of such
        an algorithm are neither learned nor judged, because several are equally right.
    - `stand_in`: `(final keys) -> finite number` that the network sees in place of ∞ under the
        instance rule.
    - `unit`: `(number of nodes) -> number` that keys are divided by for the network.
    - `cost`: how good a predicted answer is: the key along its `path`, the weight of its `tree`,
        or None where neither is defined.
    - `scaling`: how keys change if all weights are multiplied by the same number: `linear` (by
        that number too), `constant` (not at all), or None if the answer changes. Weights outside
        the range of a network's training graphs are rescaled unless it is None.
    """

    name: str
    title: str
    framework: Framework
    relax: Callable[[Array, Array], Array]
    source_key: Callable[[int], float]
    unreached_key: float
    smaller_is_better: bool
    relax_once: bool = False
    weights: tuple[float, float] = (0.0, np.inf)
    graphs: Literal["any", "undirected", "acyclic"] = "any"
    weighted: bool = True
    binary: bool = False
    stand_in: Callable[[Array], Array] = field(default=largest_final_key_plus_one)
    unit: Callable[[int], float] = field(default=lambda num_nodes: 1.0)
    cost: Literal["path", "tree"] | None = "path"
    scaling: Literal["linear", "constant"] | None = None

    def __post_init__(self):
        check_fields(self)
        if not re.fullmatch(r"\w[\w.-]*", self.name):
            raise UserError(
                f"name is {shown(self.name)}; expected letters, digits and _ . -, the "
                "first not . or -, such as 'my_search', because folders are named after it"
            )
        low, high = self.weights
        if not low <= high:
            raise UserError(
                f"weights of {self.name} is {shown(self.weights)}; expected the lowest valid "
                "weight, then the highest"
            )
        try:
            start, unreached = float(self.source_key(2)), self.unreached_key
        except Exception as error:  # a user's function may raise anything
            reason = f"{type(error).__name__}: {error}".splitlines()[0]
            raise UserError(
                f"source_key(2) of {self.name} failed ({reason}); expected a function of the "
                "number of nodes that returns a number"
            ) from error
        if not (start < unreached or start > unreached):  # equal, or one is NaN
            raise UserError(
                f"source_key(2) of {self.name} returned {start} and unreached_key is "
                f"{shown(unreached)}; expected two different numbers, because a node is reached "
                "once its key differs from unreached_key"
            )

    @property
    def sequential(self) -> bool:
        """Whether one node is visited per step."""
        return self.framework.visits_nodes

    @property
    def predicts_predecessors(self) -> bool:
        """Whether predecessors are learned and judged."""
        return not self.binary

    @property
    def key_metric(self) -> str:
        """How predicted keys are scored: `squared` error, or the share that is `right`."""
        return "right" if self.binary else "squared"

    def decode_key(self, output: Float[jax.Array, "*shape"]) -> Float[jax.Array, "*shape"]:
        """Return the key that a network's output stands for."""
        return (output > 0).astype(output.dtype) if self.binary else output

    def key_loss(self, output, target) -> Float[jax.Array, "*shape"]:
        """Smooth-L1, or cross-entropy where the key is a bit."""
        return binary_cross_entropy(output, target) if self.binary else smooth_l1(output - target)

    def better(self, a: Array, b: Array) -> Array:
        """Whether key `a` is strictly better than key `b`."""
        return a < b if self.smaller_is_better else a > b

    def initial_key(self, source: ArrayLike, num_nodes: int) -> Float[jax.Array, " {num_nodes}"]:
        """The keys of step 0, ∞ included."""
        is_source = jnp.arange(num_nodes) == source
        return jnp.where(
            is_source, jnp.float32(self.source_key(num_nodes)), jnp.float32(self.unreached_key)
        )

    def start(self, source: ArrayLike, num_nodes: int, infinity: ArrayLike) -> State:
        """The network's state of step 0; `infinity` stands for ∞, in the units of the network."""
        key = self.initial_key(source, num_nodes)
        key = jnp.where(jnp.isinf(key), infinity, key / self.unit(num_nodes))
        return self.framework.start(key, source)

    def __repr__(self) -> str:
        return f"<{self.framework.name} algorithm {self.name!r}>"


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
