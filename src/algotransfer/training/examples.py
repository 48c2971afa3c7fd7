"""Training examples: tasks, layouts and truths of a dataset, on the device."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np

from algotransfer.algorithms import Trace, get_algorithm
from algotransfer.algorithms.truth import Infinity, make_truth, stand_in_for
from algotransfer.datasets import Dataset
from algotransfer.errors import UserError
from algotransfer.experiment import Experiment
from algotransfer.graphs.graph import Graph
from algotransfer.limits import FLOAT32_RANGE, is_positive
from algotransfer.networks import Executor, create_network, edge_kinds, make_layouts
from algotransfer.supervisions import SUPERVISIONS
from algotransfer.training.objective import Examples, Task


def tasks_of(experiment: Experiment) -> tuple[Task, ...]:
    """Return the tasks of an experiment; the target is the last."""
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
    """Make the examples of a dataset; scans will be as long as its longest execution."""
    traces = []
    for task in tasks:
        trace = dataset.trace(task.algorithm)
        steps = task.supervision.training_steps(np.asarray(trace.length), extra_steps)
        traces.append(dataclasses.replace(trace, length=steps.astype(trace.length.dtype)))
    num_steps = max(int(np.max(trace.length)) for trace in traces)
    traces = [jax.tree.map(jnp.asarray, _pad_states(trace, num_steps)) for trace in traces]

    @jax.jit
    def truths(traces: list[Trace]):
        return tuple(
            make_truth(task.algorithm, trace, infinity, num_steps)
            for task, trace in zip(tasks, traces, strict=True)
        )

    kinds = edge_kinds(tuple(task.algorithm for task in tasks))
    return Examples(make_layouts(dataset.graphs, kinds), truths(traces))


def _pad_states(trace: Trace, num_steps: int) -> Trace:
    """Repeat the last state of every trace up to `num_steps`."""
    missing = num_steps + 1 - trace.key.shape[1]
    if missing <= 0:
        return trace

    def pad(states):
        return np.pad(states, [(0, 0), (0, missing), (0, 0)], mode="edge")

    key, pred, visited = jax.tree.map(pad, (trace.key, trace.pred, trace.visited))
    return dataclasses.replace(trace, key=key, pred=pred, visited=visited)


def typical_infinity(tasks: tuple[Task, ...], dataset: Dataset, infinity: Infinity) -> list[float]:
    """For each task, the mean stand-in for ∞ over the training graphs, in the network's units."""
    constants = []
    for task in tasks:
        final_key = dataset.trace(task.algorithm).final_key
        stand_ins = stand_in_for(task.algorithm, final_key, infinity)
        mean = float(np.asarray(stand_ins, np.float64).mean())  # a float32 sum may overflow
        constant = mean / task.algorithm.unit(dataset.num_nodes)
        if not is_positive(constant):
            raise UserError(
                f"the number that stands for ∞ in {task.algorithm.name} is {constant:g} on average "
                f"over the training graphs; expected a number above 0, {FLOAT32_RANGE}: use "
                "smaller weights, or set --infinity"
            )
        constants.append(constant)
    return constants


def weight_range(graphs: Graph) -> list[float]:
    """Return the smallest and the largest weight of a batch; empty without edges."""
    weights = np.asarray(graphs.weights)[np.asarray(graphs.edge_mask())]
    return [float(weights.min()), float(weights.max())] if weights.size else []
