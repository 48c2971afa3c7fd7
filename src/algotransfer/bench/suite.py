"""The parts of `algotransfer bench`: each yields its rows, one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from algotransfer.bench.data import measure_data
from algotransfer.bench.execution_speed import measure_execution
from algotransfer.bench.large import random_graph
from algotransfer.bench.layouts import measure_layouts
from algotransfer.bench.rows import Row
from algotransfer.bench.training import measure_training
from algotransfer.datasets import make_splits
from algotransfer.experiment import Experiment
from algotransfer.graphs import sample_graphs

EVALUATED = {20: 64, 100: 16, 1_000: 2, 10_000: 1}  # graphs of each size that run together
STEPS = 16  # of an execution whose time per step is measured
DATA_NODES = 400_000  # nodes of all graphs of a call
GROWING = (20, 100, 1_000, 10_000, 100_000)  # nodes, with ten times as many edges


@dataclass(frozen=True)
class Settings:
    """What the parts are asked to measure."""

    models: tuple[str, ...]
    supervisions: tuple[str, ...]
    target: str
    seeds: tuple[int, ...]
    data: str
    precision: str
    repeats: int
    largest: int  # nodes of the largest graph
    steps: int  # of the execution on it


def train(settings: Settings) -> Iterator[Row]:
    """Whole epochs, by number of seeds, network and supervision."""
    splits = make_splits(settings.data)
    for seeds in settings.seeds:
        for model in settings.models:
            for supervision in settings.supervisions:
                experiment = Experiment(
                    model=model,
                    target=settings.target,
                    supervision=supervision,  # type: ignore[arg-type]
                    precision=settings.precision,  # type: ignore[arg-type]
                )
                yield measure_training(
                    experiment, seeds, splits.train, splits.validation, settings.repeats
                )


def evaluate(settings: Settings) -> Iterator[Row]:
    """Free-running steps with all heads, by number of nodes."""
    for num_nodes, count in EVALUATED.items():
        if num_nodes <= settings.largest:
            graphs = sample_graphs("er", count, num_nodes)
            for model in settings.models:
                experiment = Experiment(model=model, target="dijkstra", supervision="tf")
                yield measure_execution(
                    experiment, graphs, part="evaluate", steps=STEPS, repeats=settings.repeats
                )


def data(settings: Settings) -> Iterator[Row]:
    """Sampled graphs with their traces."""
    for num_nodes in (20, 100):
        for algorithm in ("dijkstra", "bellman_ford"):
            count = DATA_NODES // num_nodes
            yield measure_data(algorithm, count, num_nodes, settings.repeats)


def large(settings: Settings) -> Iterator[Row]:
    """Steps on ever larger sparse graphs, then a long execution on the largest."""
    experiment = Experiment(model="ne", target="dijkstra", supervision="na")
    for num_nodes in GROWING:
        if num_nodes <= settings.largest:
            graph = random_graph(num_nodes, _edges(num_nodes))
            yield measure_execution(
                experiment,
                graph,
                part="large",
                steps=STEPS,
                repeats=settings.repeats,
                layout="sparse",
            )
    graph = random_graph(settings.largest, _edges(settings.largest))
    yield measure_execution(experiment, graph, part="whole", steps=settings.steps, repeats=1)


def _edges(num_nodes: int) -> int:
    return min(10 * num_nodes, num_nodes * (num_nodes - 1) // 4)  # at most half of all pairs


def layouts(settings: Settings) -> Iterator[Row]:
    """Dense beside sparse."""
    for model in settings.models:
        yield from measure_layouts(model, (16, 32, 64, 128, 256, 512), settings.repeats)


PARTS: dict[str, Callable[[Settings], Iterator[Row]]] = {
    "train": train,
    "evaluate": evaluate,
    "data": data,
    "large": large,
    "layouts": layouts,
}
