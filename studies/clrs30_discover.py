"""Score steps learned by `discover` on all graph tasks of CLRS-30.

    python studies/clrs30_discover.py

Each of five seeds learns from another fifth of the task's 1,000 official training graphs, from
final keys and predecessors alone. The learned program runs in its framework on the official test
split and on the wider test sets, and CLRS-30's score is computed from its answers. Nothing was
chosen on these graphs.
"""

from __future__ import annotations

import numpy as np
from clrs30 import SEEDS, add_scores

from algotransfer.algorithms import Algorithm, run
from algotransfer.datasets.clrs30 import OFFICIAL_SIZES, make_clrs_dataset, official_output
from algotransfer.datasets.presets import CLRS_TASKS
from algotransfer.datasets.splits import make_test_sets
from algotransfer.evaluation.clrs_scores import SCORES, pointer_score
from algotransfer.graphs.graph import Graph
from algotransfer.symbolic import StepProgram, discover
from algotransfer.symbolic.expressions import as_text


def final(algorithm: str | Algorithm, graphs: Graph) -> tuple[np.ndarray, np.ndarray]:
    """Return final keys and predecessors; unreached nodes point at themselves."""
    trace = run(algorithm, graphs, "final")
    pred = np.asarray(trace.final_pred)
    return np.asarray(trace.final_key), np.where(pred >= 0, pred, np.arange(graphs.num_nodes))


def answers(task, program: StepProgram, graphs: Graph) -> np.ndarray:
    """Return the task's output, as the learned program gives it."""
    asked = task.graphs_for(program.target, graphs)
    return task.read(program.target, graphs, *final(program.algorithm, asked))


def learn(task, seed: int) -> StepProgram:
    """Learn from a fifth of the official training graphs."""
    train = make_clrs_dataset(task, "train", *OFFICIAL_SIZES["train"]).graphs
    graph = np.arange(len(train)) // (len(train) // OFFICIAL_SIZES["train"][0])  # by source
    target = task.algorithms[0]
    return discover(target, train[np.flatnonzero(graph % SEEDS == seed)])


def scored(task, program: StepProgram) -> list[dict]:
    """Score one program on the official split, and on wide sets where pointers are the output.

    Wide sets of `floyd_warshall` have one source per graph, so that they have no diagonal.
    """
    truth = official_output(task, "test")
    graphs = make_clrs_dataset(task, "test", *OFFICIAL_SIZES["test"]).graphs
    given = answers(task, program, graphs)
    at = {"test": "official", "num_nodes": 64, "num_graphs": 32}
    rows = [{**at, "metric": "micro_f1", "value": SCORES[task.output](given, truth)}]
    if task.output == "Pi":
        others = np.broadcast_to(~np.eye(truth.shape[-1], dtype=bool), truth.shape)
        rows.append({**at, "metric": "off_diagonal", "value": pointer_score(given, truth, others)})
    if task.output == "in_mst":
        return rows
    for dataset in make_test_sets("clrs30_wide", task=task.name).values():
        graphs = dataset.graphs
        right = final(program.algorithm, graphs)[1] == final(task.algorithms[0], graphs)[1]
        at = {"test": "wide", "num_nodes": graphs.num_nodes, "num_graphs": len(graphs)}
        rows.append({**at, "metric": "micro_f1", "value": float(right.mean())})
        rows.append({**at, "metric": "exact", "value": float(right.all(axis=-1).mean())})
    return rows


def main() -> None:
    for name, task in CLRS_TASKS.items():
        scores: dict = {}  # equal programs have equal scores
        rows = []
        for seed in range(SEEDS):
            program = learn(task, seed)
            if program not in scores:
                scores[program] = scored(task, program)
            at = {"target": program.target, "task": name, "seed": seed}
            rows += [{**at, **row} for row in scores[program]]
            print(name, seed, as_text(program.step), scores[program][0]["value"], flush=True)
        add_scores("discover", rows)


if __name__ == "__main__":
    main()
