"""Speed of data generation: graphs with traces per second, sampling included."""

import time

import jax

from algotransfer.algorithms import run
from algotransfer.bench.measurement import Measurement
from algotransfer.devices import peak_memory
from algotransfer.graphs import sample_graphs


def measure_data(algorithm: str, num_graphs: int, num_nodes: int, repeats: int = 3) -> Measurement:
    """Measure the sampling of Erdős–Rényi graphs and the traces on them; a step is one call."""

    def work(seed: int):
        return jax.block_until_ready(
            run(algorithm, sample_graphs("er", num_graphs, num_nodes, seed))
        )

    began = time.perf_counter()
    for seed in range(repeats):  # seeds may give different shapes, each of which compiles once
        work(seed)
    first = time.perf_counter() - began
    began = time.perf_counter()
    for seed in range(repeats):
        work(seed)
    seconds = time.perf_counter() - began
    return Measurement(
        part="data",
        what=f"{algorithm}, {num_graphs:,} × {num_nodes} nodes",
        graphs_per_second=repeats * num_graphs / seconds,
        milliseconds_per_step=1000 * seconds / repeats,
        compile_seconds=max(0.0, first - seconds),
        memory_bytes=0,
        peak_bytes=peak_memory(),
    )
