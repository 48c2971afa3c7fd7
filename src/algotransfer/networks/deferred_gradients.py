"""A scan whose large weight gradients are computed once, after its backward pass."""

from functools import partial

import jax
import jax.numpy as jnp
from jax import lax


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def scan_with_deferred_gradients(step, matrices, early, layout, inputs, start):
    """Run `carry = step(linear, early, layout, carry, input)` for every input.

    The backward pass of a plain scan adds to the gradient of every weight at every step, with one
    small matrix product per step. Here steps call `linear(k, x)` for `x @ matrices[k]`; the
    backward pass stores the gradient of each product, and one large product at the end gives the
    gradient of each matrix.

    **Arguments:**

    - `step`: a pure function; it may close over static values only.
    - `early`: a pytree of weights whose gradients are computed step by step.
    - `inputs`: a pytree of arrays with steps as their first axis. Inputs, layout and start get no
        gradient.

    **Returns:** the carry before every step, and the one after the last.
    """

    def one(carry, now):
        return step(lambda k, x: x @ matrices[k], early, layout, carry, now), carry

    end, carries = lax.scan(one, start, inputs)
    return carries, end


def _forward(step, matrices, early, layout, inputs, start):
    num_steps = jax.tree.leaves(inputs)[0].shape[0]

    def run(early, taps):
        def one(carry, now):
            now, taps = now
            read = [None] * len(matrices)

            def linear(k, x):
                read[k] = x
                return _tapped(x @ matrices[k], taps[k])

            return step(linear, early, layout, carry, now), (carry, read)

        end, (carries, read) = lax.scan(one, start, (inputs, taps))
        return (carries, end), read

    taps = [jnp.zeros((num_steps, layout.num_nodes, m.shape[1]), m.dtype) for m in matrices]
    outputs, backward, read = jax.vjp(run, early, taps, has_aux=True)
    return outputs, (backward, read)


def _backward(step, saved, gradients):
    backward, read = saved
    d_early, d_taps = backward(gradients)
    d_matrices = tuple(
        jnp.einsum("tnx,tny->xy", x, d_y) for x, d_y in zip(read, d_taps, strict=True)
    )
    return d_matrices, d_early, None, None, None


scan_with_deferred_gradients.defvjp(_forward, _backward)


@jax.custom_jvp
def _tapped(y, tap):
    """Return y; its gradient is also the gradient of the tap, which does not change the value."""
    return y


@_tapped.defjvp
def _tapped_jvp(primals, tangents):
    return primals[0], tangents[0] + tangents[1]
