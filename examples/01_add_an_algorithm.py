"""A tenth algorithm: the minimax path, whose heaviest edge is as light as can be.

An algorithm is data: the keys at the start, which of two keys is better, and the key that an edge
offers to the node at its end. The engines do the rest.

    python examples/01_add_an_algorithm.py
"""

import jax.numpy as jnp
import numpy as np

from algotransfer import ALGORITHMS, Algorithm, run, sample_graphs
from algotransfer.algorithms import SEQUENTIAL

minimax = Algorithm(
    name="minimax",
    title="Minimax path",
    framework=SEQUENTIAL,
    source_key=lambda num_nodes: 0.0,
    unreached_key=np.inf,
    smaller_is_better=True,
    relax=jnp.maximum,  # (key of u, weight of the edge) -> candidate key of v
)
ALGORITHMS[minimax.name] = minimax  # from here on it has a name, as the other nine have

graph = sample_graphs("grid", num_graphs=1, num_nodes=8, seed=0)[0]
trace = run("minimax", graph)

print(f"{minimax.title} from node {graph.source}; * has left the queue\n")
print("step" + "".join(f"{f'node {v}':>8} " for v in range(graph.num_nodes)))
for step in range(int(trace.length) + 1):
    row = zip(trace.key[step].tolist(), trace.visited[step].tolist(), strict=True)
    print(f"{step:4}" + "".join(f"{key:8.2f}{'*' if visited else ' '}" for key, visited in row))
print("from" + "".join(f"{f'node {u}':>8} " for u in trace.final_pred.tolist()))

# The same on many graphs at once.
traces = run("minimax", sample_graphs("grid", num_graphs=1000, num_nodes=20, seed=1))
heaviest = traces.final_key.max(axis=-1).mean()
print(f"\n1,000 grids of 20 nodes: no node needs an edge heavier than {heaviest:.2f}, on average")
