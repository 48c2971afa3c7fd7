"""`watch`: a trained network runs free on one graph, and every step of it is kept.

As in evaluation, the network's program is given a graph and `Driver`s and nothing else, so that
it cannot read more of the truth than they carry: what stands for ∞, and in `na` the number of
steps. A blind run is not even told these.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from algotransfer.evaluation.evaluation_batch import first_and_last
from algotransfer.evaluation.execute import healthy_seed, untold_driver
from algotransfer.evaluation.harness import best_predecessors, faster_layout, make_free_drivers
from algotransfer.evaluation.readout import READOUTS, pointer_when_chosen
from algotransfer.explorer.recorded_execution import RecordedExecution
from algotransfer.graphs import Graph
from algotransfer.networks.executor import Executor
from algotransfer.networks.layouts import make_layouts
from algotransfer.networks.rollout import Driver, rollout
from algotransfer.training.examples import tasks_of
from algotransfer.training.objective import Task
from algotransfer.training.runs import Model
from algotransfer.training.truth import make_truth


class RecordedRun(NamedTuple):
    """A network's execution, and what it was told before it began: # stands for `infinity`."""

    observation: RecordedExecution
    seed: int
    infinity: float
    told: str


class Step(NamedTuple):
    """What one step leaves behind; `chance` is None for a parallel algorithm."""

    key: Float[Array, "*steps n"]
    visited: Float[Array, "*steps n"]
    reached: Any  # as `visited`, of truth values
    pointer: Int[Array, "*steps n"]
    chance: Float[Array, "*steps n"] | None
    stop: Float[Array, "*steps"]


def record_execution(
    model: Model, graph: Graph, seed: int | None = None, blind: bool = False
) -> RecordedRun:
    """Runs one of a model's networks and keeps every step.

    **Arguments:**

    - `seed`: which network; by default the first that did not diverge.
    - `blind`: tell it nothing of the answer, as `execute` does.
    """
    seed = healthy_seed(model) if seed is None else seed
    network, tasks = model.network(seed), tasks_of(model.experiment)
    constants = model.card["infinity"]
    every_step = READOUTS[model.experiment.supervision, tasks[-1].algorithm.framework].every_step
    if network.independent:
        network, tasks, constants = network.for_task(len(tasks) - 1), tasks[-1:], constants[-1:]
    if blind:
        drivers = tuple(
            untold_driver(task, graph, constant, graph.num_nodes)
            for task, constant in zip(tasks, constants, strict=True)
        )
        infinity, told = constants[-1], "It was told nothing of the answer; ∞ is # to it."
    else:
        drivers, infinity = _told(tasks, graph, model.experiment.infinity)
        told = "Of the answer it was told what stands for ∞ (#)"
        told += "." if every_step else " and the number of steps."
    num_steps = graph.num_nodes if every_step else int(drivers[-1].steps)
    first = drivers[-1].start
    steps = _watch(network, jax.tree.map(jnp.asarray, graph), drivers, num_steps)
    observation = _observe(tasks[-1], graph, first, jax.tree.map(np.asarray, steps))
    return RecordedRun(
        observation, seed, infinity * tasks[-1].algorithm.unit(graph.num_nodes), told
    )


def _told(tasks: tuple[Task, ...], graph: Graph, infinity) -> tuple[tuple[Driver, ...], float]:
    """Drivers as in evaluation, and what the target sees for ∞."""
    batch = jax.tree.map(lambda leaf: np.asarray(leaf)[None], graph)
    ends = [first_and_last(task.algorithm, batch) for task in tasks]
    starts = tuple(
        make_truth(task.algorithm, end, infinity, 1) for task, end in zip(tasks, ends, strict=True)
    )
    steps = tuple(
        jnp.asarray(end.length) if task.supervision.carry_all else jnp.array([graph.num_nodes])
        for task, end in zip(tasks, ends, strict=True)
    )
    drivers = jax.tree.map(lambda leaf: leaf[0], make_free_drivers(tasks, starts, steps))
    algorithm = tasks[-1].algorithm
    rule = algorithm.stand_in(ends[-1].final_key)[0] if infinity == "instance" else infinity
    return drivers, float(rule) / algorithm.unit(graph.num_nodes)


@partial(jax.jit, static_argnames="num_steps")
def _watch(network: Executor, graph: Graph, drivers: tuple[Driver, ...], num_steps: int) -> Step:
    target = len(drivers) - 1
    sequential, carry_all = network.algorithms[target].sequential, drivers[target].carry_all

    with jax.default_matmul_precision("float32"):
        batch = jax.tree.map(lambda leaf: leaf[None], graph)
        views = make_layouts(batch, network.kinds, faster_layout(graph.num_nodes))
        layout = jax.tree.map(lambda leaf: leaf[0], views)
        is_source = jnp.arange(graph.num_nodes) == graph.source

        def emit(before, latents, after):
            now, then, latent = before[target], after[target], latents[target]
            allowed = chance = None
            if sequential and not carry_all:
                allowed = layout.reach(now.visited > 0.5) | is_source
            if sequential:
                logits = network.decode(target, latent)[:, 0]
                chance = jax.nn.softmax(jnp.where(now.visited < 0.5, logits, -jnp.inf))
            return Step(
                key=then.key,
                visited=then.visited,
                reached=layout.reach(then.visited > 0.5),
                pointer=best_predecessors(network, target, latent, layout, allowed),
                chance=chance,
                stop=network.terminate(target, latent, layout),
            )

        return rollout(network, layout, drivers, num_steps, emit).emitted


def _observe(task: Task, graph: Graph, start, steps: Any) -> RecordedExecution:
    """What of the steps is the network's own state: the rest it does not hold, and none sees it."""
    algorithm, carry_all = task.algorithm, task.supervision.carry_all
    is_source = np.arange(graph.num_nodes) == int(graph.source)
    done = np.concatenate([np.asarray(start.visited)[None], steps.visited]) > 0.5
    key = np.concatenate([np.asarray(start.key)[None], steps.key])
    later = np.arange(len(key))[:, None] > 0
    if algorithm.sequential:
        visited = done
        reached = np.concatenate([is_source[None], steps.reached])
        chosen = np.argmax(done[1:] & ~done[:-1], axis=1)
        held = later | is_source if carry_all else visited | (~later & is_source)
    else:
        visited = chosen = None
        held = reached = later | is_source if carry_all else done
    pointer = np.concatenate([np.full((1, graph.num_nodes), -1), steps.pointer])
    if chosen is not None and not carry_all:
        # It is kept from then on, as `held` is.
        pointer = pointer_when_chosen(jnp.asarray(steps.pointer), jnp.asarray(chosen))
    pred = np.where(held & later, pointer, -1)
    pred[0, int(graph.source)] = int(graph.source)
    if algorithm.binary:  # which of several equal parents is listed is not learned
        pred[1:] = -1
    stop = None if carry_all else 1 / (1 + np.exp(-np.clip(steps.stop.astype(float), -80, 80)))
    return RecordedExecution(
        key * algorithm.unit(graph.num_nodes),
        held,
        pred,
        reached,
        visited,
        chosen,
        steps.chance,
        stop,
    )
