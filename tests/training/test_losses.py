"""The losses one by one, where they bend and where they might break."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import log_expit, log_softmax

from algotransfer.losses import (
    BETA,
    binary_cross_entropy,
    cross_entropy,
    masked_mean,
    smooth_l1,
)

FLOATS = st.floats(-1e4, 1e4, width=32)
value_and_slope = jax.jit(jax.vmap(jax.value_and_grad(smooth_l1)))


def test_beta_is_the_papers():
    assert BETA == 0.001


@given(
    st.lists(st.one_of(FLOATS, st.floats(-(2.0**-9), 2.0**-9, width=32)), min_size=8, max_size=8)
)
def test_smooth_l1_is_a_parabola_that_becomes_a_line(differences):
    d = np.array(differences, np.float32).astype(float)
    value, slope = value_and_slope(jnp.asarray(d, jnp.float32))
    small = np.abs(d) < 0.001
    np.testing.assert_allclose(
        value, np.where(small, d**2 / 0.002, np.abs(d) - 0.0005), rtol=1e-5, atol=1e-9
    )
    inside = np.abs(np.abs(d) - 0.001) > 1e-8  # at the seam the slope is 1 from either side
    expected = np.where(small, d / 0.001, np.sign(d))
    np.testing.assert_allclose(slope[inside], expected[inside], rtol=1e-5)


@pytest.mark.parametrize("size", [1e10, 1e19, 1e30, 3e38])
def test_smooth_l1_of_huge_differences_has_slope_one(size):
    value, slope = value_and_slope(jnp.array([size, -size], jnp.float32))
    np.testing.assert_allclose(value, [size, size], rtol=1e-6)
    np.testing.assert_array_equal(slope, [1, -1])


def test_smooth_l1_rests_at_zero():
    np.testing.assert_array_equal(value_and_slope(jnp.zeros(1)), [[0.0], [0.0]])


@given(FLOATS, st.booleans())
def test_binary_cross_entropy_is_the_logarithm_of_a_probability(logit, target):
    loss = binary_cross_entropy(jnp.float32(logit), jnp.bool_(target))
    np.testing.assert_allclose(loss, -log_expit(logit if target else -logit), rtol=1e-5, atol=1e-6)


def test_binary_cross_entropy_takes_distributions():
    loss = binary_cross_entropy(jnp.float32(0.3), jnp.float32(0.25))
    expected = -0.25 * log_expit(0.3) - 0.75 * log_expit(-0.3)
    np.testing.assert_allclose(loss, expected, rtol=1e-6)


def test_cross_entropy_is_over_open_nodes_and_shared_by_ties():
    logits = np.array([[5.0, 1.0, -2.0, 0.5]] * 3, np.float32)
    target = np.array([[0, 0.5, 0, 0.5], [0, 0, 1, 0], [0, 0, 0, 0]], np.float32)
    open_nodes = np.array([[0, 1, 1, 1], [0, 0, 1, 1], [0, 0, 0, 0]], bool)

    def total(logits):
        return jnp.sum(cross_entropy(logits, jnp.asarray(target), jnp.asarray(open_nodes)))

    losses = cross_entropy(*map(jnp.asarray, (logits, target, open_nodes)))
    first = log_softmax(logits[0, 1:])
    second = log_softmax(logits[1, 2:])
    np.testing.assert_allclose(losses, [-(first[0] + first[2]) / 2, -second[0], 0], rtol=1e-6)
    gradient = jax.grad(total)(jnp.asarray(logits))
    assert np.all(np.isfinite(gradient))
    np.testing.assert_array_equal(np.asarray(gradient)[~open_nodes], 0)  # closed ones feel nothing


def test_masked_mean_ignores_what_is_masked_even_if_infinite():
    values = jnp.array([[1.0, 2.0, jnp.inf], [jnp.nan, jnp.inf, 5.0], [jnp.inf] * 3])
    mask = jnp.array([[True, True, False], [False, False, True], [False] * 3])
    np.testing.assert_array_equal(masked_mean(values, mask), [1.5, 5.0, 0.0])
    gradient = jax.grad(lambda v: jnp.sum(masked_mean(v, mask)))(values)
    np.testing.assert_array_equal(gradient, [[0.5, 0.5, 0], [0, 0, 1], [0, 0, 0]])
