"""A trained network on a graph of your own, and the algorithm's answer beside it.

    python examples/05_execute_on_your_own_graph.py

The weights come with the package; a run folder works as well. `algotransfer execute` does the same
from the command line.
"""

import tempfile
from pathlib import Path

from algotransfer import execute, load_model, read_graph

# Walking times in hours between huts. Any names will do; a weight may be missing (then it is 1).
EDGES = """source,target,weight
valley,lake,0.35
valley,mill,0.30
lake,ridge,0.55
mill,forest,0.40
forest,ridge,0.25
forest,spring,0.45
ridge,summit,0.60
spring,summit,0.50
"""
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "huts.csv"
    path.write_text(EDGES)
    graph, names = read_graph(path, source="valley")

# NE++, trained on Dijkstra's algorithm from inputs and outputs alone, on graphs of 20 nodes.
model = load_model("ne++-dijkstra-na")
answer = execute(model, graph)

print(f"{answer.algorithm.title} from {names[int(graph.source)]}, seed {answer.seed} of the model")
print(f"{answer.steps} steps, {answer.infinity:.3g} in place of infinity\n")
print(f"{'':10}{'network':>22}{'algorithm':>22}")
for node, name in enumerate(names):
    mine = f"{answer.key[node]:.2f} from {names[answer.pred[node]]}"
    true = f"{answer.true_key[node]:.2f} from {names[answer.true_pred[node]]}"
    print(f"{name:10}{mine:>22}{true:>22}{'  ← differs' if answer.wrong[node] else ''}")
print(f"\n{answer.wrong.sum()} of {answer.reached.sum()} nodes have another predecessor")
