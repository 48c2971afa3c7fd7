"""The parallel algorithms: all edges relaxed at once, until nothing changes."""

import jax.numpy as jnp
import numpy as np

from algotransfer.algorithms.base import Algorithm

bfs = Algorithm(
    name="bfs",
    title="Breadth-first search",
    sequential=False,
    relax=lambda key, weight: key,
    source_key=lambda num_nodes: 1.0,
    unreached_key=0.0,
    smaller_is_better=False,
    weights=(-np.inf, np.inf),
    weighted=False,
    binary=True,
    cost=None,
)

bellman_ford = Algorithm(
    name="bellman_ford",
    title="Bellman-Ford",
    sequential=False,
    relax=lambda key, weight: key + weight,
    source_key=lambda num_nodes: 0.0,
    unreached_key=np.inf,
    smaller_is_better=True,
)

widest_par = Algorithm(
    name="widest_par",
    title="Widest path (parallel)",
    sequential=False,
    relax=jnp.minimum,
    source_key=lambda num_nodes: np.inf,
    unreached_key=0.0,
    smaller_is_better=False,
)

reliable_par = Algorithm(
    name="reliable_par",
    title="Most reliable path (parallel)",
    sequential=False,
    relax=lambda key, weight: key * weight,
    source_key=lambda num_nodes: 1.0,
    unreached_key=0.0,
    smaller_is_better=False,
    weights=(0.0, 1.0),
)
