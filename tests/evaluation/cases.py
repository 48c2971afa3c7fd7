"""Graphs, executions right and wrong, and how they are scored."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from algorithms import batches

from algotransfer.algorithms import get_algorithm, run
from algotransfer.algorithms.truth import make_truth
from algotransfer.evaluation.evaluation_batch import compare_batch
from algotransfer.evaluation.harness import Execution
from algotransfer.evaluation.metrics import Metrics, measure
from algotransfer.evaluation.paths import follow, hop_distances
from algotransfer.evaluation.references import the_algorithm
from algotransfer.graphs import Graph, concatenate, sample_graphs
from algotransfer.networks import MODELS
from algotransfer.supervisions import SUPERVISIONS
from algotransfer.training.objective import Task
from algotransfer.training.runs import Model


def fresh_networks(experiment, count: int):
    """Networks as they are before training, with an axis of seeds in front."""
    algorithms = tuple(get_algorithm(name) for name, _ in experiment.tasks)
    create = MODELS[experiment.model].create
    keys = jax.random.split(jax.random.key(7), count)
    return jax.vmap(lambda key: create(algorithms, experiment.width, key))(keys)


def fresh_model(experiment, count: int) -> Model:
    """Networks as they are before training, as the model of the first seeds."""
    return Model(experiment, tuple(range(count)), fresh_networks(experiment, count), {})


def some_graphs(num_nodes: int = 7) -> Graph:
    """Sampled graphs, and some with ties, with nodes out of reach, and with one edge only."""
    n = num_nodes
    cycle = [(v, (v + 1) % n) for v in range(n)]
    return concatenate(
        [
            sample_graphs("er", 4, n, seed=1),
            sample_graphs("ba", 2, n, seed=1),
            batches.graph(n, cycle, source=2, weights="equal"),
            batches.graph(n, [(0, 1), (1, 2), (0, 2), (3, 4)], source=1, weights="quarters"),
            batches.graph(n, [(3, 5)], source=5),
        ]
    )


def truth_of(name: str, graphs: Graph, infinity="instance"):
    trace = run(name, graphs)
    return make_truth(get_algorithm(name), trace, infinity, graphs.num_nodes)


def perfect(name: str, graphs: Graph) -> Execution:
    """The algorithm's own execution; steps after its end repeat the last choice."""
    return jax.tree.map(lambda leaf: leaf[0], the_algorithm(truth_of(name, graphs)))


def along(name: str, graphs: Graph, other: str) -> Execution:
    """The true execution, but with another algorithm's final tree as pointers."""
    itself = np.arange(graphs.num_nodes, dtype=np.int32)
    pred = np.asarray(run(other, graphs).final_pred)
    right, pointer = perfect(name, graphs), np.where(pred < 0, itself, pred)[:, None]
    pointer = jnp.broadcast_to(pointer, right.pointer.shape)
    return dataclasses.replace(right, pointer=pointer)


def at_random(name: str, graphs: Graph, seed: int, mistakes: float) -> Execution:
    """The true execution with a share of everything replaced by something random but possible."""
    rng = np.random.default_rng(seed)
    right = jax.tree.map(np.asarray, perfect(name, graphs))

    def mixed(true, other):
        return np.where(rng.random(true.shape) < mistakes, other, true)

    n, shape = graphs.num_nodes, right.pointer.shape
    adjacent = np.asarray(graphs.adjacency()) | np.eye(n, dtype=bool)
    draw = np.where(adjacent[:, None], rng.random((*shape, n)), -1.0)  # [graphs, steps, i, j]
    noise = rng.integers(0, 2, shape) if name == "bfs" else rng.normal(0, 2, shape)
    chosen = None
    if right.chosen is not None:
        order = np.stack([rng.permutation(n) for _ in range(len(graphs))])
        chosen = order if mistakes == 1 else mixed(right.chosen, order)
    return Execution(
        key=jnp.asarray(mixed(right.key, noise), jnp.float32),
        pointer=jnp.asarray(mixed(right.pointer, draw.argmax(-1).astype(np.int32))),
        chosen=None if chosen is None else jnp.asarray(chosen),
        stop=jnp.asarray(mixed(right.stop, rng.normal(size=right.stop.shape)), jnp.float32),
    )


def stacked(*executions: Execution) -> Execution:
    """Executions as those of different seeds."""
    return jax.tree.map(lambda *leaves: jnp.stack([jnp.asarray(a) for a in leaves]), *executions)


def score(name: str, supervision: str, graphs: Graph, execution: Execution) -> Metrics:
    """All metrics of executions, with an axis of seeds in front."""
    algorithm = get_algorithm(name)
    task = Task(algorithm, SUPERVISIONS[supervision])
    trace = run(name, graphs)
    compared = compare_batch(task, execution, truth_of(name, graphs))
    paths = None if compared.answer is None else follow(algorithm, graphs, compared.answer)
    final_key, final_pred = np.asarray(trace.final_key), np.asarray(trace.final_pred)
    return measure(algorithm, compared, paths, final_key, final_pred, hop_distances(graphs))
