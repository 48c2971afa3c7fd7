"""`Processor`: the interface between executors and the message-passing networks they share."""

from __future__ import annotations

import functools
from abc import abstractmethod

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree

from algotransfer.errors import UserError
from algotransfer.networks.layouts import Layout
from algotransfer.networks.weights import Draw


class EdgeInputs(eqx.Module):
    """The input of messages: a vector of width 3h for every edge (i, j), computed on demand.

    For NE it is [z_i, z_j, e_ij], for NE++ the edge encoding q_ij. Only linear maps of it are
    computed, since those need no array of that width.
    """

    @abstractmethod
    def linear(self, matrix: Float[Array, "_3h d"]) -> Float[Array, "e d"]:
        """Return inputs_ij · matrix, on the layout's list of edges."""

    @abstractmethod
    def max_linear(self, matrix: Float[Array, "_3h d"]) -> Float[Array, "n d"]:
        """Return max_j (inputs_ij · matrix): `layout.max(inputs.linear(matrix))`, but cheaper."""


class Processor(eqx.Module):
    """One step of message passing, which executors share between algorithms and tasks.

    A subclass holds arrays and implements `create` and `__call__`; one that keeps values on edges
    from step to step also implements `start`. All of it is written for one graph.
    """

    @classmethod
    @abstractmethod
    def create(cls, hidden: int, draw: Draw) -> Processor:
        """Return a new processor for hidden states of this width.

        **Arguments:**

        - `draw`: `draw(inputs, outputs)` returns a Glorot-uniform matrix. Use it for all random
            numbers: they differ between seeds.
        """

    def start(self, layout: Layout) -> PyTree[Array]:
        """Return the edge state before the first step, for instance zeros [e, d], or None."""
        return None

    @abstractmethod
    def __call__(
        self,
        nodes: Float[Array, "n h"],
        inputs: EdgeInputs,
        layout: Layout,
        edge_state: PyTree[Array],
    ) -> tuple[Float[Array, "n h"], PyTree[Array]]:
        """Return updated nodes, and the next edge state with the shapes and types of `start`.

        **Arguments:**

        - `nodes`: a vector for every node.
        - `inputs`: a vector of width 3h for every edge; `inputs.linear(M)` returns an array.
        - `layout`: the graph, with aggregation over neighbours.
        - `edge_state`: the result of `start`, or of the previous step.
        """


def apply_processors(
    processors: tuple[Processor, ...],
    nodes: Float[Array, "n h"],
    inputs: EdgeInputs,
    layout: Layout,
    edge_states: tuple[PyTree[Array], ...],
) -> tuple[Float[Array, "n h"], tuple[PyTree[Array], ...]]:
    """Return the sum of what processors return for the same nodes, and their edge states."""
    results = [
        _check_result(processor, nodes, edge_state, processor(nodes, inputs, layout, edge_state))
        for processor, edge_state in zip(processors, edge_states, strict=True)
    ]
    updates, states = zip(*results, strict=True)
    return functools.reduce(jnp.add, updates), states


def _check_result(processor: Processor, nodes, edge_state, result):
    """Return what a processor returned, or raise a `UserError` if its type or shapes are wrong."""
    name = type(processor).__name__
    if not isinstance(result, tuple) or len(result) != 2:
        raise UserError(
            f"processor {name} did not return two values; expected (updated nodes, edge state)"
        )
    if (shape := jnp.shape(result[0])) != nodes.shape:
        raise UserError(
            f"updated nodes of processor {name} of shape {shape}; expected {nodes.shape}"
        )
    before, after = _shapes(edge_state), _shapes(result[1])
    if before != after:
        raise UserError(
            f"processor {name} got the edge state {before} and returned {after}; expected the same "
            "shapes and types in every step, beginning with `start`"
        )
    return result


def _shapes(tree: PyTree[Array]) -> PyTree[str]:
    return jax.tree.map(lambda leaf: f"{jnp.result_type(leaf)} {jnp.shape(leaf)}", tree)
