"""Speed of data generation, and random sparse graphs with an exact number of edges."""

import time

import jax
import numpy as np

from algotransfer.algorithms import run
from algotransfer.bench.measurement import Measurement
from algotransfer.errors import UserError
from algotransfer.graphs import Graph, from_edges, sample_graphs
from algotransfer.graphs.sampling import MAX_WEIGHT, MIN_WEIGHT


def measure_data(algorithm: str, num_graphs: int, num_nodes: int, repeats: int) -> Measurement:
    """Measure the sampling of Erdős–Rényi graphs and the traces on them; a step is one call."""

    def work(seed: int):
        return jax.block_until_ready(
            run(algorithm, sample_graphs("er", num_graphs, num_nodes, seed))
        )

    began = time.perf_counter()
    for seed in range(repeats):  # seeds may give different shapes, each of which compiles once
        work(seed)
    first = time.perf_counter() - began
    began = time.perf_counter()
    for seed in range(repeats):
        work(seed)
    seconds = time.perf_counter() - began
    return Measurement(
        part="data",
        what=f"{algorithm}, {num_graphs:,} × {num_nodes} nodes",
        graphs_per_second=repeats * num_graphs / seconds,
        milliseconds_per_step=1000 * seconds / repeats,
        compile_seconds=max(0.0, first - seconds),
    )


def random_graph(num_nodes: int, num_edges: int) -> Graph:
    """Return a batch of one graph with `num_edges` undirected edges, drawn uniformly."""
    pairs = num_nodes * (num_nodes - 1) // 2
    if num_edges > pairs // 2:
        raise UserError(
            f"{num_edges} edges among {num_nodes} nodes; expected at most {pairs // 2}, "
            "half of all pairs"
        )
    rng = np.random.default_rng(0)
    cells = np.zeros(0, np.int64)
    while len(cells) < num_edges:  # a number below n² is a pair; (u, v) and (v, u) are one edge
        drawn = rng.integers(0, num_nodes**2, 2 * num_edges)
        u, v = np.divmod(drawn, num_nodes)
        cells = np.unique(
            np.append(cells, (np.minimum(u, v) * num_nodes + np.maximum(u, v))[u != v])
        )
    ends = np.stack(np.divmod(rng.permutation(cells)[:num_edges], num_nodes))
    return from_edges(
        num_nodes,
        num_graphs=1,
        graph_id=np.zeros(num_edges, np.int64),
        ends=ends,
        weights=rng.uniform(MIN_WEIGHT, MAX_WEIGHT, num_edges).astype(np.float32),
        source=rng.integers(0, num_nodes, 1),
    )
