"""Run trained networks on your own graph and compare them with the algorithm.

    python examples/05_execute_on_your_own_graph.py

The weights come with the package; a run folder works as well. The command line has
`algotransfer execute`.
"""

import tempfile
from pathlib import Path

from algotransfer import execute, read_graph

# Walking times in hours between huts. Names are any text; a missing weight is 1.
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

# NE++ on Dijkstra's algorithm, trained on every step and on inputs and outputs alone. Both were
# trained on graphs of 20 nodes.
answers = {
    "every step": execute("ne++-dijkstra-tf", graph),
    "answers only": execute("ne++-dijkstra-na", graph),
}

print(f"{'':10}" + "".join(f"{label:>22}" for label in ["Dijkstra", *answers]))
for node, name in enumerate(names):
    truth = next(iter(answers.values()))
    cells = [f"{truth.true_key[node]:.2f} from {names[truth.true_pred[node]]}"]
    for answer in answers.values():
        wrong = "!" if answer.worse[node] else ""
        cells.append(f"{wrong}{answer.key[node]:.2f} from {names[answer.pred[node]]}")
    print(f"{name:10}" + "".join(f"{cell:>22}" for cell in cells))

# The networks saw nothing of the true answer; what stands for infinity comes from the graph.
for label, answer in answers.items():
    print(
        f"{label}: {answer.wrong.sum()} of {answer.reached.sum()} predecessors differ, "
        f"{answer.worse.sum()} of them worse (!); "
        f"{answer.steps} steps, {answer.infinity:.2f} in place of infinity"
    )
