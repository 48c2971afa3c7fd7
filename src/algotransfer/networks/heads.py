"""Heads of NE and NE++: outputs, predecessor scores and termination."""

from __future__ import annotations

from typing import final

import equinox as eqx
from jaxtyping import Array, Float

from algotransfer.algorithms import Algorithm
from algotransfer.networks.layouts import Layout, Scores
from algotransfer.networks.processors import MaxMPNN, NodePairs
from algotransfer.networks.weights import Draw, split_rows


@final
class Latent(eqx.Module):
    """What the heads of NE and NE++ read after a step.

    **Attributes:**

    - `inputs`: the decoder's inputs besides h': z in NE, [x, h] in NE++.
    - `hidden`: the new hidden state h'.
    """

    inputs: Float[Array, "*steps n d"]
    hidden: Float[Array, "*steps n h"]


@final
class Termination(eqx.Module):
    """The termination logit linear(mean_i of a max-MPNN of h'), with weights of its own."""

    processor: MaxMPNN
    linear: Float[Array, "h 1"]

    @classmethod
    def create(cls, hidden: int, draw: Draw) -> Termination:
        return cls(MaxMPNN.create(hidden, draw), linear=draw(hidden, 1))

    def __call__(self, hidden, edge, layout: Layout) -> Float[Array, ""]:
        return (self.processor.mean(NodePairs(hidden, edge, layout)) @ self.linear)[0]


@final
class Heads(eqx.Module):
    """Outputs y and predecessor scores of one algorithm."""

    decoder: Float[Array, "d y"]
    predecessor: Float[Array, "_2h 1"]

    @classmethod
    def create(cls, inputs: int, hidden: int, algorithm: Algorithm, draw: Draw) -> Heads:
        outputs = algorithm.framework.num_outputs
        return cls(decoder=draw(inputs + hidden, outputs), predecessor=draw(2 * hidden, 1))

    def decode(self, latent: Latent) -> Float[Array, "n y"]:
        """Return y_i = D[inputs_i, h'_i]."""
        first, second = split_rows(self.decoder, latent.inputs.shape[-1], latent.hidden.shape[-1])
        return latent.inputs @ first + latent.hidden @ second

    def scores(self, latent: Latent, edge: Float[Array, "f h"], layout: Layout) -> Scores:
        """Return s_ij = S[h'_j, e_ij]."""
        hidden = latent.hidden.shape[-1]
        sender, along = split_rows(self.predecessor[:, 0], hidden, hidden)
        return layout.scores(latent.hidden @ sender, edge @ along)
