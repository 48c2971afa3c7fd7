"""What both networks are made of: the processor, and the heads that read its result."""

from __future__ import annotations

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from algotransfer.algorithms import Algorithm
from algotransfer.networks.layouts import Layout, Scores
from algotransfer.networks.weights import Draw, split_rows


class Processor(eqx.Module):
    """The shared max-MPNN: linear messages M, an element-wise max, a linear update U."""

    message: Float[Array, "_3h h"]
    update: Float[Array, "_2h h"]

    @classmethod
    def create(cls, hidden: int, draw: Draw) -> Processor:
        return cls(message=draw(3 * hidden, hidden), update=draw(2 * hidden, hidden))

    @property
    def hidden(self) -> int:
        """Width of the hidden state."""
        return self.message.shape[1]

    def from_nodes(self, node: Float[Array, "n h"], edge: Float[Array, "f h"], layout: Layout):
        """U[node_i, max_j M[node_i, node_j, e_ij]] with e_ij = Σ_f feature_fij · edge_f.

        A linear map of a concatenation is a sum of maps of its pieces, so that the max runs over
        M₂node_j + (M₃A)w_ij alone and M₁node_i is added after it.
        """
        own, best = self.message_parts(node, edge, layout)
        return self.updated(node, node @ own + best)

    def message_parts(self, node: Float[Array, "n h"], edge: Float[Array, "f h"], layout: Layout):
        """M₁, and max_j (M₂node_j + (M₃A)w_ij): the message of i is M₁node_i plus the latter."""
        own, other, along = split_rows(self.message, *[self.hidden] * 3)
        return own, layout.max_plus(node @ other, edge @ along)

    def updated(self, node: Float[Array, "*n h"], message: Float[Array, "*n h"]):
        """U[node_i, message_i]."""
        keep, add = split_rows(self.update, self.hidden, self.hidden)
        return node @ keep + message @ add


class Latent(eqx.Module):
    """What a step leaves for the heads: what the decoder reads beside h', and h' itself."""

    inputs: Float[Array, "*steps n d"]
    hidden: Float[Array, "*steps n h"]


class Termination(eqx.Module):
    """σ(linear(mean_i of an own max-MPNN of h')): whether this was the last step."""

    processor: Processor
    linear: Float[Array, "h 1"]

    @classmethod
    def create(cls, hidden: int, draw: Draw) -> Termination:
        return cls(Processor.create(hidden, draw), linear=draw(hidden, 1))

    def __call__(self, hidden, edge, layout: Layout) -> Float[Array, ""]:
        # All but the maximum is linear, so that the mean over nodes comes first.
        own, best = self.processor.message_parts(hidden, edge, layout)
        mean, message = jnp.mean(hidden, axis=0), jnp.mean(best, axis=0)
        return (self.processor.updated(mean, mean @ own + message) @ self.linear)[0]


class Heads(eqx.Module):
    """What one algorithm reads off the latent: outputs y and predecessor scores."""

    decoder: Float[Array, "d y"]
    predecessor: Float[Array, "_2h 1"]

    @classmethod
    def create(cls, inputs: int, hidden: int, algorithm: Algorithm, draw: Draw) -> Heads:
        outputs = algorithm.framework.num_outputs
        return cls(decoder=draw(inputs + hidden, outputs), predecessor=draw(2 * hidden, 1))

    def decode(self, latent: Latent) -> Float[Array, "n y"]:
        first, second = split_rows(self.decoder, latent.inputs.shape[-1], latent.hidden.shape[-1])
        return latent.inputs @ first + latent.hidden @ second

    def scores(self, latent: Latent, edge: Float[Array, "f h"], layout: Layout) -> Scores:
        """s_ij = S[h'_j, e_ij]."""
        hidden = latent.hidden.shape[-1]
        sender, along = split_rows(self.predecessor[:, 0], hidden, hidden)
        return layout.scores(latent.hidden @ sender, edge @ along)
