"""`evaluate_networks`: trained networks on test graphs, as a tidy table of all metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np

from algotransfer.algorithms import Algorithm, Trace, engines, get_algorithm, run
from algotransfer.datasets.dataset import Dataset
from algotransfer.evaluation.execution import (
    Execution,
    execute_freely,
    free_drivers,
    graphs_at_once,
)
from algotransfer.evaluation.metrics import Metrics, measure
from algotransfer.evaluation.paths import follow, hop_distances
from algotransfer.evaluation.reading import READINGS, Manner, read_batch
from algotransfer.evaluation.references import POINTERS, the_algorithm
from algotransfer.experiment import Experiment
from algotransfer.graphs.graph import Graph
from algotransfer.networks.executors import Executor
from algotransfer.training.objective import Task
from algotransfer.training.supervision import SUPERVISIONS
from algotransfer.training.truth import Truth, make_truth

if TYPE_CHECKING:
    import pandas

Progress = Callable[[int, int], None]  # (graphs done, graphs in all)


def evaluate_networks(
    networks: Executor,
    experiment: Experiment,
    seeds: Sequence[int],
    datasets: Mapping[int, Dataset] | Iterable[Dataset],
    progress: Progress = lambda done, total: None,
    layout: str | None = None,
) -> pandas.DataFrame:
    """Runs the networks of all seeds free on test graphs and measures what comes out.

    **Arguments:**

    - `networks`: a network whose weights have an axis of seeds in front.
    - `seeds`: the seed of each.
    - `datasets`: graphs of any sizes and families.
    - `progress`: called with the number of graphs done and to be done.
    - `layout`: `dense` or `sparse`; by the number of nodes if not given.

    **Returns:** a row per seed, family, number of nodes, metric and hop distance, with the columns

    - `row`: `network`, or a reference: `random_neighbour`, `lightest_edge`, `algorithm`.
    - `seed`: of the network; missing for references.
    - `family`, `num_nodes`, `metric`.
    - `hop`: distance from the source of the nodes that count, 20 standing for more too; missing
        where all count.
    - `value`: the metric of each graph, averaged over graphs.
    - `num_graphs`: graphs that have such a value.
    """
    import pandas

    count = jax.tree.leaves(networks)[0].shape[0]
    if count != len(seeds):
        raise ValueError(f"weights of {count} networks with {len(seeds)} seeds: {list(seeds)}")
    datasets = list(datasets.values() if isinstance(datasets, Mapping) else datasets)
    total, done, rows = sum(map(len, datasets)), 0, []
    for dataset in datasets:
        exam = Exam.prepare(networks, experiment, dataset, layout)
        parts: dict[str, list[Metrics]] = {}
        for index, new in exam.chunks():
            for row, metrics in exam.measure(index):
                parts.setdefault(row, []).append(jax.tree.map(lambda a, k=new: a[:, :k], metrics))
            done += new
            progress(done, total)
        for row, chunks in parts.items():
            names: Sequence[int | None] = list(seeds) if row == "network" else [None]
            metrics = jax.tree.map(lambda *a: np.concatenate(a, axis=1), *chunks)
            rows += _rows(row, names, dataset, metrics)
    frame = pandas.DataFrame(rows, columns=list(COLUMNS))
    return frame.astype(COLUMNS)


COLUMNS = {
    "row": "str",
    "seed": "Int64",
    "family": "str",
    "num_nodes": "int64",
    "metric": "str",
    "hop": "Int64",
    "value": "float64",
    "num_graphs": "int64",
}


@dataclass(frozen=True, eq=False)
class Exam:
    """Networks and the graphs of one dataset, with all that is the same for every chunk of them.

    `ends` holds each task's trace with two steps only, the first and the last.
    """

    networks: Executor
    tasks: tuple[Task, ...]
    manners: tuple[Manner, ...]
    infinity: float | str
    graphs: Graph
    ends: tuple[Trace, ...]
    hop: np.ndarray
    references: dict[str, np.ndarray]
    layout: str | None

    @classmethod
    def prepare(cls, networks, experiment: Experiment, dataset: Dataset, layout) -> Exam:
        """Runs the algorithms to their end; they are few numbers per node."""
        named = [(get_algorithm(name), supervision) for name, supervision in experiment.tasks]
        if networks.independent:
            networks, named = networks.only(len(named) - 1), named[-1:]
        graphs = dataset.graphs
        algorithm = named[-1][0]
        return cls(
            networks=networks,
            tasks=tuple(Task(a, SUPERVISIONS[supervision]) for a, supervision in named),
            manners=tuple(READINGS[supervision, a.framework] for a, supervision in named),
            infinity=experiment.infinity,
            graphs=graphs,
            ends=tuple(first_and_last(a, graphs) for a, _ in named),
            hop=hop_distances(graphs),
            references={} if algorithm.binary else {k: f(graphs) for k, f in POINTERS.items()},
            layout=layout,
        )

    @property
    def longest(self) -> int:
        """Steps of the target's longest trace."""
        return int(np.max(self.ends[-1].length))

    def chunks(self):
        """Indices of graphs, all of one shape, and how many of them are new."""
        total, manner = len(self.graphs), self.manners[-1]
        kept = self.graphs.num_nodes if manner.every_step else 1
        count = -(-total // graphs_at_once(self.networks, self.graphs, kept))
        size = -(-total // count)
        for start in range(0, total, size):
            yield np.arange(start, start + size) % total, min(size, total - start)

    def measure(self, index: np.ndarray):
        """Metrics of the networks and of the references on some graphs, by name."""
        task, manner, ends = self.tasks[-1], self.manners[-1], self.ends[-1][index]
        graphs = jax.tree.map(jnp.asarray, self.graphs[index])
        truth = self._truth(task.algorithm, ends, num_steps=1)
        if manner.every_step:
            trace = run(task.algorithm, self.graphs[index])
            truth = self._truth(task.algorithm, trace, self.longest)

        def metrics(execution: Execution) -> Metrics:
            reading = read_batch(manner.read, task.algorithm, execution, truth)
            paths = None
            if reading.answer is not None:
                paths = follow(task.algorithm, graphs, reading.answer)
            return measure(
                task.algorithm, reading, paths, ends.final_key, ends.final_pred, self.hop[index]
            )

        yield "network", metrics(self.execute(graphs, index))
        yield "algorithm", metrics(_as_one_seed(the_algorithm(truth)))
        for name, pointer in self.references.items():
            pointer = jnp.asarray(pointer[index])[:, None]
            yield name, metrics(_as_one_seed(Execution(pointer=pointer)))

    def execute(self, graphs: Graph, index: np.ndarray) -> Execution:
        """The networks' own execution; of the truth it is told what `free_drivers` says."""
        truths = tuple(
            self._truth(task.algorithm, ends[index], num_steps=1)
            for task, ends in zip(self.tasks, self.ends, strict=True)
        )
        nodes, every_step = graphs.num_nodes, self.manners[-1].every_step
        steps = tuple(
            jnp.full_like(truth.length, nodes) if manner.every_step else truth.length
            for truth, manner in zip(truths, self.manners, strict=True)
        )
        return execute_freely(
            self.networks,
            graphs,
            free_drivers(self.tasks, truths, steps),
            num_steps=nodes if every_step else self.longest,
            at_end=not every_step,
            layout=self.layout,
        )

    def _truth(self, algorithm: Algorithm, trace: Trace, num_steps: int) -> Truth:
        return _make_truth(algorithm, trace, self.infinity, num_steps)


_make_truth = partial(jax.jit, static_argnums=(0, 2, 3))(make_truth)


def first_and_last(algorithm: Algorithm, graphs: Graph) -> Trace:
    """A batch's traces with two steps, the initial state and the final one, on the host."""
    final = run(algorithm, graphs, record="final")
    start = jax.vmap(lambda source: engines.initial_state(algorithm, source, graphs.num_nodes))(
        jnp.asarray(graphs.source)
    )

    def both(first, last):
        return np.concatenate([np.asarray(first)[:, None], np.asarray(last)], axis=1)

    return Trace(
        key=both(start.key, final.key),
        pred=both(start.pred, final.pred),
        visited=both(start.visited, final.visited) if algorithm.sequential else None,
        length=np.asarray(final.length),
    )


def _as_one_seed(execution: Execution) -> Execution:
    return jax.tree.map(lambda leaf: leaf[None], execution)


def _rows(row: str, seeds: Sequence[int | None], dataset: Dataset, metrics: Metrics):
    for family in dataset.families:
        members = dataset.family == family
        for name, values in metrics.graphs.items():
            yield from _averages(row, seeds, family, dataset, name, None, values[:, members])
        for name, values in metrics.hops.items():
            for hop in range(values.shape[-1]):
                of_hop = values[:, members, hop]
                yield from _averages(row, seeds, family, dataset, name, hop, of_hop)


def _averages(row, seeds, family, dataset, metric, hop, values):
    """A row per seed, of the mean over those graphs that have a value."""
    for seed, of_seed in zip(seeds, values, strict=True):
        there = of_seed[~np.isnan(of_seed)]
        if len(there):
            mean = float(np.mean(there))
            yield row, seed, family, dataset.num_nodes, metric, hop, mean, len(there)
