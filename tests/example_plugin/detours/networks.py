"""A network and a processor."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from algotransfer.networks import Processor
from algotransfer.networks.ne import NE


class BoldNE(NE):
    """NE with larger keys."""

    def decode(self, task, latent):
        return 2 * super().decode(task, latent)


class SumMPNN(Processor):
    """nodes'_i = U[nodes_i, Σ_j relu(M inputs_ij)]."""

    message: Float[Array, "three_h h"]
    update: Float[Array, "two_h h"]

    @classmethod
    def create(cls, hidden, draw):
        return cls(message=draw(3 * hidden, hidden), update=draw(2 * hidden, hidden))

    def __call__(self, nodes, inputs, layout, edge_state):
        messages = layout.sum(jax.nn.relu(inputs.linear(self.message)))
        return jnp.concatenate([nodes, messages], axis=-1) @ self.update, edge_state
