"""Train and score networks on graph tasks of CLRS-30, as `studies/clrs30.md` says.

    python studies/clrs30.py train --model relax
    python studies/clrs30.py score --model relax

The trained networks `relax` are in `studies/runs/clrs30`: pass it as `--folder` to score them
without training. The weights of NE and NE++ are not committed.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from algotransfer.datasets.dataset import Dataset
from algotransfer.datasets.presets import CLRS_TASKS
from algotransfer.datasets.splits import make_test_sets
from algotransfer.evaluation.clrs_scores import clrs_scores
from algotransfer.evaluation.evaluate import evaluate
from algotransfer.experiment import Experiment
from algotransfer.networks import MODELS, RelaxationExecutor
from algotransfer.training.train import train

TASKS = {
    "bellman_ford": ("bellman_ford", "bfs", "dijkstra", "floyd_warshall"),
    "dijkstra": ("dijkstra",),
    "dag_shortest_paths": ("dag_shortest_paths",),
    "prim": ("mst_prim",),
    "minimax_par": ("mst_kruskal",),
}
SEEDS = 5
MAX_WIDE_NODES = {"ne": 64, "ne++": 64}  # of wide sets; other networks are scored on all
FOLDER = Path("runs/clrs30")
SCORES = Path("results/clrs30.csv")
COLUMNS = ["system", "target", "task", "test", "num_nodes", "num_graphs", "metric", "seed", "value"]


class RelaxWithoutSimplicity(RelaxationExecutor):
    """`relax` without the loss that asks for few terms."""

    def priors(self, task):
        return {}


MODELS["relax-no-simplicity"] = RelaxWithoutSimplicity


def experiments(
    model: str, extra_steps: int, targets: list[str], max_epochs: int = 500
) -> list[Experiment]:
    settings = {"model": model, "extra_steps": extra_steps, "max_epochs": max_epochs}
    return [Experiment(target=target, **settings) for target in targets]


def official(path: Path, task: str) -> list[dict]:
    """Return micro-F1 of every seed on the official test split."""
    rows = []
    for row in clrs_scores(path, task).to_dict("records"):
        where = {"test": "official", "num_nodes": 64, "num_graphs": 32, "seed": row["seed"]}
        rows.append({**where, "metric": "micro_f1", "value": row["score"]})
        if "off_diagonal" in row:
            rows.append({**where, "metric": "off_diagonal", "value": row["off_diagonal"]})
    return rows


def wide_sets(experiment: Experiment, task: str) -> dict[int, Dataset]:
    """Return the wider test sets that a network is scored on, by number of nodes."""
    if CLRS_TASKS[task].output == "in_mst":
        return {}  # read from the answers of all sources, and wide sets have one source per graph
    sets = make_test_sets("clrs30_wide", task=task)
    most = MAX_WIDE_NODES.get(experiment.model, max(sets))
    return {nodes: dataset for nodes, dataset in sets.items() if nodes <= most}


def wide(path: Path, sets: dict[int, Dataset]) -> list[dict]:
    """Return micro-F1 of all nodes, the source too, and the share of graphs without an error."""
    if not sets:
        return []
    frame = evaluate(path, sets)
    wanted = (frame["row"] == "network") & frame["metric"].isin(["micro_f1", "exact"])
    frame = frame[wanted & frame["hop"].isna()]
    columns = ["num_nodes", "num_graphs", "metric", "seed", "value"]
    return frame[columns].assign(test="wide").to_dict("records")


def system_of(experiment: Experiment) -> str:
    """Return the name of a network in the column `system`."""
    extra_steps = experiment.extra_steps
    return experiment.model + (f"-extra{extra_steps}" if extra_steps else "")


def score(experiments: list[Experiment], folder: Path, only: str | None) -> None:
    """Score trained networks and write the rows, for one task or for all."""
    scored = 0
    for experiment in experiments:
        trained = sorted((folder / experiment.name).glob("*/weights.npz"))
        if not trained:
            print(f"no trained network in {folder / experiment.name}")
        for weights in trained:
            for task in TASKS[experiment.target]:
                if only not in (None, task):
                    continue
                rows = official(weights.parent, task)
                rows += wide(weights.parent, wide_sets(experiment, task))
                names = {"target": experiment.target, "task": task}
                add_scores(system_of(experiment), [{**row, **names} for row in rows])
                print(f"scored {experiment.name} on {task}", flush=True)
                scored += 1
    if not scored:
        raise SystemExit(
            f"nothing was scored in {folder}; train the networks first, or choose --folder "
            "studies/runs/clrs30, and a --task that the targets answer"
        )


def add_scores(system: str, rows: list[dict]) -> None:
    """Add the rows of a system to the table, or replace those with the same keys.

    Other studies can call it for systems of their own; `SYSTEMS` in `studies/scoreboard.py` then
    needs an entry with the system's name.
    """
    import pandas

    tables = [pandas.read_csv(SCORES)] if SCORES.exists() else []
    table = pandas.concat([*tables, pandas.DataFrame(rows).assign(system=system)])[COLUMNS]
    keys = COLUMNS[:-1]
    table = table.drop_duplicates(keys, keep="last").sort_values(keys)
    table.to_csv(SCORES, index=False)
    print(f"wrote {SCORES}: {len(rows)} rows of {system}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=("train", "score"))
    parser.add_argument("--model", default="relax")
    parser.add_argument("--target", choices=tuple(TASKS), help="default: all targets")
    parser.add_argument("--task", help="task to score (default: all that a target answers)")
    parser.add_argument("--extra-steps", type=int, default=0)
    parser.add_argument("--max-epochs", type=int, default=500)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    arguments = parser.parse_args()
    targets = [arguments.target] if arguments.target else list(TASKS)
    settings = (arguments.model, arguments.extra_steps, targets, arguments.max_epochs)
    chosen = experiments(*settings)
    if arguments.action == "train":
        for experiment in chosen:
            path, _ = train(experiment, SEEDS, data="clrs30", folder=arguments.folder)
            print(f"{experiment.name}: {path}", flush=True)
    else:
        score(chosen, arguments.folder, arguments.task)


if __name__ == "__main__":
    main()
