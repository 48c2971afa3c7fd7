"""The nine algorithms of the paper, and two for tasks of CLRS-30."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np

from algotransfer.algorithms.algorithm import Algorithm
from algotransfer.algorithms.frameworks import PARALLEL, SEQUENTIAL

bfs = Algorithm(
    name="bfs",
    title="Breadth-first search",
    framework=PARALLEL,
    relax=lambda key, weight: key,
    source_key=lambda num_nodes: 1.0,
    unreached_key=0.0,
    smaller_is_better=False,
    weights=(-np.inf, np.inf),
    weighted=False,
    binary=True,
    cost=None,
    scaling="constant",
)

bellman_ford = Algorithm(
    name="bellman_ford",
    title="Bellman-Ford",
    framework=PARALLEL,
    relax=lambda key, weight: key + weight,
    source_key=lambda num_nodes: 0.0,
    unreached_key=np.inf,
    smaller_is_better=True,
    scaling="linear",
)

widest_par = Algorithm(
    name="widest_par",
    title="Widest path (parallel)",
    framework=PARALLEL,
    relax=jnp.minimum,
    source_key=lambda num_nodes: np.inf,
    unreached_key=0.0,
    smaller_is_better=False,
    scaling="linear",
)

reliable_par = Algorithm(
    name="reliable_par",
    title="Most reliable path (parallel)",
    framework=PARALLEL,
    relax=lambda key, weight: key * weight,
    source_key=lambda num_nodes: 1.0,
    unreached_key=0.0,
    smaller_is_better=False,
    weights=(0.0, 1.0),
)

prim = Algorithm(
    name="prim",
    title="Prim",
    framework=SEQUENTIAL,
    relax=lambda key, weight: weight,
    source_key=lambda num_nodes: 0.0,
    unreached_key=np.inf,
    smaller_is_better=True,
    graphs="undirected",
    stand_in=lambda final_key: jnp.full(final_key.shape[:-1], 2.0),
    cost="tree",
    scaling="linear",
)

dijkstra = replace(bellman_ford, name="dijkstra", title="Dijkstra", framework=SEQUENTIAL)

dfs = Algorithm(
    name="dfs",
    title="Depth-first search",
    framework=SEQUENTIAL,
    relax=lambda key, weight: key - 1,
    source_key=lambda num_nodes: float(num_nodes),
    unreached_key=np.inf,
    smaller_is_better=True,
    relax_once=True,
    weights=(-np.inf, np.inf),
    stand_in=lambda final_key: jnp.full(final_key.shape[:-1], final_key.shape[-1] + 1.0),
    unit=lambda num_nodes: float(num_nodes),
    cost=None,
    scaling="constant",
)

widest_seq = replace(
    widest_par, name="widest_seq", title="Widest path (sequential)", framework=SEQUENTIAL
)

reliable_seq = replace(
    reliable_par, name="reliable_seq", title="Most reliable path (sequential)", framework=SEQUENTIAL
)

minimax_par = replace(
    bellman_ford, name="minimax_par", title="Minimax path (parallel)", relax=jnp.maximum
)

dag_shortest_paths = replace(
    bellman_ford,
    name="dag_shortest_paths",
    title="Shortest paths in a directed acyclic graph",
    graphs="acyclic",
)
