"""Small graphs with what is awkward about graphs: isolated nodes, padding, batches."""

from functools import partial

import jax
import numpy as np
from networks.plain import PlainGraph

from algotransfer.graphs import Graph, from_edges
from algotransfer.networks import Dense, Sparse, make_layouts

LAYOUTS = ("dense", "sparse")

# These programs run for milliseconds and compile for seconds: skip what makes them run faster.
quick_jit = partial(jax.jit, compiler_options={"xla_backend_optimization_level": 0})


def to_graphs(graphs: list[PlainGraph], sources=None) -> Graph:
    """The package's batch of plain graphs of one size."""
    edges = [(g, u, v, w) for g, graph in enumerate(graphs) for (u, v), w in graph.edges.items()]
    columns = np.array(edges, float).reshape(-1, 4).T
    return from_edges(
        num_nodes=graphs[0].num_nodes,
        num_graphs=len(graphs),
        graph_id=columns[0].astype(int),
        ends=columns[1:3].astype(int),
        weights=columns[3].astype(np.float32),
        source=np.zeros(len(graphs), int) if sources is None else np.asarray(sources),
    )


def random_graphs(rng: np.random.Generator, num_graphs: int, num_nodes: int) -> list[PlainGraph]:
    """Graphs from empty to complete; weights are multiples of 1/64, so that some are equal."""
    graphs = []
    for density in np.linspace(0, 1, num_graphs) if num_graphs > 1 else [0.5]:
        pairs = [(u, v) for v in range(num_nodes) for u in range(v) if rng.random() < density]
        graphs.append(
            PlainGraph(num_nodes, {pair: int(rng.integers(13, 65)) / 64 for pair in pairs})
        )
    return graphs


def complete_graph(num_nodes: int, weight: float = 1.0) -> PlainGraph:
    """Every pair an edge."""
    return PlainGraph(num_nodes, {(u, v): weight for v in range(num_nodes) for u in range(v)})


def padded_layout(graph: PlainGraph, kinds: tuple[str, ...], layout: str) -> Dense | Sparse:
    """The layout of one graph, taken from a batch in which a denser one makes it padded."""
    batch = to_graphs([graph, complete_graph(graph.num_nodes)])
    return jax.tree.map(lambda leaf: leaf[0], make_layouts(batch, kinds, layout))


def as_matrix(layout: Dense | Sparse, scores) -> np.ndarray:
    """Values on edges as a matrix, NaN where there is no edge."""
    scores = np.asarray(scores)
    if isinstance(layout, Dense):
        return np.where(layout.edges, scores, np.nan)
    matrix = np.full((layout.num_nodes, layout.num_nodes), np.nan)
    real = np.asarray(layout.i) < layout.num_nodes
    matrix[np.asarray(layout.i)[real], np.asarray(layout.j)[real]] = scores[real]
    return matrix


def from_matrix(layout: Dense | Sparse, matrix):
    """The inverse of `as_matrix`, for numbers on edges: differentiable, junk on padding."""
    if isinstance(layout, Dense):
        return matrix
    return matrix.at[layout.i, layout.j].get(mode="fill", fill_value=7.0)
