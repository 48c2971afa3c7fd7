"""`Truth`: a trace in the units and the form that the network sees."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from algotransfer.algorithms.algorithm import Algorithm, Trace
from algotransfer.algorithms.algorithm import Array as AnyArray
from algotransfer.algorithms.state import State

Infinity = float | str  # "instance", or the number that stands for ∞


class Truth(eqx.Module):
    """A trace for the network: finite keys in its units, and the nodes visited or reached so far.

    The first state is the initial one. The last state is the final answer of every graph of a
    batch: shorter traces repeat theirs.

    **Attributes:**

    - `key`, `pred`: keys and predecessors in every state; a node without predecessor has -1.
    - `visited`: the nodes visited (sequential) or reached (parallel).
    - `next_node`: uniform over the nodes that may be visited next (all nodes tied for the best
        key); None if parallel.
    - `length`: steps that the graph runs.
    """

    key: Float[Array, "*batch states n"]
    pred: Int[Array, "*batch states n"]
    visited: Bool[Array, "*batch states n"]
    next_node: Float[Array, "*batch steps n"] | None
    source: Int[Array, "*batch"]
    length: Int[Array, "*batch"]

    @property
    def start(self) -> State:
        """The initial state; a free-running execution is given nothing else."""
        return State(self.key[..., 0, :], self.visited[..., 0, :].astype(self.key.dtype))

    @property
    def reached(self) -> Bool[Array, "*batch n"]:
        """The nodes that the algorithm reaches in the end; nodes of padding are not among them."""
        return self.pred[..., -1, :] >= 0


def make_truth(algorithm: Algorithm, trace: Trace, infinity: Infinity, num_steps: int) -> Truth:
    """Convert a batch of traces into inputs and targets of the network, of `num_steps` steps."""
    num_nodes = trace.key.shape[-1]
    kept = slice(num_steps + 1)
    stand_in = stand_in_for(algorithm, trace.final_key, infinity)[..., None, None]
    raw = jnp.asarray(trace.key[..., kept, :])
    pred = jnp.asarray(trace.pred[..., kept, :])
    visited = None if trace.visited is None else jnp.asarray(trace.visited[..., kept, :])
    visited, next_node = algorithm.framework.targets(algorithm, raw, visited)
    return Truth(
        key=jnp.where(jnp.isinf(raw), stand_in, raw) / algorithm.unit(num_nodes),
        pred=pred,
        visited=visited,
        next_node=next_node,
        source=jnp.argmax(pred[..., 0, :] >= 0, axis=-1).astype(jnp.int32),
        length=jnp.asarray(trace.length),
    )


def stand_in_for(
    algorithm: Algorithm, final_key: Float[AnyArray, "*batch n"], infinity: Infinity
) -> Float[Array, "*batch"]:
    """The number that the network sees for ∞ in each graph, before division by the unit."""
    if infinity == "instance":
        return jnp.asarray(algorithm.stand_in(final_key))
    return jnp.full(final_key.shape[:-1], float(infinity))
