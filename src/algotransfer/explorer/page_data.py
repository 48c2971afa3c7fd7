"""Everything that a page shows, as JSON-compatible data."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np

from algotransfer.algorithms import Algorithm
from algotransfer.algorithms.expressions import NotExpressible
from algotransfer.evaluation.execute import healthy_seed
from algotransfer.evaluation.halting import check_halt, default_halt
from algotransfer.evaluation.harness import target_only
from algotransfer.evaluation.horizon import training_horizon
from algotransfer.evaluation.training_range import training_weights
from algotransfer.explorer.expressions import algorithm_data, algorithm_facts
from algotransfer.explorer.recording import record_network, record_trace
from algotransfer.graphs import Graph
from algotransfer.graphs.named import unique_edges
from algotransfer.networks import Executor
from algotransfer.networks.ne import NE
from algotransfer.networks.ne_plus_plus import NEPlusPlus
from algotransfer.networks.processors import MaxMPNN
from algotransfer.networks.relax import RelaxationExecutor, Selection
from algotransfer.training.examples import tasks_of
from algotransfer.training.named_arrays import to_arrays
from algotransfer.training.objective import Task
from algotransfer.training.runs import Model
from algotransfer.training.supervision import Supervision

KINDS = {NE: "ne", NEPlusPlus: "ne++", RelaxationExecutor: "relax"}  # those of execution.js

Data = dict[str, Any]


def page_data(
    graph: Graph,
    names: Sequence[str],
    algorithms: Sequence[Algorithm],
    models: Mapping[str, Model],
    title: str,
    seed: int | None,
    blind: bool,
    halt: str | None,
) -> Data:
    """Return the graph, the algorithms, and networks for the first of them."""
    data: Data = {
        "title": title,
        "blind": blind,
        "halt": halt,
        "graph": {
            "names": list(names),
            "edges": [[u, v, float(w)] for u, v, w in unique_edges(graph)],
            "source": int(graph.source),
            **({"directed": True} if graph.directed else {}),
        },
        "algorithms": [_algorithm(algorithm, graph) for algorithm in algorithms],
        "models": [
            model_data(label, model, graph, seed, blind, halt) for label, model in models.items()
        ],
    }
    recorded = [a for a in data["algorithms"] if "trace" in a]
    recorded += [m for m in data["models"] if "recorded" in m]
    return {**data, "live": not recorded}


def _algorithm(algorithm: Algorithm, graph: Graph) -> Data:
    try:
        return algorithm_data(algorithm)
    except NotExpressible:
        return {**algorithm_facts(algorithm), "trace": record_trace(algorithm, graph)}


def model_data(
    label: str,
    model: Model,
    graph: Graph,
    seed: int | None = None,
    blind: bool = False,
    halt: str | None = None,
) -> Data:
    """Return a network's weights, or its steps on the graph if only Python can run it."""
    seed = healthy_seed(model) if seed is None else seed
    index = [model.index(seed)]
    networks = jax.tree.map(lambda leaf: np.asarray(leaf)[index], model.networks)  # no compile
    networks, tasks = target_only(networks, tasks_of(model.experiment))
    constants, target = model.card["infinity"][-len(tasks) :], tasks[-1]
    blind_halt = default_halt(model, target)
    check_halt(halt or "told", target)
    needed = "horizon" in (halt, blind_halt if blind and halt is None else None)
    horizon = training_horizon(model) if needed else _known_horizon(model, target)
    data: Data = {
        "label": label,
        "experiment": model.experiment.name,
        "seed": seed,
        "infinity": model.experiment.infinity,
        "trained": training_weights(model),
        "horizon": horizon,
        "blindHalt": blind_halt,
    }
    try:
        tasks_data = [_task(*each) for each in zip(tasks, constants, strict=True)]
        return {**data, "tasks": tasks_data, **_weights(networks)}
    except NotExpressible:
        steps = max(graph.num_nodes, horizon or 0)
        recorded = record_network(model, networks, tasks, graph, blind, steps)
        facts = _task(target, constants[-1], algorithm_facts(target.algorithm))
        return {**data, "tasks": [facts], "recorded": recorded}


def _task(task: Task, constant: float, algorithm: Data | None = None) -> Data:
    if type(task.supervision).free_driver is not Supervision.free_driver and algorithm is None:
        raise NotExpressible("free_driver")
    return {
        "algorithm": algorithm or algorithm_data(task.algorithm),
        "toldSteps": task.supervision.told_steps,
        "carriesAll": task.supervision.carries_all(task.algorithm),
        "constant": constant,
    }


def _weights(networks: Executor) -> Data:
    """Return the kind of a network and its weights, float32 in base64."""
    kind = KINDS.get(type(networks))
    if kind is None or {type(p) for p in networks.processors} - {MaxMPNN, Selection}:
        raise NotExpressible(type(networks).__name__)
    arrays = {name: np.asarray(a, "<f4")[0] for name, a in to_arrays(networks).items()}
    return {
        "kind": kind,
        "arrays": {
            name: {"shape": list(a.shape), "data": base64.b64encode(a.tobytes()).decode()}
            for name, a in arrays.items()
        },
    }


def _known_horizon(model: Model, target: Task) -> int | None:
    """Return the steps of the longest training rollout, if they are known without running it."""
    data = model.card.get("data", {}).get("train", {})
    if "horizon" in model.card or not target.algorithm.sequential or "split" not in data:
        return model.card.get("horizon")
    # Grids and Barabási–Albert graphs are connected: all their nodes are visited.
    connected = {"ba", "grid"} & {*data["graph"]}
    return data["num_nodes"] + model.experiment.extra_steps if connected else None
