"""Aggregation over neighbours: both layouts against plain loops and matrices."""

import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from networks.small import (
    LAYOUTS,
    as_matrix,
    from_matrix,
    padded_layout,
    quick_jit,
    random_graphs,
)
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


def aggregations(layout, matrix, weigh):
    """Every aggregation of values [i, j, d], and its gradient."""
    on_edges = weigh.at[layout.i, layout.j].get(mode="fill", fill_value=0.0)

    def values(matrix):
        return matrix.at[layout.i, layout.j].get(mode="fill", fill_value=7.0)

    functions = {
        "max": lambda matrix: layout.max(values(matrix)),
        "sum": lambda matrix: layout.sum(values(matrix)),
        "mean": lambda matrix: layout.mean(values(matrix)),
        "softmax": lambda matrix: layout.sum(layout.softmax(values(matrix)) * on_edges),
        "receivers": lambda matrix: layout.sum(layout.gather_receivers(matrix[0]) * on_edges),
        "senders": lambda matrix: layout.sum(layout.gather_senders(matrix[0]) * on_edges),
    }

    def with_gradient(function):
        result, backward = jax.vjp(function, matrix)
        return result, *backward(weigh[0])

    return {name: with_gradient(function) for name, function in functions.items()}


def plain_aggregations(edges, matrix, weigh):
    """The same on matrices, differentiated by JAX."""
    mask = edges[..., None]

    def soft(matrix):
        shares = jax.nn.softmax(jnp.where(mask, matrix, -jnp.inf), axis=1)
        return jnp.sum(shares * weigh, axis=1)

    def total(values):
        return jnp.sum(jnp.where(mask, values, 0.0), axis=1)

    functions = {
        "max": lambda matrix: jnp.max(jnp.where(mask, matrix, -jnp.inf), axis=1),
        "sum": total,
        "mean": lambda matrix: total(matrix) / jnp.sum(mask, axis=1),
        "softmax": soft,
        "receivers": lambda matrix: total(matrix[0][:, None] * weigh),
        "senders": lambda matrix: total(matrix[0][None, :] * weigh),
    }

    def with_gradient(function):
        result, backward = jax.vjp(function, matrix)
        return result, *backward(weigh[0])

    return {name: with_gradient(function) for name, function in functions.items()}


def test_aggregations_of_vectors_and_their_gradients():
    """On graphs from empty to complete, with padding; rounded values make ties."""
    rng = np.random.default_rng(3)
    run, plain = quick_jit(aggregations), quick_jit(plain_aggregations)
    for number, graph in enumerate(random_graphs(rng, 4, NUM_NODES)):
        matrix, weigh = rng.normal(size=(2, NUM_NODES, NUM_NODES, 3)).astype(np.float32)
        arguments = jnp.asarray(np.round(matrix) if number % 2 else matrix), jnp.asarray(weigh)
        layouts = [padded_layout(graph, ("weight",), name) for name in LAYOUTS]
        expected = plain(layouts[0].edges, *arguments)
        for layout in layouts:
            for name, found in run(layout, *arguments).items():
                for ours, theirs in zip(found, expected[name], strict=True):
                    np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5, err_msg=name)


def test_the_softmax_of_scores_is_that_of_vectors():
    rng = np.random.default_rng(4)
    graph = random_graphs(rng, 3, NUM_NODES)[1]
    matrix = jnp.asarray(rng.normal(size=(NUM_NODES, NUM_NODES)), jnp.float32)
    for name in LAYOUTS:
        layout = padded_layout(graph, ("weight",), name)
        shares = as_matrix(layout, layout.softmax_scores(from_matrix(layout, matrix)))
        i, j = (np.asarray(end) for end in (layout.i, layout.j))
        column = matrix.at[i, j].get(mode="fill", fill_value=7.0)[:, None]
        real = i < NUM_NODES
        vector = np.asarray(layout.softmax(column))[real, 0]
        np.testing.assert_allclose(shares[i[real], j[real]], vector, rtol=1e-5)
