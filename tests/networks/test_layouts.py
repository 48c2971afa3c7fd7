"""Softmax, arg-max and reach on edges: both layouts against plain loops, masks included."""

import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from networks.small import LAYOUTS, from_matrix, padded_layout, quick_jit, random_graphs
from scipy.special import logsumexp, softmax

NUM_NODES = 7


def values(layout, matrix, index, allowed, nodes):
    """What a layout says, and gradients of the two softmaxes with respect to the scores."""

    def log_softmax(matrix, allowed):
        return layout.log_softmax_at(from_matrix(layout, matrix), index, allowed)

    def finite_sum(matrix, allowed):
        at = log_softmax(matrix, allowed)
        # As losses do: an impossible target is left out of the sum, not multiplied by 0.
        return jnp.sum(jnp.where(jnp.isfinite(at), at, 0.0))

    scores = from_matrix(layout, matrix)
    return {
        "all": log_softmax(matrix, None),
        "allowed": log_softmax(matrix, allowed),
        "gradient": jax.grad(finite_sum)(matrix, None),
        "allowed gradient": jax.grad(finite_sum)(matrix, allowed),
        "argmax": layout.argmax(scores),
        "allowed argmax": layout.argmax(scores, allowed),
        "reach": layout.reach(nodes),
    }


@quick_jit
def both(dense, sparse, *arguments):
    return [values(layout, *arguments) for layout in (dense, sparse)]


def expected_values(graph, matrix, index, allowed, nodes):
    """The same in plain loops."""
    result = {
        "all": np.zeros(NUM_NODES),
        "allowed": np.zeros(NUM_NODES),
        "gradient": np.zeros((NUM_NODES, NUM_NODES)),
        "allowed gradient": np.zeros((NUM_NODES, NUM_NODES)),
        "argmax": np.zeros(NUM_NODES, int),
        "allowed argmax": np.zeros(NUM_NODES, int),
        "reach": np.zeros(NUM_NODES, bool),
    }
    for i in range(NUM_NODES):
        senders = [j for j, _ in graph.senders(i, ())]
        result["reach"][i] = any(nodes[j] for j in senders)
        for prefix, group in (
            ("", senders),
            ("allowed ", [j for j in senders if allowed[j] or j == i]),
        ):
            row = np.array([matrix[i, j] for j in group], float)
            result[prefix + "argmax"][i] = group[int(np.argmax(row))]  # ties: the lowest index
            possible = index[i] in group
            at = matrix[i, index[i]] - logsumexp(row) if possible else -np.inf
            result[prefix.strip() or "all"][i] = at
            if possible:
                result[prefix + "gradient"][i, group] -= softmax(row)
                result[prefix + "gradient"][i, index[i]] += 1
    return result


@given(seed=st.integers(0, 2**32), whole_numbers=st.booleans(), density=st.integers(0, 3))
def test_both_layouts_agree_with_plain_loops(seed, whole_numbers, density):
    """Whole numbers make ties; targets are any nodes, so that many are masked or no neighbours."""
    rng = np.random.default_rng(seed)
    graph = random_graphs(rng, 4, NUM_NODES)[density]
    matrix = rng.normal(scale=3, size=(NUM_NODES, NUM_NODES)).astype(np.float32)
    matrix = np.round(matrix) if whole_numbers else matrix
    index = rng.integers(0, NUM_NODES, NUM_NODES).astype(np.int32)
    allowed, nodes = rng.random((2, NUM_NODES)) < 0.4
    layouts = [padded_layout(graph, ("weight",), name) for name in LAYOUTS]
    results = both(*layouts, *map(jnp.asarray, (matrix, index, allowed, nodes)))
    expected = expected_values(graph, matrix, index, allowed, nodes)
    for result in results:
        for name, value in expected.items():
            if value.dtype == float:
                np.testing.assert_allclose(result[name], value, atol=2e-5, rtol=1e-5, err_msg=name)
            else:
                np.testing.assert_array_equal(result[name], value, err_msg=name)


def test_huge_scores_neither_overflow_nor_become_nan():
    graph = random_graphs(np.random.default_rng(0), 4, NUM_NODES)[2]
    matrix = 1e30 * np.random.default_rng(1).normal(size=(NUM_NODES, NUM_NODES))
    index, every = np.arange(NUM_NODES, dtype=np.int32), np.ones(NUM_NODES, bool)
    layouts = [padded_layout(graph, ("weight",), name) for name in LAYOUTS]
    arguments = (matrix.astype(np.float32), index, every, every)
    dense, sparse = both(*layouts, *map(jnp.asarray, arguments))
    for name, value in dense.items():
        assert not np.any(np.isnan(value))
        np.testing.assert_allclose(sparse[name], value, rtol=1e-6)
