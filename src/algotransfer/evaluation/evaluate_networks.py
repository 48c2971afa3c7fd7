"""`evaluate_networks`: measure networks on test graphs as a tidy table of all metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import jax
import numpy as np

from algotransfer.datasets.dataset import Dataset
from algotransfer.errors import UserError, shown
from algotransfer.evaluation.evaluation_batch import EvaluationBatch, Label
from algotransfer.evaluation.metrics import METRICS, Metrics
from algotransfer.experiment import Experiment
from algotransfer.networks.executor import Executor

if TYPE_CHECKING:
    import pandas

Progress = Callable[[int, int], None]  # (graphs done, total graphs)

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


def evaluate_networks(
    networks: Executor,
    experiment: Experiment,
    seeds: Sequence[int],
    datasets: Mapping[int, Dataset] | Iterable[Dataset],
    progress: Progress = lambda done, total: None,
    halt: str = "told",
    horizon: int = 0,
) -> pandas.DataFrame:
    """Run the networks of all seeds free on test graphs and compute all metrics.

    **Arguments:**

    - `networks`: a network whose weights have an axis of seeds in front.
    - `progress`: called with the number of graphs done and to be done.
    - `halt`: when the answer of a network that learned from answers alone is read: a name of
        `HALTING_RULES`.
    - `horizon`: steps of the longest training rollout, for `halt="horizon"`.

    **Returns:** a row per seed, family, number of nodes, metric and hop distance, with the columns

    - `row`: `network`; `masked`, the same networks with keys that change only in reached nodes
        (parallel algorithms, teacher forcing); or a reference: `algorithm`, `random_neighbour`,
        `lightest_edge`.
    - `seed`: of the network; missing for references.
    - `family`, `num_nodes`, `metric`.
    - `hop`: distance from the source of the nodes that count (20 for 20 and more); missing where
        all nodes count.
    - `value`: the metric of each graph, averaged over graphs.
    - `num_graphs`: graphs that have such a value.
    """
    import pandas

    count = jax.tree.leaves(networks)[0].shape[0]
    if count != len(seeds):
        raise UserError(
            f"got weights of {count} networks and {len(seeds)} seeds ({shown(seeds)}); "
            "give one seed for each, and weights with an axis of seeds in front"
        )
    datasets = list(datasets.values() if isinstance(datasets, Mapping) else datasets)
    if not datasets:
        raise UserError("no datasets to evaluate on; leave them out for the paper's test graphs")
    total, done, rows = sum(map(len, datasets)), 0, []
    for dataset in datasets:
        batch = EvaluationBatch.prepare(
            networks, list(seeds), experiment, dataset.graphs, None, halt, horizon
        )
        chunks = []
        for index, new in batch.chunks():
            # The last graphs of a chunk may only fill up its shape.
            measured = batch.measure(index)
            chunks.append(
                [(label, jax.tree.map(lambda a, new=new: a[:, :new], m)) for label, m in measured]
            )
            done += new
            progress(done, total)
        for parts in zip(*chunks, strict=True):
            labels = parts[0][0]
            metrics = jax.tree.map(lambda *a: np.concatenate(a, axis=1), *[m for _, m in parts])
            rows += _rows(labels, dataset, metrics)
    return pandas.DataFrame(rows, columns=list(COLUMNS)).astype(COLUMNS)


def _rows(labels: list[Label], dataset: Dataset, metrics: Metrics) -> Iterator[tuple]:
    for family in dataset.families:
        members = dataset.family == family
        place = (family, dataset.num_nodes)
        for metric in sorted(metrics.graphs, key=METRICS.index):
            values = metrics.graphs[metric][:, members]
            yield from _averages(labels, (*place, metric, None), values)
        for metric in sorted(metrics.hops, key=METRICS.index):
            for hop, values in enumerate(np.moveaxis(metrics.hops[metric][:, members], -1, 0)):
                yield from _averages(labels, (*place, metric, hop), values)


def _averages(labels: list[Label], what: tuple, values) -> Iterator[tuple]:
    """One row per label: the mean over the graphs that have a value."""
    for label, of_label in zip(labels, values, strict=True):
        there = of_label[~np.isnan(of_label)]
        if len(there):
            yield (*label, *what, float(np.mean(there)), len(there))
