"""Step through an execution: an algorithm, and beside it what trained networks do.

    python examples/08_explore.py

Writes two pages that open in any browser. In a notebook, `explore(...)` as the last line of a cell
displays the same thing; `algotransfer explore` does it from the command line.
"""

from algotransfer import explore, sample_graphs

# A graph of 20 nodes that no training has seen.
graph = sample_graphs("grid", num_graphs=1, num_nodes=20, seed=2, split="test")[0]

# Algorithms alone: the page switches between them.
page = explore(graph, algorithm=["bfs", "dijkstra", "prim"]).save("algorithms.html")
print(f"wrote {page}")

# Two networks beside Dijkstra's algorithm, under names of our own. Run folders work as well.
models = {"every step": "ne++-dijkstra-tf", "answers only": "ne++-dijkstra-na"}
viewer = explore(graph, models, title="a grid of 20 nodes")
print(f"wrote {viewer.save('networks.html')}")
for network in viewer.scene["networks"]:
    wrong, reached = network["wrong"]
    print(f"{network['label']}: {network['divergence']['sentence']}")
    print(f"    in the end {wrong} of {reached} predecessors are wrong")
