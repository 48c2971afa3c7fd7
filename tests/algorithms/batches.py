"""Batches of graphs to run algorithms on.

All batches of one size have one shape, so that one compilation serves them all.
"""

from itertools import combinations, pairwise

import numpy as np
from hypothesis import strategies as st

from algotransfer.graphs import Graph, concatenate, from_edges, sample_graphs

NUM_NODES, NUM_GRAPHS = 9, 100  # of the random batches

WEIGHTS = {
    "uniform": lambda rng, count: rng.uniform(0.2, 1.0, count),
    "equal": lambda rng, count: np.full(count, 0.5),
    "quarters": lambda rng, count: rng.integers(1, 5, count) / 4,
    "tenths": lambda rng, count: rng.integers(1, 11, count) / 10,
    "wide": lambda rng, count: 10 ** rng.uniform(-4, 0, count),
}


def graph(num_nodes: int, edges, source: int = 0, weights="uniform", seed: int = 0) -> Graph:
    """One graph with weights of a kind named above, or given."""
    ends = np.array(list(edges), int).reshape(-1, 2).T
    if isinstance(weights, str):
        weights = WEIGHTS[weights](np.random.default_rng(seed), ends.shape[1])
    zeros = np.zeros(ends.shape[1], int)
    return from_edges(num_nodes, 1, zeros, ends, np.asarray(weights), np.array([source]))[0]


def with_all_columns(graphs: Graph) -> Graph:
    """Pads a batch to the width of a complete graph."""
    n = graphs.num_nodes
    padding = [(0, 0), (0, n * (n - 1) - graphs.senders.shape[-1])]
    return Graph(
        senders=np.pad(graphs.senders, padding, constant_values=n),
        receivers=np.pad(graphs.receivers, padding, constant_values=n),
        weights=np.pad(graphs.weights, padding),
        source=graphs.source,
        num_nodes=n,
    )


def hand_made() -> Graph:
    """A batch of graphs that are special in some way, over and over."""
    graphs = concatenate(list(special_graphs(NUM_NODES).values()))
    return with_all_columns(graphs[np.arange(NUM_GRAPHS) % len(graphs)])


def special_graphs(n: int) -> dict[str, Graph]:
    """Graphs with n ≥ 4 nodes, by what is special about them."""
    path = list(pairwise(range(n)))
    star = [(0, v) for v in range(1, n)]
    complete = list(combinations(range(n), 2))
    half = n // 2
    halves = [(u, v) for u, v in complete if (u < half) == (v < half)]
    return {
        "path from its end": graph(n, path),
        "path from its middle": graph(n, path, source=half),
        "path against the order of indices": graph(n, path, source=n - 1),
        "path of equal weights": graph(n, path, weights="equal"),
        "cycle of equal weights": graph(n, [*path, (0, n - 1)], weights="equal"),
        "star from its centre": graph(n, star),
        "star from a leaf": graph(n, star, source=n - 1),
        "complete": graph(n, complete, source=1),
        "complete, equal weights": graph(n, complete, source=2, weights="equal"),
        "complete, round weights": graph(n, complete, weights="quarters"),
        "two components": graph(n, halves),
        "two components, the other one": graph(n, halves, source=n - 1, weights="tenths"),
        "one edge": graph(n, [(1, 3)], source=3),
        "one edge, not at the source": graph(n, [(1, 3)], source=2),
        "no edge": graph(n, [], source=1),
    }


def families(num_nodes: int, num_graphs: int, seed: int) -> Graph:
    """The paper's three families, one third each."""
    return with_all_columns(
        concatenate(
            [sample_graphs(name, num_graphs, num_nodes, seed) for name in ("er", "ba", "grid")]
        )
    )


@st.composite
def random_batches(draw) -> Graph:
    """Graphs of every density, their weights of one kind, ties and rounding included."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1), label="seed"))
    weights = WEIGHTS[draw(st.sampled_from(sorted(WEIGHTS)), label="weights")]
    density = draw(st.sampled_from([0.05, 0.15, 0.3, 0.6, 0.95]), label="density")
    pairs = np.array(list(combinations(range(NUM_NODES), 2)))
    graph_id, pair = np.nonzero(rng.random((NUM_GRAPHS, len(pairs))) < density)
    source = rng.integers(0, NUM_NODES, NUM_GRAPHS)
    return with_all_columns(
        from_edges(NUM_NODES, NUM_GRAPHS, graph_id, pairs[pair].T, weights(rng, len(pair)), source)
    )
