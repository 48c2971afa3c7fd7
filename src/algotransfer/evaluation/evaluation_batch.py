"""`EvaluationBatch`: networks and references on the graphs of one dataset, chunk by chunk."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Int

from algotransfer.algorithms import Algorithm, Trace, engines, get_algorithm, run
from algotransfer.evaluation.harness import (
    Execution,
    LayoutName,
    graphs_at_once,
    make_free_drivers,
    run_free,
)
from algotransfer.evaluation.metrics import Metrics, measure
from algotransfer.evaluation.paths import follow, hop_distances
from algotransfer.evaluation.readout import READOUTS, Readout, read_batch
from algotransfer.evaluation.references import POINTERS, the_algorithm
from algotransfer.experiment import Experiment
from algotransfer.graphs.graph import Graph
from algotransfer.networks.executor import Executor
from algotransfer.training.objective import Task
from algotransfer.training.supervision import SUPERVISIONS
from algotransfer.training.truth import Truth, make_truth

_make_truth = partial(jax.jit, static_argnums=(0, 2, 3))(make_truth)


class Label(NamedTuple):
    """Whose numbers these are: the name of a row, and the seed of a network."""

    row: str
    seed: int | None = None


@dataclass(frozen=True, eq=False)
class EvaluationBatch:
    """Networks and graphs, with all that is the same for every chunk of them.

    `ends` holds each task's trace with two steps only, the first and the last; the target is the
    last task.
    """

    networks: Executor
    labels: list[Label]
    tasks: tuple[Task, ...]
    readouts: tuple[Readout, ...]
    infinity: float | str
    graphs: Graph
    ends: tuple[Trace, ...]
    hop: Int[np.ndarray, "graphs n"]
    references: dict[str, Int[np.ndarray, "graphs n"]]
    layout: LayoutName | None

    @classmethod
    def prepare(
        cls,
        networks: Executor,
        seeds: list[int],
        experiment: Experiment,
        graphs: Graph,
        layout: LayoutName | None = None,
    ) -> EvaluationBatch:
        """Runs the algorithms to their end, which leaves few numbers per node."""
        named = [(get_algorithm(name), supervision) for name, supervision in experiment.tasks]
        if networks.independent:
            networks, named = networks.for_task(len(named) - 1), named[-1:]
        judged = not named[-1][0].binary  # whether pointers are
        return cls(
            networks=networks,
            labels=[Label("network", seed) for seed in seeds],
            tasks=tuple(Task(a, SUPERVISIONS[supervision]) for a, supervision in named),
            readouts=tuple(READOUTS[supervision, a.framework] for a, supervision in named),
            infinity=experiment.infinity,
            graphs=graphs,
            ends=tuple(first_and_last(a, graphs) for a, _ in named),
            hop=hop_distances(graphs),
            references={name: f(graphs) for name, f in POINTERS.items()} if judged else {},
            layout=layout,
        )

    def chunks(self) -> Iterator[tuple[Int[np.ndarray, " chunk"], int]]:
        """Indices of graphs, every time as many, and how many of them are new."""
        total = len(self.graphs)
        kept = self.graphs.num_nodes if self.readouts[-1].every_step else 1
        count = -(-total // graphs_at_once(self.networks, self.graphs, kept, self.layout))
        size = -(-total // count)
        for start in range(0, total, size):
            yield np.arange(start, start + size) % total, min(size, total - start)

    def measure(self, index: Int[np.ndarray, " chunk"]) -> list[tuple[list[Label], Metrics]]:
        """Metrics of some graphs: of the networks, of the algorithm, of the other references.

        **Returns:** metrics that have the labels along their first axis, the graphs behind.
        """
        algorithm, read, ends = self.tasks[-1].algorithm, self.readouts[-1].read, self.ends[-1]
        graphs = jax.tree.map(jnp.asarray, self.graphs[index])
        truth = self._truth(index)
        groups = [
            (self.labels, self.execute(graphs, index)),
            ([Label("algorithm")], the_algorithm(truth)),
        ]
        if self.references:
            pointer = np.stack([pointer[index] for pointer in self.references.values()])
            labels = [Label(name) for name in self.references]
            groups.append((labels, Execution(pointer=jnp.asarray(pointer)[..., None, :])))

        readings = [read_batch(read, algorithm, execution, truth) for _, execution in groups]
        paths = [None] * len(readings)
        if not algorithm.binary:
            together = jnp.concatenate([reading.answer for reading in readings])
            followed, end = jax.tree.map(np.asarray, follow(algorithm, graphs, together)), 0
            for k, reading in enumerate(readings):
                start, end = end, end + len(reading.answer)
                paths[k] = jax.tree.map(lambda leaf, s=start, e=end: leaf[s:e], followed)
        final_key, final_pred = np.asarray(ends.final_key), np.asarray(ends.final_pred)
        true = (final_key[index], final_pred[index], self.hop[index])
        return [
            (labels, measure(algorithm, reading, path, *true))
            for (labels, _), reading, path in zip(groups, readings, paths, strict=True)
        ]

    def execute(self, graphs: Graph, index: Int[np.ndarray, " chunk"]) -> Execution:
        """Run the networks; they are given initial states and step counts, nothing else."""
        starts = tuple(
            _make_truth(task.algorithm, ends[index], self.infinity, 1)
            for task, ends in zip(self.tasks, self.ends, strict=True)
        )
        nodes, every_step = graphs.num_nodes, self.readouts[-1].every_step
        steps = tuple(
            jnp.full_like(start.length, nodes) if manner.every_step else start.length
            for start, manner in zip(starts, self.readouts, strict=True)
        )
        return run_free(
            self.networks,
            graphs,
            make_free_drivers(self.tasks, starts, steps),
            num_steps=nodes if every_step else self._longest,
            at_end=not every_step,
            layout=self.layout,
        )

    @property
    def _longest(self) -> int:
        return int(np.max(self.ends[-1].length))

    def _truth(self, index) -> Truth:
        """The target's truth: every step where that is needed, else the first and the last."""
        algorithm = self.tasks[-1].algorithm
        if not self.readouts[-1].every_step:
            return _make_truth(algorithm, self.ends[-1][index], self.infinity, 1)
        trace = run(algorithm, self.graphs[index])
        return _make_truth(algorithm, trace, self.infinity, self._longest)


def first_and_last(algorithm: Algorithm, graphs: Graph) -> Trace:
    """A batch's traces with two steps, the initial state and the final one, on the host."""
    final = run(algorithm, graphs, record="final")
    start = _initial_states(algorithm, jnp.asarray(graphs.source), graphs.num_nodes)

    def both(first, last):
        return np.concatenate([np.asarray(first)[:, None], np.asarray(last)], axis=1)

    return Trace(
        key=both(start.key, final.key),
        pred=both(start.pred, final.pred),
        visited=both(start.visited, final.visited) if algorithm.sequential else None,
        length=np.asarray(final.length),
    )


@partial(jax.jit, static_argnums=(0, 2))
def _initial_states(algorithm: Algorithm, source: Int[jax.Array, " graphs"], num_nodes: int):
    return jax.vmap(lambda one: engines.initial_state(algorithm, one, num_nodes))(source)
