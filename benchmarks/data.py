"""Compare data generation (graphs with traces per second) with dm-clrs and networkx.

    python benchmarks/data.py

Erdős–Rényi graphs of the paper's density, on the CPU, sampling included. networkx computes only
the final answer. dm-clrs' dfs is another algorithm (directed graphs, recursion from every node).
"""

from __future__ import annotations

import argparse
import contextlib
import math
from collections.abc import Iterator
from pathlib import Path

import jax
import networkx as nx
import numpy as np
from peers.environments import Peer, how_to_make, python_of
from side_by_side import RESULTS, Contestant, graphs_per_second, show, timed, write

from algotransfer.algorithms import run
from algotransfer.graphs import sample_graphs

CLRS_NAMES = {"prim": "mst_prim"}
NETWORKX = {
    "bfs": lambda graph, source: dict(nx.bfs_predecessors(graph, source)),
    "bellman_ford": nx.bellman_ford_predecessor_and_distance,
    "dijkstra": nx.dijkstra_predecessor_and_distance,
    "prim": lambda graph, source: nx.minimum_spanning_tree(graph, algorithm="prim"),
    "dfs": nx.dfs_predecessors,
}
NODES_PER_CALL = {"algotransfer": 400_000, "dm-clrs": 5_000, "networkx": 5_000}


def ours(algorithm: str, num_nodes: int, num_graphs: int, repeats: int) -> Contestant:
    """Return our sampler and engines as a contestant, with new graphs at each repeat."""

    def work(repeat: int):
        graphs = sample_graphs("er", num_graphs, num_nodes, seed=repeat)
        return jax.block_until_ready(run(algorithm, graphs))

    for repeat in range(repeats):  # seeds may give different shapes, each of which compiles once
        work(repeat)
    return Contestant(num_graphs, lambda repeat: timed(lambda: work(repeat)))


def networkx_loop(algorithm: str, num_nodes: int, num_graphs: int) -> Contestant:
    """Return a Python loop over networkx graphs as a contestant."""
    solve = NETWORKX[algorithm]
    density = min(math.log2(num_nodes) / num_nodes, 0.5)

    def work(repeat: int) -> None:
        rng = np.random.default_rng(repeat)
        for _ in range(num_graphs):
            graph = nx.fast_gnp_random_graph(num_nodes, density, seed=int(rng.integers(2**31)))
            weights = rng.uniform(0.2, 1.0, graph.number_of_edges()).tolist()
            for (_, _, attributes), weight in zip(graph.edges(data=True), weights, strict=True):
                attributes["weight"] = weight
            solve(graph, int(rng.integers(num_nodes)))

    work(0)
    return Contestant(num_graphs, lambda repeat: timed(lambda: work(repeat)))


def clrs_sampler(clrs: Peer, algorithm: str, num_nodes: int, num_graphs: int) -> Contestant:
    """Return dm-clrs' sampler at the same density as a contestant, in a separate process."""
    question = {
        "algorithm": CLRS_NAMES.get(algorithm, algorithm),
        "num_nodes": num_nodes,
        "num_graphs": num_graphs,
    }
    clrs.ask(**question)
    return Contestant(num_graphs, lambda repeat: clrs.ask(**question)["seconds"])


def measure(sizes: list[int], repeats: int, scale: float, clrs: Peer | None) -> Iterator[dict]:
    """Yield a row per size and algorithm."""
    for num_nodes in sizes:
        count = {
            name: math.ceil(scale * nodes / num_nodes) for name, nodes in NODES_PER_CALL.items()
        }
        for algorithm in NETWORKX:
            contestants = {
                "algotransfer": ours(algorithm, num_nodes, count["algotransfer"], repeats)
            }
            if clrs is not None:
                contestants["dm-clrs"] = clrs_sampler(clrs, algorithm, num_nodes, count["dm-clrs"])
            contestants["networkx"] = networkx_loop(algorithm, num_nodes, count["networkx"])
            rates = graphs_per_second(contestants, repeats)
            yield {"nodes": num_nodes, "algorithm": algorithm, "graphs_per_second": rates}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--num-nodes", type=int, nargs="+", default=[20, 64])
    parser.add_argument(
        "--repeats", type=int, default=7, help="repeats, of which the median is reported"
    )
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies the numbers of graphs")
    parser.add_argument("--out", type=Path, default=RESULTS / "data.json")
    arguments = parser.parse_args()
    note = "" if python_of("clrs") else f"Without dm-clrs: {how_to_make('clrs')}"
    with contextlib.ExitStack() as stack:
        clrs = stack.enter_context(Peer("clrs", "clrs_samples.py", "time")) if not note else None
        rows = list(measure(arguments.num_nodes, arguments.repeats, arguments.scale, clrs))
    show("Graphs with traces per second, sampling included", rows, "algotransfer", note)
    write(arguments.out, rows)


if __name__ == "__main__":
    main()
