"""From datasets to what a program trains on: tasks, layouts and truths, on the device."""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np

from algotransfer.algorithms import Trace, get_algorithm
from algotransfer.datasets import Dataset
from algotransfer.experiment import Experiment
from algotransfer.networks.create import create_network
from algotransfer.networks.executor import Executor, edge_kinds
from algotransfer.networks.layouts import make_layouts
from algotransfer.training.objective import Examples, Task
from algotransfer.training.supervision import SUPERVISIONS
from algotransfer.training.truth import Infinity, make_truth, stand_in_for


def tasks_of(experiment: Experiment) -> tuple[Task, ...]:
    """The algorithms of an experiment and how each is supervised; the target is the last."""
    return tuple(
        Task(get_algorithm(name), SUPERVISIONS[supervision])
        for name, supervision in experiment.tasks
    )


def network_of(experiment: Experiment, key) -> Executor:
    """Return a new network for an experiment's tasks."""
    algorithms = tuple(task.algorithm for task in tasks_of(experiment))
    return create_network(experiment.model, algorithms, experiment.width, key, experiment.processor)


def make_examples(
    tasks: tuple[Task, ...], dataset: Dataset, infinity: Infinity, extra_steps: int = 0
) -> Examples:
    """Graphs and truths of a dataset; scans will be as long as its longest trace.

    **Arguments:**

    - `extra_steps`: steps that an answer must last, for tasks that are held to their answer alone.
    """
    traces = [
        _extended(dataset.trace(task.algorithm), extra_steps if task.supervision.samples else 0)
        for task in tasks
    ]
    num_steps = max(int(np.max(trace.length)) for trace in traces)
    traces = [jax.tree.map(jnp.asarray, _lasting(trace, num_steps)) for trace in traces]

    @jax.jit
    def truths(traces: list[Trace]):
        return tuple(
            make_truth(task.algorithm, trace, infinity, num_steps)
            for task, trace in zip(tasks, traces, strict=True)
        )

    kinds = edge_kinds(tuple(task.algorithm for task in tasks))
    return Examples(make_layouts(dataset.graphs, kinds), truths(traces))


def _extended(trace: Trace, extra_steps: int) -> Trace:
    """Extend traces by 0 to `extra_steps` steps; graphs take turns, since their order is random."""
    more = np.arange(len(trace.length)) % (extra_steps + 1)
    return dataclasses.replace(trace, length=(trace.length + more).astype(trace.length.dtype))


def _lasting(trace: Trace, num_steps: int) -> Trace:
    """Traces whose last state stays for at least as many steps."""
    missing = num_steps + 1 - trace.key.shape[1]
    if missing <= 0:
        return trace

    def last(states):
        repeated = np.repeat(np.asarray(states)[:, -1:], missing, axis=1)
        return np.concatenate([states, repeated], axis=1)

    visited = None if trace.visited is None else last(trace.visited)
    return dataclasses.replace(trace, key=last(trace.key), pred=last(trace.pred), visited=visited)


def typical_infinity(tasks: tuple[Task, ...], dataset: Dataset, infinity: Infinity) -> list[float]:
    """For each task the mean of what the network saw for ∞: a constant for graphs to come."""
    constants = []
    for task in tasks:
        final_key = dataset.trace(task.algorithm).final_key
        stand_ins = stand_in_for(task.algorithm, final_key, infinity)
        constants.append(float(np.mean(stand_ins)) / task.algorithm.unit(dataset.num_nodes))
    return constants
