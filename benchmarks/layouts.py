"""Compare the speed of the dense and the sparse layout, the basis of `DENSE_MAX_NODES`.

python benchmarks/layouts.py --repeats 1 --out results/bench-layouts-h200.json
"""

import argparse
import dataclasses
import time
from collections.abc import Iterator
from pathlib import Path

import jax
import jax.numpy as jnp

from algotransfer.algorithms import get_algorithm
from algotransfer.bench.execution_speed import measure_execution
from algotransfer.bench.measurement import Measurement, median_seconds
from algotransfer.experiment import Experiment
from algotransfer.graphs import Graph, sample_graphs
from algotransfer.networks import MODELS, make_layouts
from algotransfer.networks.layouts import LayoutName
from algotransfer.training.runs import environment, write_json

LAYOUT_NAMES: tuple[LayoutName, ...] = ("dense", "sparse")
NODES_PER_BATCH = 2560
SIZES = (16, 32, 64, 128, 256, 512)  # nodes
STEPS_TIMED = 8


def measure_layouts(model: str, sizes: tuple[int, ...], repeats: int) -> Iterator[Measurement]:
    """Measure steps with their gradient and steps of an execution, for every size and layout."""
    experiment = Experiment(model=model, target="dijkstra", supervision="tf")
    for num_nodes in sizes:
        graphs = sample_graphs("ba", max(1, NODES_PER_BATCH // num_nodes), num_nodes)
        for layout in LAYOUT_NAMES:
            yield _measure_gradient(model, graphs, layout, repeats)
            row = measure_execution(
                experiment,
                graphs,
                part="layouts",
                steps=STEPS_TIMED,
                repeats=repeats,
                layout=layout,
            )
            yield dataclasses.replace(row, what=f"execution, {model}, {layout}, {num_nodes} nodes")


def _measure_gradient(model: str, graphs: Graph, layout: LayoutName, repeats: int) -> Measurement:
    network = MODELS[model].create((get_algorithm("dijkstra"),), 32, jax.random.key(0))
    views = make_layouts(graphs, network.kinds, layout)
    features = (jax.random.normal(jax.random.key(1), (len(graphs), graphs.num_nodes, 2)),)

    @jax.jit
    def run(network, views, features):
        def loss(network):
            def one(layout, features):
                def step(memory, _):
                    memory, _ = network.process(features, memory, layout)
                    return memory, None

                memory, _ = jax.lax.scan(step, network.start(layout), length=STEPS_TIMED)
                return sum(jnp.mean(leaf**2) for leaf in jax.tree.leaves(memory))

            return jnp.mean(jax.vmap(one)(views, features))

        return jax.grad(loss)(network)

    began = time.perf_counter()
    jax.block_until_ready(run(network, views, features))
    first = time.perf_counter() - began
    seconds = median_seconds(lambda: jax.block_until_ready(run(network, views, features)), repeats)
    return Measurement(
        part="layouts",
        what=f"gradient, {model}, {layout}, {graphs.num_nodes} nodes",
        graphs_per_second=len(graphs) * STEPS_TIMED / graphs.num_nodes / seconds,
        milliseconds_per_step=1000 * seconds / STEPS_TIMED,
        compile_seconds=first - seconds,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", nargs="+", default=["ne", "ne++"])
    parser.add_argument("--repeats", type=int, default=3, help="the median is reported")
    parser.add_argument("--out", type=Path, help="file for the numbers (.json)")
    arguments = parser.parse_args()
    rows = []
    for model in arguments.model:
        for row in measure_layouts(model, SIZES, arguments.repeats):
            print(f"{row.what}: {row.milliseconds_per_step:.2f} ms per step")
            rows.append(dataclasses.asdict(row))
    if arguments.out is not None:
        write_json(arguments.out, {"rows": rows, **environment()})


if __name__ == "__main__":
    main()
