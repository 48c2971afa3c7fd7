"""Time dm-clrs' samplers, or write their samples to a file. Runs inside `.venv-clrs`.

clrs_samples.py time                  questions on stdin, one JSON object a line, for instance
{"algorithm": "bfs", "num_nodes": 20, "num_graphs": 100}
clrs_samples.py feedback FILE.npz     writes a few graphs of each algorithm with their answers
clrs_samples.py splits FILE.json      writes hashes of the official splits of the graph tasks
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import sys
import time
from pathlib import Path

import clrs
import numpy as np

# Hints (CLRS's names) whose last step is the answer: keys, and which nodes were reached.
ANSWER_HINTS = {
    "bfs": ("reach_h",),
    "bellman_ford": ("d", "msk"),
    "dijkstra": ("d", "mark"),
    "mst_prim": ("key", "mark"),
}
DIRECTED = {"dfs"}
SPLIT_TASKS = (
    "bfs",
    "bellman_ford",
    "dijkstra",
    "mst_prim",
    "mst_kruskal",
    "dag_shortest_paths",
    "floyd_warshall",
)


def sample(algorithm: str, num_graphs: int, num_nodes: int, density: float, seed: int):
    """Sample graphs with traces, in which each pair is an edge with probability `density`.

    CLRS keeps an edge if both of its directions are drawn: with probability p².
    """
    probability = density if algorithm in DIRECTED else math.sqrt(density)
    sampler, _ = clrs.build_sampler(
        algorithm, num_graphs, length=num_nodes, p=(probability,), seed=seed
    )
    return sampler.next()


def answer_times() -> None:
    """Answer questions with the seconds to sample graphs at the density of the `er` family."""
    for seed, line in enumerate(sys.stdin):
        question = json.loads(line)
        num_nodes = question["num_nodes"]
        density = min(math.log2(num_nodes) / num_nodes, 0.5)
        start = time.perf_counter()
        sample(question["algorithm"], question["num_graphs"], num_nodes, density, seed)
        print(json.dumps({"seconds": time.perf_counter() - start}), flush=True)


def write_feedback(path: str, num_graphs: int, num_nodes: int, density: float, seed: int) -> None:
    """Write `<algorithm>.<probe>` arrays with CLRS's names, hints at their last step."""
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


def write_split_hashes(path: str) -> None:
    """Write the sha256 of weights, sources and outputs, as float64, by task, split and name."""
    hashes = {}
    for task in SPLIT_TASKS:
        for split, settings in clrs.CLRS30.items():
            sampler, _ = clrs.build_sampler(task, **settings)
            feedback = sampler.next()
            probes = [*feedback.features.inputs, *feedback.outputs]
            hashes[f"{task}/{split}"] = {
                probe.name: hashlib.sha256(np.asarray(probe.data, "<f8").tobytes()).hexdigest()
                for probe in probes
                if probe.name not in ("pos", "adj")
            }
    Path(path).write_text(json.dumps(hashes, indent=1, sort_keys=True) + "\n")


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
    splits = commands.add_parser("splits", help="write hashes of the official splits as .json")
    splits.add_argument("path", metavar="FILE.json")
    arguments = vars(parser.parse_args())
    functions = {"time": answer_times, "feedback": write_feedback, "splits": write_split_hashes}
    functions[arguments.pop("command")](**arguments)


if __name__ == "__main__":
    main()
