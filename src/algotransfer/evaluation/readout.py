"""What an execution is held against: at which step which node's output counts (SPEC: §6).

A reading picks outputs and the truth side by side, on the device where both are; the errors
themselves are made of them by `metrics`, in float64. `READOUTS` lists one per kind of supervision
and framework.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int

from algotransfer.algorithms import Algorithm
from algotransfer.evaluation.harness import Execution
from algotransfer.training.truth import Truth


class Comparison(eqx.Module):
    """Outputs beside the truth.

    **Arguments:**

    - `given`, `wanted`: one value per node (per step and node for `steps`), or one per graph.
    - `mask`: which of them count; None for one value per graph.
    - `kind`: what to make of them: `squared` error, `wrong` or `right` share, or `relative` size.
    """

    given: Array
    wanted: Array
    mask: Bool[Array, "..."] | None = None
    kind: str = eqx.field(static=True, default="wrong")
    steps: bool = eqx.field(static=True, default=False)


class Reading(eqx.Module):
    """All comparisons of an execution by metric, and the pointers that are its final answer."""

    comparisons: dict[str, Comparison]
    answer: Int[Array, "*batch n"] | None


def read_sequential(algorithm: Algorithm, execution: Execution, truth: Truth) -> Reading:
    """Teacher-forced, sequential: each node at the step at which it is truly visited."""
    assert truth.next_node is not None, "a sequential algorithm has a next node"
    num_steps, num_nodes = truth.next_node.shape
    step = jnp.argmax(truth.visited[1:] & ~truth.visited[:-1], axis=0)  # [n]
    node, reached = jnp.arange(num_nodes), truth.reached
    comparisons, answer = {}, None
    if execution.chosen is not None:
        chosen = execution.chosen[step]
        right = truth.next_node[step, chosen] > 0  # any node tied for the best key is right
        comparisons["next"] = Comparison(right, jnp.ones_like(right), reached)
    if execution.key is not None:
        comparisons |= _keys(algorithm, execution.key[step, node], truth.key[-1], reached)
        if execution.chosen is not None:
            picked = _keys(algorithm, execution.key[step, chosen], truth.key[-1, chosen], reached)
            comparisons["key_picked"] = picked["key"]
    if execution.pointer is not None:
        pointer = _for_steps(execution.pointer, num_steps)
        comparisons["pred"] = Comparison(pointer[step, node], truth.pred[-1], reached)
        answer = pointer_when_chosen(execution.pointer, execution.chosen)
    return Reading(comparisons | _termination(execution, truth), answer)


def read_parallel(algorithm: Algorithm, execution: Execution, truth: Truth) -> Reading:
    """Teacher-forced, parallel: all nodes reached so far, at every step."""
    num_steps = truth.key.shape[0] - 1
    counts = truth.visited[1:] & (jnp.arange(num_steps) < truth.length)[:, None]  # [steps, n]
    last, reached = truth.length - 1, truth.reached
    comparisons, answer = {}, None
    if execution.key is not None:
        key = _for_steps(execution.key, num_steps)
        comparisons |= _keys(algorithm, key, truth.key[1:], counts, steps=True)
        comparisons |= _keys(algorithm, key[last], truth.key[-1], reached, "key_last")
    if execution.pointer is not None:
        pointer = _for_steps(execution.pointer, num_steps)
        answer = pointer[last]
        comparisons["pred"] = Comparison(pointer, truth.pred[1:], counts, steps=True)
        comparisons["pred_last"] = Comparison(answer, truth.pred[-1], reached)
    return Reading(comparisons | _termination(execution, truth), answer)


def read_answer(algorithm: Algorithm, execution: Execution, truth: Truth) -> Reading:
    """No algorithm: all nodes that are reached in the end, at the last step."""
    comparisons, answer, reached = {}, None, truth.reached
    if execution.key is not None:
        last = jnp.minimum(truth.length, execution.key.shape[0]) - 1
        comparisons |= _keys(algorithm, execution.key[last], truth.key[-1], reached)
    if execution.pointer is not None:
        last = jnp.minimum(truth.length, execution.pointer.shape[0]) - 1
        answer = execution.pointer[last]
        comparisons["pred"] = Comparison(answer, truth.pred[-1], reached)
    return Reading(comparisons, answer)


def _keys(algorithm, given, wanted, mask, name="key", **options) -> dict[str, Comparison]:
    kind = "right" if algorithm.binary else "squared"
    return {name: Comparison(given, wanted, mask, kind, **options)}


def _for_steps(values: Array, num_steps: int) -> Array:
    """The first steps; a single one stands for all."""
    return jnp.broadcast_to(values[:num_steps], (num_steps, *values.shape[1:]))


def pointer_when_chosen(
    pointer: Int[Array, "steps n"], chosen: Int[Array, " steps"] | None
) -> Int[Array, " n"]:
    """Each node's pointer at the step the network chose it, and never chosen, itself."""
    if chosen is None:
        return pointer[-1]
    num_steps, num_nodes = pointer.shape
    node = jnp.arange(num_nodes, dtype=pointer.dtype)
    never = jnp.full(num_nodes, num_steps)
    step = never.at[chosen].min(jnp.arange(num_steps))
    return jnp.where(step < num_steps, pointer.at[step, node].get(mode="clip"), node)


def _termination(execution: Execution, truth: Truth) -> dict[str, Comparison]:
    if execution.stop is None:
        return {}
    says_so = execution.stop > 0  # a probability above one half
    first = jnp.where(jnp.any(says_so), jnp.argmax(says_so) + 1, len(says_so))
    return {"term": Comparison(first, truth.length, kind="relative")}


Read = Callable[[Algorithm, Execution, Truth], Reading]


class Readout(NamedTuple):
    """How a supervision is read, and whether at every step.

    Who is read at every step has to find its end itself and runs as many steps as there are nodes;
    who is read at the end is told how many steps there are.
    """

    read: Read
    every_step: bool


# By supervision and framework.
READOUTS: dict[tuple[str, str], Readout] = {
    ("tf", "sequential"): Readout(read_sequential, every_step=True),
    ("tf", "parallel"): Readout(read_parallel, every_step=True),
    ("na", "sequential"): Readout(read_answer, every_step=False),
    ("na", "parallel"): Readout(read_answer, every_step=False),
}


@partial(jax.jit, static_argnums=(0, 1))
def read_batch(read: Read, algorithm: Algorithm, execution: Execution, truth: Truth) -> Reading:
    """A reading of a batch of graphs; axes of the execution in front of the batch are seeds."""
    if algorithm.binary:  # which of several equal parents is listed is not learned, nor judged
        execution = dataclasses.replace(execution, pointer=None)
    one = jax.vmap(partial(read, algorithm))
    some = jax.tree.leaves((execution.key, execution.pointer))[0]
    for _ in range(some.ndim - truth.key.ndim):
        one = jax.vmap(one, in_axes=(0, None))
    return one(execution, truth)
