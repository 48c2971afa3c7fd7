"""Layouts of directed graphs: messages follow the edges, and both layouts agree with gradients."""

import jax
import jax.numpy as jnp
import numpy as np
from algorithms.test_directed import directed_graphs

from algotransfer.networks import make_layouts

KINDS = ("weight", "one")


def both(graph: int = 3):
    graphs = directed_graphs(0)
    batches = [make_layouts(graphs, KINDS, layout) for layout in ("dense", "sparse")]
    return graphs[graph], [jax.tree.map(lambda leaf: leaf[graph], batch) for batch in batches]


def test_messages_follow_the_edges():
    graph, layouts = both()
    arrives = np.asarray(graph.adjacency()).T | np.eye(graph.num_nodes, dtype=bool)  # [i, j]
    node = np.random.default_rng(0).standard_normal((graph.num_nodes, 3)).astype(np.float32)
    node, reached = jnp.asarray(node), jnp.arange(graph.num_nodes) == 2
    for layout in layouts:
        np.testing.assert_array_equal(layout.reach(reached), arrives[:, 2])
        total = layout.sum(layout.gather_senders(node))
        np.testing.assert_allclose(total, arrives @ node, rtol=1e-5, atol=1e-6)


def test_gradients_of_both_layouts_agree():
    graph, layouts = both()
    rng = np.random.default_rng(1)
    node, aim = rng.standard_normal((2, graph.num_nodes, 3)).astype(np.float32)
    edge = rng.standard_normal((2, 3)).astype(np.float32)
    node, edge = jnp.asarray(node), jnp.asarray(edge)

    def values(layout, node, edge):
        listed = layout.pairs(node, 2 * node, edge)
        parts = (layout.max_plus(node, edge), layout.max(listed), layout.mean(listed))
        return sum(jnp.sum(aim * part) for part in parts)

    dense, sparse = (
        jax.value_and_grad(values, argnums=(1, 2))(layout, node, edge) for layout in layouts
    )
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5), dense, sparse)


def test_max_plus_is_that_of_the_matrix():
    graph, layouts = both()
    weights = np.asarray(graph.weight_matrix()).T
    arrives = np.asarray(graph.adjacency()).T | np.eye(graph.num_nodes, dtype=bool)
    node = np.random.default_rng(2).standard_normal(graph.num_nodes).astype(np.float32)
    best = np.where(arrives, node[None, :] + weights, -np.inf).max(axis=1)
    node, edge = jnp.asarray(node), jnp.array([[1.0], [0.0]])
    for layout in layouts:
        np.testing.assert_allclose(layout.max_plus(node[:, None], edge)[:, 0], best, rtol=1e-6)
