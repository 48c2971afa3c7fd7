"""Write pages on which an algorithm and trained networks run, step by step.

    python examples/08_explore.py

The pages open in any browser. In a notebook, `explore(...)` as the last line of a cell displays the
page; the command line has `algotransfer explore`.
"""

from algotransfer import explore, sample_graphs

# A test graph of 20 nodes.
graph = sample_graphs("grid", num_graphs=1, num_nodes=20, seed=2, split="test")[0]

# Three algorithms; the page switches between them.
page = explore(graph, algorithm=["bfs", "dijkstra", "prim"]).save("algorithms.html")
print(f"wrote {page}")

# Two networks next to Dijkstra's algorithm, with labels. Run folders work as well.
models = {"every step": "ne++-dijkstra-tf", "answers only": "ne++-dijkstra-na"}
page = explore(graph, models, title="a grid of 20 nodes").save("networks.html")
print(f"wrote {page}: drag a weight there, and both answer at once")
