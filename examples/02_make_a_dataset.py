"""Make a dataset, print its statistics, save it and load it.

Run with: python examples/02_make_a_dataset.py
"""

import tempfile
from pathlib import Path

import networkx
import numpy as np

from algotransfer.datasets import (
    from_graphs,
    graph_statistics,
    load_dataset,
    make_dataset,
    save_dataset,
    trace_statistics,
)

# Graphs of two families. Equal arguments give equal graphs on every machine.
dataset = make_dataset(family=("er", "grid"), num_graphs=50, num_nodes=20, seed=0)
print(dataset)
for row in graph_statistics(dataset):
    print(f"  {row.family}: {row.mean_edges:.1f} edges, diameter {row.mean_diameter:.1f}")

# Traces are computed on first use: here every step of Prim's algorithm on all graphs.
trace = dataset.trace("prim")
print("keys", trace.key.shape, "= graphs × steps × nodes")
for row in trace_statistics(dataset, "prim"):
    print(f"  {row.family}: {row.mean_length:.1f} steps")

# A file has the graphs and the traces of one algorithm. Loading checks its hash.
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "prim.npz"
    sha256 = save_dataset(dataset, path, "prim")
    again = load_dataset(path)
print("file", sha256[:12], "holds", again)
assert np.array_equal(again.trace("prim").key, trace.key)

# Your own graphs make a dataset too, if they have the same number of nodes.
mine = from_graphs([networkx.petersen_graph(), networkx.cycle_graph(10)], family=["cubic", "ring"])
print("steps of bfs on", mine.families, "=", mine.trace("bfs").length)
