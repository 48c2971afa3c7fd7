"""Compare one NE step on a large sparse graph with a max-MPNN in PyTorch Geometric, on the CPU.

    python benchmarks/step_peer.py

The random graph has 100,000 nodes and 1,000,000 entries in its edge list (both directions of every
edge; our layout adds a self-loop per node, PyG has none), hidden width 32. Measured are the forward
pass, and the forward pass with the gradient of every weight and of the hidden state.
"""

from __future__ import annotations

import argparse
import contextlib
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from peers.environments import Peer, how_to_make, python_of
from side_by_side import RESULTS, median_seconds, show, timed, write

from algotransfer.algorithms import get_algorithm
from algotransfer.bench.data_speed import random_graph
from algotransfer.graphs.graph import Graph
from algotransfer.networks import NE, make_layouts

PASSES = {"forward": False, "forward and backward": True}
STEPS_PER_TURN = 5


def our_step(graph: Graph, hidden: int) -> dict[str, Callable[[], object]]:
    """Return compiled NE steps on the sparse layout, with and without gradient."""
    key = jax.random.key(0)
    network = NE.create((get_algorithm("dijkstra"),), hidden, key)
    layout = jax.tree.map(lambda leaf: leaf[0], make_layouts(graph, network.kinds, "sparse"))
    features = (jax.random.normal(key, (graph.num_nodes, 2)),)
    start = jax.random.normal(key, (graph.num_nodes, hidden))
    memory = jax.tree.map(lambda _: start, network.start(layout))

    @jax.jit
    def forward(network, memory, features, layout):
        after, _ = network.process(features, memory, layout)
        return after.hidden

    @jax.jit
    def backward(network, memory, features, layout):
        def loss(network, memory):
            return jnp.mean(jnp.square(forward(network, memory, features, layout)))

        return jax.grad(loss, (0, 1))(network, memory)

    arguments = (network, memory, features, layout)
    return {
        name: lambda run=run: jax.block_until_ready(run(*arguments))
        for name, run in zip(PASSES, (forward, backward), strict=True)
    }


def measure(nodes: int, edges: int, hidden: int, repeats: int) -> tuple[list[dict], str]:
    """Return a row per pass, and a note if PyTorch Geometric is missing."""
    graph = random_graph(nodes, edges // 2)
    ours = our_step(graph, hidden)
    for run in ours.values():
        run()  # compiles
    note = "" if python_of("pyg") else f"Without PyTorch Geometric: {how_to_make('pyg')}"
    rows = []
    with contextlib.ExitStack() as stack:
        peer = None
        if not note:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            edge_index = np.stack([graph.senders[0], graph.receivers[0]])
            np.savez(folder / "g.npz", edge_index=edge_index, edge_weight=graph.weights[0])
            peer = stack.enter_context(
                Peer("pyg", "pyg_step.py", f"{folder / 'g.npz'}", f"{hidden}")
            )
        for name, backward in PASSES.items():
            contestants: dict[str, Callable[[], float]] = {
                "algotransfer": partial(_mean, partial(timed, ours[name]))
            }
            if peer is not None:
                contestants["PyTorch Geometric"] = partial(_mean, partial(_ask, peer, backward))
                _ask(peer, backward)  # warms up
            seconds = median_seconds(contestants, repeats)
            rows.append({"nodes": nodes, "edges": edges, "pass": name, "seconds": seconds})
    return rows, note


def _mean(seconds: Callable[[], float]) -> float:
    return sum(seconds() for _ in range(STEPS_PER_TURN)) / STEPS_PER_TURN


def _ask(peer: Peer, backward: bool) -> float:
    return peer.ask(backward=backward)["seconds"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--edges", type=int, default=1_000_000, help="both directions counted")
    parser.add_argument("--hidden", type=int, default=32)
    parser.add_argument(
        "--repeats", type=int, default=7, help="repeats, of which the median is reported"
    )
    parser.add_argument("--out", type=Path, default=RESULTS / "step_peer.json")
    options = parser.parse_args()
    rows, note = measure(options.nodes, options.edges, options.hidden, options.repeats)
    show("One step on a large sparse graph", rows, "algotransfer", note)
    write(options.out, rows, packages=("jax",))


if __name__ == "__main__":
    main()
