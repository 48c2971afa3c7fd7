"""From datasets to what a program trains on: tasks, layouts and truths, on the device."""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np

from algotransfer.algorithms import Trace, get_algorithm
from algotransfer.datasets import Dataset
from algotransfer.experiment import FLOAT32, Experiment
from algotransfer.limits import is_positive
from algotransfer.names import check_name
from algotransfer.networks import MODELS
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


def create_network(experiment: Experiment, key) -> Executor:
    """A fresh network for an experiment's tasks."""
    check_name("model", experiment.model, MODELS)
    algorithms = tuple(task.algorithm for task in tasks_of(experiment))
    return MODELS[experiment.model].create(algorithms, experiment.width, key)


def make_examples(
    tasks: tuple[Task, ...], dataset: Dataset, infinity: Infinity, linger: int = 0
) -> Examples:
    """Graphs and truths of a dataset; scans will be as long as its longest trace.

    **Arguments:**

    - `linger`: steps that an answer must last, for tasks that are held to their answer alone.
    """
    traces = [
        _lingering(dataset.trace(task.algorithm), linger if task.supervision.samples else 0)
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


def _lingering(trace: Trace, linger: int) -> Trace:
    """Traces that go on for none to `linger` steps; graphs are in no order, so they take turns."""
    more = np.arange(len(trace.length)) % (linger + 1)
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
        mean = float(np.asarray(stand_ins, np.float64).mean())  # in float32 a sum may overflow
        constants.append(mean / task.algorithm.unit(dataset.num_nodes))
        if not is_positive(constants[-1]):
            raise ValueError(
                f"what stands for ∞ in {task.algorithm.name} is {constants[-1]:g} on average over "
                f"the training graphs, expected a number above 0, {FLOAT32}; "
                "use smaller weights, or name a number with --infinity"
            )
    return constants
