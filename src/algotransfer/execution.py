"""`execute`: a trained network on somebody's own graph, and the true answer beside it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from algotransfer.algorithms import Algorithm, run
from algotransfer.arguments import checked, shown
from algotransfer.evaluation.execution import execute_freely
from algotransfer.evaluation.reading import pointer_when_chosen
from algotransfer.experiment import FLOAT32
from algotransfer.graphs.graph import Graph
from algotransfer.graphs.named import check_single
from algotransfer.limits import is_positive
from algotransfer.networks.rollout import MOST_STEPS, Driver, State
from algotransfer.training.examples import tasks_of
from algotransfer.training.objective import Task
from algotransfer.training.runs import Model, load_model


@dataclass(frozen=True)
class Answer:
    """What a network and the algorithm say about one graph, in the network's units of keys.

    A node that the algorithm does not reach has −1 for its true predecessor.
    """

    algorithm: Algorithm
    seed: int
    steps: int
    infinity: float
    key: Float[np.ndarray, " n"]
    pred: Int[np.ndarray, " n"]
    true_key: Float[np.ndarray, " n"]
    true_pred: Int[np.ndarray, " n"]

    @property
    def reached(self) -> np.ndarray:
        """The nodes that the algorithm reaches."""
        return self.true_pred >= 0

    @property
    def wrong(self) -> np.ndarray:
        """The reached nodes whose predecessor is not the algorithm's."""
        return self.reached & (self.pred != self.true_pred)


@checked
def execute(
    model: str | Path | Model,
    graph: Graph,
    *,
    seed: int | None = None,
    steps: int | None = None,
    infinity: float | None = None,
) -> Answer:
    """Runs a trained network free on a graph, with no knowledge of the answer.

    **Arguments:**

    - `model`: a model, a run folder, a weights file, or the name of committed weights.
    - `graph`: a single graph; its source is where the execution starts.
    - `seed`: which of the model's networks; by default the first that did not diverge.
    - `steps`: how many steps; by default as many as there are nodes.
    - `infinity`: what the network sees for ∞, in its units; by default the mean over its training
        graphs.

    **Returns:** the network's `Answer`, with the true one.
    """
    model = model if isinstance(model, Model) else load_model(model)
    check_single(graph)
    seed = healthy_seed(model) if seed is None else seed
    steps = graph.num_nodes if steps is None else steps
    if not 1 <= steps <= MOST_STEPS:
        raise ValueError(f"steps={steps}; expected at least 1 and at most {MOST_STEPS:,}")
    if infinity is not None and not is_positive(infinity):
        raise ValueError(f"infinity={shown(infinity)}; expected a number above 0, {FLOAT32}")
    network, tasks = model.network(seed), tasks_of(model.experiment)
    constants = model.card["infinity"] if infinity is None else [float(infinity)] * len(tasks)
    if network.independent:
        last = len(tasks) - 1
        network, tasks, constants = network.only(last), tasks[-1:], constants[-1:]

    batch = jax.tree.map(lambda leaf: jnp.asarray(leaf)[None], graph)
    drivers = tuple(
        jax.tree.map(lambda leaf: leaf[None], blind_driver(task, graph, constant, steps))
        for task, constant in zip(tasks, constants, strict=True)
    )
    networks = jax.tree.map(lambda leaf: leaf[None], network)
    at_end = tasks[-1].supervision.carry_all
    execution = execute_freely(networks, batch, drivers, steps, at_end)
    key, pred = _final(tasks[-1], jax.tree.map(lambda leaf: np.asarray(leaf)[0, 0], execution))

    algorithm = tasks[-1].algorithm
    truth = run(algorithm, graph, record="final")
    raw = np.asarray(truth.final_key)
    true_key = np.where(np.isinf(raw), np.inf, raw / algorithm.unit(graph.num_nodes))
    return Answer(
        algorithm, seed, steps, constants[-1], key, pred, true_key, np.asarray(truth.final_pred)
    )


def blind_driver(task: Task, graph: Graph, infinity: float, steps: int) -> Driver:
    """The initial state under the constant rule: nothing here knows the answer."""
    key = task.algorithm.initial_key(jnp.asarray(graph.source), graph.num_nodes)
    key = jnp.where(jnp.isinf(key), infinity, key / task.algorithm.unit(graph.num_nodes))
    is_source = jnp.arange(graph.num_nodes) == graph.source
    visited = jnp.zeros_like(key) if task.algorithm.sequential else is_source.astype(key.dtype)
    return Driver(State(key, visited), jnp.int32(steps), carry_all=task.supervision.carry_all)


def _final(task: Task, execution: Any) -> tuple[np.ndarray, np.ndarray]:
    """Keys and pointers with which an `Execution` (of NumPy arrays) ended."""
    if task.supervision.carry_all:
        return execution.key[-1], execution.pointer[-1]
    if task.algorithm.sequential:
        pointer, chosen = jnp.asarray(execution.pointer), jnp.asarray(execution.chosen)
        return execution.key[-1], np.asarray(pointer_when_chosen(pointer, chosen))
    ended = np.flatnonzero(execution.stop > 0)
    last = ended[0] if ended.size else len(execution.stop) - 1
    return execution.key[last], execution.pointer[last]


def healthy_seed(model: Model) -> int:
    """The first of a model's seeds whose training did not diverge."""
    healthy = [s for s, bad in zip(model.seeds, model.diverged, strict=True) if not bad]
    if not healthy:
        raise ValueError("every seed of this model diverged; name one to run it all the same")
    return healthy[0]
