"""`EvaluationBatch`: networks and references measured on the graphs of one dataset."""

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from algotransfer.algorithms import Algorithm, Trace, run
from algotransfer.algorithms.frameworks import Comparisons, initial_state
from algotransfer.algorithms.truth import Infinity, Truth, make_truth
from algotransfer.evaluation.halting import WITHOUT_READING, check_halt, needs_steps, read_at
from algotransfer.evaluation.harness import (
    Execution,
    FreeRun,
    graphs_per_chunk,
    target_only,
)
from algotransfer.evaluation.horizon import training_horizon
from algotransfer.evaluation.metrics import Metrics, measure
from algotransfer.evaluation.paths import follow, hop_distances
from algotransfer.evaluation.references import POINTERS, the_algorithm
from algotransfer.graphs.graph import Graph
from algotransfer.training.examples import tasks_of
from algotransfer.training.objective import Task
from algotransfer.training.runs import Model

Report = Callable[[int], None]  # called with the number of graphs done since the last call

_make_truth = jax.jit(make_truth, static_argnums=(0, 2, 3))


class Label(NamedTuple):
    """The row of a table, and the seed of a network."""

    row: str
    seed: int | None = None


@dataclass(frozen=True, eq=False)
class EvaluationBatch:
    """Networks and graphs, with everything that all chunks of graphs share."""

    seeds: tuple[int, ...]
    run: FreeRun  # the networks and what they are told
    infinity: Infinity
    graphs: Graph
    end: Trace  # of the target, with two steps only: the first and the last
    hop: Int[np.ndarray, "graphs n"]
    references: dict[str, Int[np.ndarray, "graphs n"]]
    halt: str = "told"  # halting rule, for networks that are told the number of steps
    horizon: int = 0  # steps of the longest training rollout

    @classmethod
    def prepare(cls, model: Model, graphs: Graph, halt: str = "told") -> "EvaluationBatch":
        """Run the algorithms to their end, which leaves few numbers per node."""
        infinity = model.experiment.infinity
        networks, tasks = target_only(model.networks, tasks_of(model.experiment))
        check_halt(halt, tasks[-1])
        horizon = training_horizon(model) if halt == "horizon" else 0
        ends = [first_and_last(task.algorithm, graphs) for task in tasks]
        free_run = FreeRun.told(networks, tasks, ends, infinity)
        if halt not in ("told", "termination"):
            free_run = free_run.with_steps(horizon or graphs.num_nodes)
        pointers = POINTERS if tasks[-1].algorithm.predicts_predecessors else {}
        return cls(
            seeds=model.seeds,
            run=free_run,
            infinity=infinity,
            graphs=graphs,
            end=ends[-1],
            hop=hop_distances(graphs),
            references={name: make(graphs) for name, make in pointers.items()},
            halt=halt,
            horizon=horizon,
        )

    @property
    def target(self) -> Task:
        """The task that is measured."""
        return self.run.tasks[-1]

    @property
    def runs(self) -> dict[str, FreeRun]:
        """The run and its variants, by row."""
        *others, (algorithm, supervision) = self.run.tasks
        variants = supervision.variants(algorithm).items()
        return {"network": self.run} | {
            row: dataclasses.replace(self.run, tasks=(*others, Task(algorithm, variant)))
            for row, variant in variants
        }

    @property
    def labels(self) -> list[list[Label]]:
        """Labels of the rows of each `Metrics` that `measure` returns."""
        of_runs = [[Label(row, seed) for seed in self.seeds] for row in self.runs]
        of_references = [[Label(name) for name in self.references]] if self.references else []
        return [*of_runs, [Label("algorithm")], *of_references]

    def chunks(self) -> Iterator[tuple[Int[np.ndarray, " chunk"], int]]:
        """Indices of graphs in chunks of one size, and how many of each chunk are new."""
        total = len(self.graphs)
        kept = self.run.num_steps if needs_steps(self.halt, self.target) else 1
        per_chunk = graphs_per_chunk(self.run.networks, self.graphs, kept, self.run.layout)
        size = -(-total // -(-total // per_chunk))
        for start in range(0, total, size):
            yield np.arange(start, start + size) % total, min(size, total - start)

    def on_all_graphs(
        self,
        compute: Callable[[Int[np.ndarray, " chunk"]], Any],
        report: Report = lambda num_graphs: None,
    ) -> Any:
        """Call `compute` on chunks of graphs; concatenate its arrays [seeds, graphs, …]."""
        parts = []
        for index, new in self.chunks():
            # The last graphs of a chunk may only fill up its shape.
            parts.append(jax.tree.map(lambda a, new=new: a[:, :new], compute(index)))
            report(new)
        return jax.tree.map(lambda *a: np.concatenate(a, axis=1), *parts)

    def measure(self, index: Int[np.ndarray, " chunk"]) -> list[Metrics]:
        """Compute the metrics of networks, algorithm and references; see `labels`."""
        task, algorithm = self.target, self.target.algorithm
        graphs = jax.tree.map(jnp.asarray, self.graphs[index])
        truth = self._truth(index)
        executions = [self.execute(index, run) for run in self.runs.values()]
        executions.append(the_algorithm(truth))
        if self.references:
            pointer = np.stack([pointer[index] for pointer in self.references.values()])
            executions.append(Execution(pointer=jnp.asarray(pointer)[..., None, :]))

        compared = [compare_batch(task, execution, truth) for execution in executions]
        paths = [None] * len(compared)
        if algorithm.predicts_predecessors:
            together = jnp.concatenate([each.answer for each in compared])
            followed, end = jax.tree.map(np.asarray, follow(algorithm, graphs, together)), 0
            for k, each in enumerate(compared):
                start, end = end, end + len(each.answer)
                paths[k] = jax.tree.map(lambda leaf, s=start, e=end: leaf[s:e], followed)
        final_key, final_pred = np.asarray(self.end.final_key), np.asarray(self.end.final_pred)
        true = (final_key[index], final_pred[index], self.hop[index])
        return [
            measure(algorithm, each, path, *true)
            for each, path in zip(compared, paths, strict=True)
        ]

    def answers(
        self, index: Int[np.ndarray, " chunk"]
    ) -> tuple[Float[np.ndarray, "seeds chunk n"], Int[np.ndarray, "seeds chunk n"]]:
        """Return the keys and predecessors that the networks answer with on some graphs."""
        compared = compare_batch(self.target, self.execute(index), self._truth(index))
        keys = compared.by_metric.get("key_last", compared.by_metric["key"])
        return np.asarray(keys.given), np.asarray(compared.answer)

    def execute(self, index: Int[np.ndarray, " chunk"], run: FreeRun | None = None) -> Execution:
        """Run the networks on some graphs and read them by the halting rule."""
        run = run or self.run
        record = "steps" if needs_steps(self.halt, self.target) else "last"
        execution = run.run(self.graphs, index, record)
        if self.halt in WITHOUT_READING:
            return execution
        return _read_batch(self.halt, execution, jnp.asarray(self.end.length[index]), self.horizon)

    def _truth(self, index) -> Truth:
        """The target's truth: every step where that is needed, else the first and the last."""
        algorithm = self.target.algorithm
        if self.target.supervision.told_steps:
            return _make_truth(algorithm, self.end[index], self.infinity, 1)
        trace = run(algorithm, self.graphs[index])
        return _make_truth(algorithm, trace, self.infinity, int(np.max(self.end.length)))


def first_and_last(algorithm: Algorithm, graphs: Graph) -> Trace:
    """Return a batch's traces with two steps on the host: the initial state and the final one."""
    final = run(algorithm, graphs, record="final")
    start = _initial_states(algorithm, jnp.asarray(graphs.source), graphs.num_nodes)

    def both(first, last):
        return np.concatenate([np.asarray(first)[:, None], np.asarray(last)], axis=1)

    return Trace(
        key=both(start.key, final.key),
        pred=both(start.pred, final.pred),
        visited=None if final.visited is None else both(start.visited, final.visited),
        length=np.asarray(final.length),
    )


@partial(jax.jit, static_argnums=(0, 2))
def _initial_states(algorithm: Algorithm, source: Int[jax.Array, " graphs"], num_nodes: int):
    return jax.vmap(lambda one: initial_state(algorithm, one, num_nodes))(source)


@partial(jax.jit, static_argnums=0)
def compare_batch(task: Task, execution: Execution, truth: Truth) -> Comparisons:
    """Compare a batch of graphs; axes of the execution in front of the batch are seeds."""
    if not task.algorithm.predicts_predecessors:
        execution = dataclasses.replace(execution, pointer=None)
    one = jax.vmap(partial(task.supervision.compare, task.algorithm))
    some = jax.tree.leaves((execution.key, execution.pointer))[0]
    for _ in range(some.ndim - truth.key.ndim):
        one = jax.vmap(one, in_axes=(0, None))
    return one(execution, truth)


@partial(jax.jit, static_argnums=(0, 3))
def _read_batch(halt: str, execution: Execution, length, horizon: int) -> Execution:
    on_graphs = jax.vmap(lambda one, steps: read_at(halt, one, steps, horizon)[0])
    return jax.vmap(on_graphs, in_axes=(0, None))(execution, length)
