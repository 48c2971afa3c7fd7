"""Losses of the paper.

They are not those of optax because committed runs must be reproducible to the last bit: optax
orders the same operations differently.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

BETA = 0.001  # where smooth-L1 turns from a parabola into a line


def smooth_l1(difference: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    """d²/(2β) for |d| < β, |d| − β/2 otherwise."""
    size = jnp.abs(difference)
    # Squaring only what is small keeps huge differences from an inf · 0 in the gradient.
    small = jnp.minimum(size, BETA)
    return jnp.where(size < BETA, small**2 / (2 * BETA), size - BETA / 2)


def binary_cross_entropy(
    logit: Float[Array, "*shape"], target: Bool[Array, "*shape"] | Float[Array, "*shape"]
) -> Float[Array, "*shape"]:
    """−log of the probability that σ(logit) gives to the target."""
    return jax.nn.softplus(logit) - logit * target


def cross_entropy(
    logits: Float[Array, "*steps n"],
    target: Float[Array, "*steps n"],
    open: Bool[Array, "*steps n"],
) -> Float[Array, "*steps"]:
    """Softmax over the open nodes against a distribution on them; 0 where none is open."""
    logits = jnp.where(open, logits, -jnp.inf)
    logits = jnp.where(jnp.any(open, axis=-1, keepdims=True), logits, 0.0)
    log_probability = jax.nn.log_softmax(logits, axis=-1)
    return -jnp.sum(jnp.where(target > 0, target * log_probability, 0.0), axis=-1)


def masked_mean(
    values: Float[Array, "*steps n"], mask: Bool[Array, "*steps n"]
) -> Float[Array, "*steps"]:
    """Mean over the masked entries of the last axis; 0 where the mask is empty."""
    total = jnp.sum(jnp.where(mask, values, 0.0), axis=-1)
    return total / jnp.maximum(1, jnp.sum(mask, axis=-1))
