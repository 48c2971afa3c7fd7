"""Free-running execution: what a step costs on graphs of any size, in either layout."""

from __future__ import annotations

import time
from typing import Any

import jax
import jax.numpy as jnp

from algotransfer.bench.minimum import Shape, execution_step
from algotransfer.bench.rows import Row, median_seconds
from algotransfer.devices import peak_memory
from algotransfer.evaluation.harness import LayoutName, run_free
from algotransfer.experiment import Experiment
from algotransfer.graphs.graph import Graph
from algotransfer.networks.executor import num_features
from algotransfer.networks.rollout import Driver, State
from algotransfer.training.examples import network_of, tasks_of

ON_CHIP = 2**20  # bytes of hidden states beyond which they are counted as read from memory


def measure_execution(
    experiment: Experiment,
    graphs: Graph,
    *,
    part: str,
    steps: int,
    repeats: int = 3,
    layout: LayoutName | None = None,
) -> Row:
    """Runs a fresh network on a batch of graphs, all heads at every step; weights cost no time.

    **Arguments:**

    - `layout`: the one that is chosen for such graphs if not given.
    """
    (*_, task) = tasks_of(experiment)

    def drive(source):
        key = jnp.where(jnp.arange(graphs.num_nodes) == source, 0.0, 2.0)
        start = State(key, jnp.zeros_like(key))
        return Driver(start, jnp.int32(steps), carry_all=task.supervision.carry_all)

    driver = jax.vmap(drive)(jnp.asarray(graphs.source))
    network = network_of(experiment, jax.random.key(0))
    networks = jax.tree.map(lambda leaf: leaf[None], network)
    arguments = (networks, jax.tree.map(jnp.asarray, graphs), (driver,))
    began = time.perf_counter()
    program = run_free.lower(*arguments, num_steps=steps, layout=layout).compile()
    compiled = time.perf_counter() - began
    analysis: Any = program.memory_analysis()

    def run() -> None:
        jax.block_until_ready(program(*arguments))

    run()
    seconds = median_seconds(run, repeats)
    edges = int(graphs.num_edges().sum())
    nodes, hidden = graphs.num_nodes, experiment.width
    features = num_features(task.algorithm)
    shape = Shape(nodes, 2 * edges / len(graphs) + nodes, hidden, features, outputs=features)
    work = execution_step(experiment.model, shape, nodes * hidden * 4 > ON_CHIP)
    return Row.of(
        None if work is None else work * len(graphs),
        part=part,
        what=f"{experiment.name}, {len(graphs)} × {nodes:,} nodes, {edges:,} edges",
        graphs_per_second=len(graphs) * steps / nodes / seconds,
        milliseconds_per_step=1000 * seconds / steps,
        compile_seconds=compiled,
        memory_bytes=int(analysis.temp_size_in_bytes + analysis.argument_size_in_bytes),
        peak_bytes=peak_memory(),
    )
