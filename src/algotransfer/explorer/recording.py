"""Record every step of an execution that only Python can run."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from algotransfer.algorithms import Algorithm, run
from algotransfer.algorithms.expressions import number
from algotransfer.evaluation.evaluation_batch import first_and_last
from algotransfer.evaluation.harness import FreeRun
from algotransfer.evaluation.training_range import fit_graphs, infinity_without_answer
from algotransfer.graphs import Graph
from algotransfer.networks import Executor
from algotransfer.training.objective import Task
from algotransfer.training.runs import Model


def record_network(
    model: Model, networks: Executor, tasks: tuple[Task, ...], graph: Graph, blind: bool, steps: int
) -> dict[str, Any]:
    """Run a network on one graph; return its steps as JSON-compatible data.

    **Arguments:**

    - `networks`: one network of the model, with an axis of seeds in front.
    - `blind`: tell it nothing of the answer.
    - `steps`: how many steps to run.
    """
    batch = jax.tree.map(lambda leaf: np.asarray(leaf)[None], graph)
    batch, weight_factor, key_factor = fit_graphs(model, batch)
    if blind:
        stand_ins = infinity_without_answer(model, tasks, batch)
        free_run = FreeRun.untold(networks, tasks, stand_ins, steps)
    else:
        ends = [first_and_last(task.algorithm, batch) for task in tasks]
        free_run = FreeRun.told(networks, tasks, ends, model.experiment.infinity).with_steps(steps)
    execution = free_run.run(batch, np.array([0]), "all")
    execution = jax.tree.map(lambda leaf: np.asarray(leaf)[0, 0], execution)
    algorithm, stand_in = tasks[-1].algorithm, float(free_run.infinity[-1][0])
    start = algorithm.start(int(graph.source), graph.num_nodes, stand_in)
    rows = {name: lists(value) for name, value in vars(execution).items()}
    return {
        "infinity": stand_in,
        "unit": algorithm.unit(graph.num_nodes) / float(key_factor[0]),
        "weightFactor": float(weight_factor[0]),
        "start": lists(np.asarray(start.key)),
        "steps": [
            {name: None if row is None else row[t] for name, row in rows.items()}
            for t in range(steps)
        ],
    }


def record_trace(algorithm: Algorithm, graph: Graph) -> dict[str, Any]:
    """Run an algorithm on one graph; return every state as JSON-compatible data."""
    trace = run(algorithm, graph)
    states = slice(int(trace.length) + 1)
    parts = {"key": trace.key, "pred": trace.pred, "visited": trace.visited}
    return {name: None if part is None else lists(part[states]) for name, part in parts.items()}


def lists(values: Any) -> Any:
    """Return nested lists of numbers as JSON can hold them, with seven digits."""
    if values is None:
        return None
    array = np.asarray(values)
    if array.dtype.kind != "f":
        return array.astype(int).tolist()
    rows = [number(float(f"{value:.7g}")) for value in array.ravel().tolist()]
    return np.array(rows, object).reshape(array.shape).tolist()
