"""Golden files: fixed weights and graphs, with the outputs that the plain networks work out.

`python tests/networks/golden.py` writes them anew, from the folder of the project.
"""

import json
import sys
from pathlib import Path

if __name__ == "__main__":  # as a script: find the helpers as pytest does
    sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from networks.plain import PlainGraph
from networks.weights import draw_weights, plain_network

FOLDER = Path(__file__).parent / "golden"
HIDDEN = 3
NUM_STEPS = 2
CASES = {  # name: model, algorithms, processors
    "ne": ("ne", ("dijkstra",), 1),
    "ne_parallel": ("ne", ("bfs",), 1),
    "ne_several": ("ne", ("bfs", "bellman_ford", "prim"), 1),
    "ne_two_processor": ("ne", ("reliable_seq",), 2),
    "ne_pp": ("ne++", ("dijkstra",), 1),
    "ne_pp_parallel": ("ne++", ("bfs",), 1),
    "ne_pp_several": ("ne++", ("bfs", "bellman_ford", "prim"), 1),
    "ne_pp_two_processor": ("ne++", ("reliable_seq",), 2),
}


def draw_graph(rng: np.random.Generator, num_nodes: int = 6) -> PlainGraph:
    """A random graph whose last node has no neighbour; weights are exact in float32."""
    pairs = [(u, v) for v in range(num_nodes - 1) for u in range(v)]
    chosen = rng.permutation(pairs)[: len(pairs) * 2 // 3]
    return PlainGraph(
        num_nodes,
        {(int(u), int(v)): int(rng.integers(13, 65)) / 64 for u, v in sorted(map(tuple, chosen))},
    )


def work_out(case: str) -> dict:
    """One case: what goes in and what comes out, as JSON knows it."""
    model, names, processors = CASES[case]
    rng = np.random.default_rng(list(CASES).index(case))
    graph = draw_graph(rng)
    weights = draw_weights(rng, model, names, HIDDEN, processors)
    network = plain_network(model, names, weights)
    sequential = {"dijkstra": 2, "prim": 2, "reliable_seq": 2}
    memory, steps = network.start(graph.num_nodes), []
    for _ in range(NUM_STEPS):
        features = [
            rng.integers(-64, 65, (graph.num_nodes, sequential.get(name, 1))) / 64 for name in names
        ]
        memory, outputs = network.step(graph, features, memory)
        edges = np.argwhere(~np.isnan(outputs[0].scores))
        steps.append(
            {
                "features": features,
                "hidden": memory,
                "outputs": [
                    {
                        "y": output.y,
                        "scores": [[i, j, output.scores[i, j]] for i, j in edges],
                        "stop": output.stop,
                    }
                    for output in outputs
                ],
            }
        )
    return _plain_data(
        {
            "model": model,
            "algorithms": names,
            "num_nodes": graph.num_nodes,
            "edges": [[u, v, weight] for (u, v), weight in graph.edges.items()],
            "weights": weights,
            "steps": steps,
        }
    )


def read(case: str) -> dict:
    """A committed golden file."""
    return json.loads((FOLDER / f"{case}.json").read_text())


def _plain_data(value):
    if isinstance(value, dict):
        return {key: _plain_data(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain_data(item) for item in value]
    if isinstance(value, np.ndarray | np.generic):
        return _plain_data(value.tolist())
    return round(value, 12) if isinstance(value, float) else value


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name in CASES:
        path = FOLDER / f"{name}.json"
        path.write_text(json.dumps(work_out(name)) + "\n")
        print(path.relative_to(Path.cwd()), path.stat().st_size)
