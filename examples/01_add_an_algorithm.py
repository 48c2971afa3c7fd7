"""Add an algorithm: the minimax path, which minimises the heaviest edge on the path.

    python examples/01_add_an_algorithm.py

An algorithm is data: the initial keys, which of two keys is better, and the candidate key that an
edge offers. The framework runs it.
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
    scaling="linear",  # weights times 2: keys times 2, same predecessors
)
ALGORITHMS[minimax.name] = minimax  # now usable by name

graph = sample_graphs("grid", num_graphs=1, num_nodes=8, seed=0, split="test")[0]
trace = run("minimax", graph)

print(f"{minimax.title} from node {graph.source}; * has left the queue\n")
print("step" + "".join(f"{f'node {v}':>8} " for v in range(graph.num_nodes)))
for step in range(int(trace.length) + 1):
    row = zip(trace.key[step].tolist(), trace.visited[step].tolist(), strict=True)
    print(f"{step:4}" + "".join(f"{key:8.2f}{'*' if visited else ' '}" for key, visited in row))
print("from" + "".join(f"{f'node {u}':>8} " for u in trace.final_pred.tolist()))

# Run it on many graphs at once.
traces = run("minimax", sample_graphs("grid", num_graphs=1000, num_nodes=20, seed=1))
heaviest = traces.final_key.max(axis=-1).mean()
print(f"\n1,000 grids of 20 nodes: no node needs an edge heavier than {heaviest:.2f}, on average")
