"""Speed of free-running execution, on graphs of any size and in either layout."""

import dataclasses
import time
from typing import Any

import jax

from algotransfer.bench.measurement import Measurement, median_seconds
from algotransfer.bench.minimum_work import GraphShape, execution_step
from algotransfer.evaluation.harness import FreeRun
from algotransfer.experiment import Experiment
from algotransfer.graphs.graph import Graph
from algotransfer.networks.layouts import LayoutName
from algotransfer.training.examples import network_of, tasks_of

ON_CHIP_BYTES = 2**20  # larger hidden states are counted as read from memory


def measure_execution(
    experiment: Experiment,
    graphs: Graph,
    *,
    part: str,
    steps: int,
    repeats: int,
    layout: LayoutName | None = None,
) -> Measurement:
    """Measure an untrained network on a batch of graphs, with all heads at every step."""
    (*_, task) = tasks_of(experiment)

    network = network_of(experiment, jax.random.key(0))
    networks = jax.tree.map(lambda leaf: leaf[None], network)
    free_run = FreeRun.untold(networks, (task,), [2.0], steps, len(graphs))
    free_run = dataclasses.replace(free_run, layout=layout)
    began = time.perf_counter()
    program, arguments = free_run.compile(graphs, "steps")
    compiled = time.perf_counter() - began
    analysis: Any = program.memory_analysis()

    def run() -> None:
        jax.block_until_ready(program(*arguments))

    run()
    seconds = median_seconds(run, repeats)
    edges = int(graphs.num_edges().sum())
    nodes, hidden = graphs.num_nodes, experiment.width
    features = task.algorithm.framework.num_features
    shape = GraphShape(nodes, 2 * edges / len(graphs) + nodes, hidden, features, outputs=features)
    work = execution_step(experiment.model, shape, nodes * hidden * 4 > ON_CHIP_BYTES)
    return Measurement.of(
        None if work is None else work * len(graphs),
        part=part,
        what=f"{experiment.name}, {len(graphs)} × {nodes:,} nodes, {edges:,} edges",
        graphs_per_second=len(graphs) * steps / nodes / seconds,
        milliseconds_per_step=1000 * seconds / steps,
        compile_seconds=compiled,
        memory_bytes=int(analysis.temp_size_in_bytes + analysis.argument_size_in_bytes),
    )
