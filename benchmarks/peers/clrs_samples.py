"""dm-clrs' samplers: how fast they are, and what they sample. Runs inside `.venv-clrs`.

clrs_samples.py time                  questions on stdin, one JSON object a line, for instance
{"algorithm": "bfs", "num_nodes": 20, "num_graphs": 100}
clrs_samples.py feedback FILE.npz     writes a few graphs of each algorithm with their answers
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time

import clrs
import numpy as np

# The hints whose last step is the answer, as CLRS names them: keys, and which nodes were reached.
ANSWER_HINTS = {
    "bfs": ("reach_h",),
    "bellman_ford": ("d", "msk"),
    "dijkstra": ("d", "mark"),
    "mst_prim": ("key", "mark"),
}
DIRECTED = {"dfs"}


def sample(algorithm: str, num_graphs: int, num_nodes: int, density: float, seed: int):
    """Graphs in which each pair is an edge with probability `density`, with their traces.

    CLRS draws both directions of a pair and keeps the edge where both came up: p squared.
    """
    probability = density if algorithm in DIRECTED else math.sqrt(density)
    sampler, _ = clrs.build_sampler(
        algorithm, num_graphs, length=num_nodes, p=(probability,), seed=seed
    )
    return sampler.next()


def answer_times() -> None:
    """Seconds to sample graphs with traces; the densities are those of the paper's `er` family."""
    for seed, line in enumerate(sys.stdin):
        question = json.loads(line)
        num_nodes = question["num_nodes"]
        density = min(math.log2(num_nodes) / num_nodes, 0.5)
        start = time.perf_counter()
        sample(question["algorithm"], question["num_graphs"], num_nodes, density, seed)
        print(json.dumps({"seconds": time.perf_counter() - start}), flush=True)


def write_feedback(path: str, num_graphs: int, num_nodes: int, density: float, seed: int) -> None:
    """Writes `<algorithm>.<probe>` arrays under CLRS's own names, hints at their last step."""
    arrays = {}
    for algorithm, hints in ANSWER_HINTS.items():
        feedback = sample(algorithm, num_graphs, num_nodes, density, seed)
        last = feedback.features.lengths.astype(int) - 1
        probes = {
            probe.name: probe.data for probe in [*feedback.features.inputs, *feedback.outputs]
        }
        for hint in feedback.features.hints:
            if hint.name in hints:
                probes[hint.name] = hint.data[last, np.arange(num_graphs)]
        for name in ("A", "adj", "s", "pi", *hints):
            arrays[f"{algorithm}.{name}"] = probes[name]
    np.savez_compressed(path, **arrays)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("time", help="answer questions on stdin with seconds")
    feedback = commands.add_parser("feedback", help="write graphs and answers as .npz")
    feedback.add_argument("path", metavar="FILE.npz")
    feedback.add_argument("--num-graphs", type=int, default=32)
    feedback.add_argument("--num-nodes", type=int, default=20)
    feedback.add_argument("--density", type=float, default=0.15, help="some nodes stay unreached")
    feedback.add_argument("--seed", type=int, default=0)
    arguments = vars(parser.parse_args())
    command = {"time": answer_times, "feedback": write_feedback}[arguments.pop("command")]
    command(**arguments)


if __name__ == "__main__":
    main()
