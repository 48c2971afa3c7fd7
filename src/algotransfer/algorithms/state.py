"""`State`: what a network sees of an algorithm between two steps."""

import equinox as eqx
from jaxtyping import Array, Float


class State(eqx.Module):
    """Keys and visited nodes of one algorithm, in the units of the network.

    `visited` holds 0 or 1 as a float, because gradients of sampled choices flow through it. For a
    parallel algorithm it marks the nodes reached so far.
    """

    key: Float[Array, "*steps n"]
    visited: Float[Array, "*steps n"]
