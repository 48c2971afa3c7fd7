"""The sequential algorithms: the best node leaves a queue, its edges are relaxed."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np

from algotransfer.algorithms.base import Algorithm
from algotransfer.algorithms.parallel import bellman_ford, reliable_par, widest_par

prim = Algorithm(
    name="prim",
    title="Prim",
    sequential=True,
    relax=lambda key, weight: weight,
    source_key=lambda num_nodes: 0.0,
    unreached_key=np.inf,
    smaller_is_better=True,
    stand_in=lambda final_key: jnp.full(final_key.shape[:-1], 2.0),
    cost="tree",
)

dijkstra = replace(bellman_ford, name="dijkstra", title="Dijkstra", sequential=True)

dfs = Algorithm(
    name="dfs",
    title="Depth-first search",
    sequential=True,
    relax=lambda key, weight: key - 1,
    source_key=lambda num_nodes: float(num_nodes),
    unreached_key=np.inf,
    smaller_is_better=True,
    relax_once=True,
    weights=(-np.inf, np.inf),
    stand_in=lambda final_key: jnp.full(final_key.shape[:-1], final_key.shape[-1] + 1.0),
    unit=lambda num_nodes: float(num_nodes),
    cost=None,
)

widest_seq = replace(
    widest_par, name="widest_seq", title="Widest path (sequential)", sequential=True
)

reliable_seq = replace(
    reliable_par, name="reliable_seq", title="Most reliable path (sequential)", sequential=True
)
