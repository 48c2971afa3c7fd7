"""The truth about an execution in the units and the form that the network sees (SPEC: §2)."""

from __future__ import annotations

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from algotransfer.algorithms import Algorithm, Trace
from algotransfer.algorithms.base import Array as AnyArray
from algotransfer.networks.rollout import State

Infinity = float | str  # "instance", or the number that stands for ∞


class Truth(eqx.Module):
    """A trace for the network: finite keys in its units, and the set of nodes done by each step.

    `visited` holds the nodes visited (sequential) or reached (parallel). `next_node` is uniform
    over the nodes that may be visited next (all nodes tied for the best key); None if parallel.
    """

    key: Float[Array, "*batch states n"]
    pred: Int[Array, "*batch states n"]
    visited: Bool[Array, "*batch states n"]
    next_node: Float[Array, "*batch steps n"] | None
    source: Int[Array, "*batch"]
    length: Int[Array, "*batch"]

    @property
    def start(self) -> State:
        """The initial state; all that a free-running execution is given."""
        return State(self.key[0], self.visited[0].astype(self.key.dtype))

    @property
    def reached(self) -> Bool[Array, " n"]:
        """The nodes that the algorithm reaches in the end."""
        return self.pred[-1] >= 0

    def teacher(self, sequential: bool) -> State:
        """The true state of every step but the last, as teacher forcing shows it.

        A sequential trace shows a key only once its node has been visited.
        """
        key, visited = self.key[:-1], self.visited[:-1]
        if sequential:
            key = jnp.where(visited, key, self.key[0])
        return State(key, visited.astype(key.dtype))


def make_truth(algorithm: Algorithm, trace: Trace, infinity: Infinity, num_steps: int) -> Truth:
    """Turns traces (a batch) into what the network is shown and held to.

    **Arguments:**

    - `infinity`: `instance` for the algorithm's own stand-in per graph, or a number.
    - `num_steps`: steps to keep; at least the longest trace of the batch.
    """
    num_nodes = trace.key.shape[-1]
    stand_in = stand_in_for(algorithm, trace.final_key, infinity)[..., None, None]
    raw = jnp.asarray(trace.key[..., : num_steps + 1, :])
    pred = jnp.asarray(trace.pred[..., : num_steps + 1, :])
    key = jnp.where(jnp.isinf(raw), stand_in, raw) / algorithm.unit(num_nodes)

    reached = raw != algorithm.unreached_key
    visited, next_node = reached, None
    if algorithm.sequential:
        assert trace.visited is not None
        visited = jnp.asarray(trace.visited[..., : num_steps + 1, :])
        queued = (reached & ~visited)[..., :-1, :]
        sign = 1.0 if algorithm.smaller_is_better else -1.0
        cost = jnp.where(queued, sign * raw[..., :-1, :], jnp.inf)
        tied = queued & (cost == jnp.min(cost, axis=-1, keepdims=True))
        next_node = tied / jnp.maximum(1, jnp.sum(tied, axis=-1, keepdims=True))
    source = jnp.argmax(pred[..., 0, :] >= 0, axis=-1).astype(jnp.int32)
    return Truth(key, pred, visited, next_node, source, jnp.asarray(trace.length))


def stand_in_for(
    algorithm: Algorithm, final_key: Float[AnyArray, "*batch n"], infinity: Infinity
) -> Float[Array, "*batch"]:
    """The number that the network sees for ∞ in each graph."""
    if infinity == "instance":
        return jnp.asarray(algorithm.stand_in(final_key))
    return jnp.full(final_key.shape[:-1], float(infinity))
