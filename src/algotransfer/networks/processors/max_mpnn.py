"""The paper's processor: message passing with an element-wise maximum."""

from __future__ import annotations

from typing import final

import jax.numpy as jnp
from jaxtyping import Array, Float

from algotransfer.networks.layouts import Layout
from algotransfer.networks.processors.processor import EdgeInputs, Processor
from algotransfer.networks.weights import Draw, split_rows


class NodePairs(EdgeInputs):
    """[node_i, node_j, e_ij] on every edge, with e_ij = Σ_f feature_fij · edge_f.

    A linear map of a concatenation is a sum of maps of its pieces: M₁node_i + M₂node_j + (M₃A)w_ij.
    """

    nodes: Float[Array, "n h"]
    edge: Float[Array, "f h"]
    layout: Layout

    def linear(self, matrix):
        receiver, sender, edge = self._split(matrix)
        return self.layout.pairs(self.nodes @ receiver, self.nodes @ sender, self.edge @ edge)

    def max_linear(self, matrix):
        receiver, best = self.max_linear_parts(matrix)
        return self.nodes @ receiver + best

    def max_linear_parts(self, matrix: Float[Array, "_3h d"]):
        """Return M₁ and max_j (M₂node_j + (M₃A)w_ij); M₁node_i does not depend on j."""
        receiver, sender, edge = self._split(matrix)
        return receiver, self.layout.max_plus(self.nodes @ sender, self.edge @ edge)

    def _split(self, matrix):
        return split_rows(matrix, *[self.nodes.shape[-1]] * 3)


@final
class MaxMPNN(Processor):
    """nodes'_i = U[nodes_i, max_j M inputs_ij]: linear messages M and a linear update U."""

    message: Float[Array, "_3h h"]
    update: Float[Array, "_2h h"]

    @classmethod
    def create(cls, hidden: int, draw: Draw) -> MaxMPNN:
        return cls(message=draw(3 * hidden, hidden), update=draw(2 * hidden, hidden))

    def __call__(self, nodes, inputs, layout, edge_state):
        return self._update(nodes, inputs.max_linear(self.message)), edge_state

    def mean(self, inputs: NodePairs) -> Float[Array, " h"]:
        """Return the mean over nodes of one step on `inputs.nodes`.

        Everything except the maximum is linear, so that nodes are averaged before the products.
        """
        receiver, best = inputs.max_linear_parts(self.message)
        mean, message = jnp.mean(inputs.nodes, axis=0), jnp.mean(best, axis=0)
        return self._update(mean, mean @ receiver + message)

    def _update(self, nodes: Float[Array, "*n h"], message: Float[Array, "*n h"]):
        hidden = self.message.shape[1]
        keep, add = split_rows(self.update, hidden, hidden)
        return nodes @ keep + message @ add
