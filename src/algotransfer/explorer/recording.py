"""Record every step of an algorithm's or a trained network's execution on one graph."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int

from algotransfer.algorithms import Algorithm, Trace
from algotransfer.algorithms.frameworks.sequential import pointer_when_chosen
from algotransfer.evaluation.evaluation_batch import first_and_last
from algotransfer.evaluation.execute import healthy_seed, steps_to_run
from algotransfer.evaluation.halting import WITHOUT_READING, check_halt, default_halt, read_at
from algotransfer.evaluation.harness import FreeRun, target_only
from algotransfer.evaluation.training_range import fit_graphs, infinity_without_answer
from algotransfer.graphs import Graph
from algotransfer.training.examples import tasks_of
from algotransfer.training.objective import Task
from algotransfer.training.runs import Model


@dataclass(frozen=True)
class RecordedExecution:
    """Every state of an execution, step 0 included, in the algorithm's own units of keys.

    `visited` and `chosen` are None for parallel algorithms, `probability` and `stop` (termination)
    where no network predicts them.
    """

    key: Float[np.ndarray, "states n"]
    held: Bool[np.ndarray, "states n"]  # nodes that hold a key; the others are drawn empty
    pred: Int[np.ndarray, "states n"]  # −1 where a node has none
    reached: Bool[np.ndarray, "states n"]
    visited: Bool[np.ndarray, "states n"] | None
    chosen: Int[np.ndarray, " steps"] | None  # the node visited by each step; −1 if none was left
    probability: Float[np.ndarray, "steps n"] | None = None  # of that choice
    stop: Float[np.ndarray, " steps"] | None = None

    @property
    def num_steps(self) -> int:
        """Number of steps; there is one state more."""
        return len(self.key) - 1

    def at(self, step: int) -> int:
        """Return the index of a step's state; the last state is repeated."""
        return min(step, self.num_steps)


def record_trace(algorithm: Algorithm, trace: Trace) -> RecordedExecution:
    """The true execution of one graph, up to its last step."""
    states = int(trace.length) + 1
    key, pred = np.asarray(trace.key)[:states], np.asarray(trace.pred)[:states]
    reached = key != algorithm.unreached_key
    visited = chosen = None
    if trace.visited is not None:
        visited = np.asarray(trace.visited)[:states]
        chosen = np.argmax(visited[1:] & ~visited[:-1], axis=1)
    return RecordedExecution(key, reached, pred, reached, visited, chosen)


class RecordedRun(NamedTuple):
    """A network's execution, and what the network was told."""

    execution: RecordedExecution
    seed: int
    infinity: float  # the stand-in for ∞
    unit: float  # the key that is 1 for the network
    told: str  # a sentence with # in place of the stand-in


def record_execution(
    model: Model,
    graph: Graph,
    seed: int | None = None,
    blind: bool = False,
    halt: str | None = None,
) -> RecordedRun:
    """Run a network of a model and record every step up to its end; see `explore`."""
    seed = healthy_seed(model) if seed is None else seed
    networks = jax.tree.map(lambda leaf: leaf[None], model.network(seed))
    networks, tasks = target_only(networks, tasks_of(model.experiment))
    target = tasks[-1]
    batch = jax.tree.map(lambda leaf: np.asarray(leaf)[None], graph)
    batch, _, key_factor = fit_graphs(model, batch)
    if blind:
        stand_ins = infinity_without_answer(model, tasks, batch)
        free_run = FreeRun.untold(networks, tasks, stand_ins, graph.num_nodes)
        told = "It was told nothing of the answer; ∞ is # to it."
    else:
        ends = [first_and_last(task.algorithm, batch) for task in tasks]
        free_run = FreeRun.told(networks, tasks, ends, model.experiment.infinity)
        told = "It was told the stand-in for ∞ (#)"
        knows_steps = target.supervision.told_steps and halt in (None, "told")
        told += " and the number of steps." if knows_steps else "."
    if halt is None:
        halt = default_halt(model, target) if blind else "told"
    check_halt(halt, target)
    if halt not in ("told", "termination"):
        free_run = free_run.with_steps(steps_to_run(halt, model, graph.num_nodes))
    execution = free_run.run(batch, np.array([0]), "all")
    execution: Any = jax.tree.map(lambda leaf: leaf[0, 0], execution)
    step = len(execution.key)
    if halt not in WITHOUT_READING:
        step = int(read_at(halt, execution, step, 0)[1])
    if halt not in ("told", "termination"):
        told += f" Its answer is read after step {step} ({halt})."
    execution = jax.tree.map(lambda leaf: np.asarray(leaf)[:step], execution)
    infinity = float(free_run.infinity[-1][0])
    unit = target.algorithm.unit(graph.num_nodes) / float(key_factor[0])
    recorded = _record(target, graph, infinity, unit, execution)
    return RecordedRun(recorded, seed, infinity * unit, unit, told)


def _record(
    task: Task, graph: Graph, infinity: float, unit: float, steps: Any
) -> RecordedExecution:
    """Convert an `Execution` of NumPy arrays; mark keys that the network does not hold."""
    algorithm, source = task.algorithm, int(graph.source)
    carry_all = task.supervision.carries_all(algorithm)
    start = algorithm.start(source, graph.num_nodes, infinity)
    is_source = np.arange(graph.num_nodes) == source
    done = np.concatenate([np.asarray(start.visited)[None] > 0.5, steps.visited])
    key = np.concatenate([np.asarray(start.key)[None], steps.key])
    later = np.arange(len(key))[:, None] > 0
    pointer = np.concatenate([np.full((1, graph.num_nodes), -1), steps.pointer])
    if steps.chosen is None:
        visited = chosen = None
        held = reached = later | is_source if carry_all else done
    else:
        visited = done
        reached = np.concatenate([is_source[None], steps.reached])
        new = done[1:] & ~done[:-1]
        chosen = np.where(new.any(axis=1), np.argmax(new, axis=1), -1)  # −1: no node was left
        held = later | is_source if carry_all else visited | (~later & is_source)
        if not carry_all:  # a pointer is kept from the step that chose its node
            kept = pointer_when_chosen(jnp.asarray(steps.pointer), jnp.asarray(chosen))
            pointer = np.asarray(kept)
    pred = np.where(held & later, pointer, -1)
    pred[0, source] = source
    if not algorithm.predicts_predecessors:
        pred[1:] = -1
    stop = None
    if not task.supervision.told_steps:
        stop = 1 / (1 + np.exp(-np.clip(steps.stop.astype(float), -80, 80)))
    return RecordedExecution(
        key * unit,
        held,
        pred,
        reached,
        visited,
        chosen,
        steps.probability,
        stop,
    )
