"""The parts of `algotransfer bench`; each yields its measurements."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from algotransfer.bench.data_speed import measure_data, random_graph
from algotransfer.bench.execution_speed import measure_execution
from algotransfer.bench.measurement import Measurement
from algotransfer.bench.training_speed import measure_training
from algotransfer.datasets import make_splits
from algotransfer.experiment import Experiment
from algotransfer.graphs import sample_graphs

EVALUATION_BATCH = {20: 64, 100: 16, 1_000: 2, 10_000: 1}  # graphs by number of nodes
EXECUTION_STEPS = 16
DATA_NODES = 400_000  # in all graphs of a call
LARGE_SIZES = (20, 100, 1_000, 10_000, 100_000)  # nodes; ten times as many edges


@dataclass(frozen=True)
class BenchSettings:
    """Options of `algotransfer bench`."""

    models: tuple[str, ...]
    supervisions: tuple[str, ...]
    target: str
    seeds: tuple[int, ...]
    data: str
    precision: str
    repeats: int
    largest: int  # nodes of the largest graph
    steps: int  # of the execution on it


def train(settings: BenchSettings) -> Iterator[Measurement]:
    """Measure whole epochs by number of seeds, network and supervision."""
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


def evaluate(settings: BenchSettings) -> Iterator[Measurement]:
    """Measure free-running steps with all heads, by number of nodes."""
    for num_nodes, count in EVALUATION_BATCH.items():
        if num_nodes <= settings.largest:
            graphs = sample_graphs("er", count, num_nodes)
            for model in settings.models:
                experiment = Experiment(model=model, target="dijkstra", supervision="tf")
                yield measure_execution(
                    experiment,
                    graphs,
                    part="evaluate",
                    steps=EXECUTION_STEPS,
                    repeats=settings.repeats,
                )


def data(settings: BenchSettings) -> Iterator[Measurement]:
    """Measure the sampling of graphs with traces."""
    for num_nodes in (20, 100):
        for algorithm in ("dijkstra", "bellman_ford"):
            count = DATA_NODES // num_nodes
            yield measure_data(algorithm, count, num_nodes, settings.repeats)


def large(settings: BenchSettings) -> Iterator[Measurement]:
    """Measure steps on sparse graphs of growing size, then a long execution on the largest."""
    experiment = Experiment(model="ne", target="dijkstra", supervision="na")
    for num_nodes in LARGE_SIZES:
        if num_nodes <= settings.largest:
            graph = random_graph(num_nodes, _edges(num_nodes))
            yield measure_execution(
                experiment,
                graph,
                part="large",
                steps=EXECUTION_STEPS,
                repeats=settings.repeats,
                layout="sparse",
            )
    graph = random_graph(settings.largest, _edges(settings.largest))
    yield measure_execution(experiment, graph, part="whole", steps=settings.steps, repeats=1)


def _edges(num_nodes: int) -> int:
    return min(10 * num_nodes, num_nodes * (num_nodes - 1) // 4)  # at most half of all pairs


BENCH_PARTS: dict[str, Callable[[BenchSettings], Iterator[Measurement]]] = {
    "train": train,
    "evaluate": evaluate,
    "data": data,
    "large": large,
}
