"""The parts of `algotransfer bench`; each yields its measurements."""

from collections.abc import Iterator
from itertools import product

from algotransfer.bench.data_speed import measure_data, random_graph
from algotransfer.bench.execution_speed import measure_execution
from algotransfer.bench.measurement import Measurement
from algotransfer.bench.training_speed import measure_training
from algotransfer.datasets import PRESETS, make_splits
from algotransfer.experiment import Experiment
from algotransfer.graphs import sample_graphs

EVALUATION_BATCH = {20: 64, 100: 16, 1_000: 2, 10_000: 1}  # graphs by number of nodes
EXECUTION_STEPS = 16
DATA_NODES = 400_000  # in all graphs of a call
LARGE_SIZES = (20, 100, 1_000, 10_000, 100_000)  # nodes; ten times as many edges


def train(
    models: tuple[str, ...],
    supervisions: tuple[str, ...],
    seeds: tuple[int, ...],
    preset: str,
    repeats: int,
) -> Iterator[Measurement]:
    """Measure whole epochs by number of seeds, network and supervision."""
    splits = make_splits(preset, task=PRESETS[preset].default_task("dijkstra"))
    for count, model, supervision in product(seeds, models, supervisions):
        experiment = Experiment(model=model, target="dijkstra", supervision=supervision)
        yield measure_training(experiment, count, splits.train, splits.validation, repeats)


def evaluate(models: tuple[str, ...], largest: int, repeats: int) -> Iterator[Measurement]:
    """Measure free-running steps with all heads, by number of nodes."""
    for num_nodes, count in EVALUATION_BATCH.items():
        if num_nodes <= largest:
            graphs = sample_graphs("er", count, num_nodes)
            for model in models:
                experiment = Experiment(model=model, target="dijkstra", supervision="tf")
                options = {"part": "evaluate", "steps": EXECUTION_STEPS, "repeats": repeats}
                yield measure_execution(experiment, graphs, **options)


def data(repeats: int) -> Iterator[Measurement]:
    """Measure the sampling of graphs with traces."""
    for num_nodes, algorithm in product((20, 100), ("dijkstra", "bellman_ford")):
        yield measure_data(algorithm, DATA_NODES // num_nodes, num_nodes, repeats)


def large(largest: int, steps: int, repeats: int) -> Iterator[Measurement]:
    """Measure steps on sparse graphs of growing size, then a long execution on the largest."""
    experiment = Experiment(model="ne", target="dijkstra", supervision="na")
    for num_nodes in LARGE_SIZES:
        if num_nodes <= largest:
            graph = random_graph(num_nodes, _edges(num_nodes))
            options = {"part": "large", "steps": EXECUTION_STEPS, "repeats": repeats}
            yield measure_execution(experiment, graph, layout="sparse", **options)
    graph = random_graph(largest, _edges(largest))
    yield measure_execution(experiment, graph, part="whole", steps=steps, repeats=1)


def _edges(num_nodes: int) -> int:
    return min(10 * num_nodes, num_nodes * (num_nodes - 1) // 4)  # at most half of all pairs
