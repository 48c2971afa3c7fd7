"""Free-running execution: all seeds of a network on many graphs, in one compiled program.

The program is given networks, graphs and `Driver`s, and nothing else: what a driver carries of
the truth (the initial state with its stand-in for ∞, and a number of steps) is all it can read.
"""

from __future__ import annotations

from functools import partial
from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from algotransfer.devices import default_platform
from algotransfer.graphs.graph import Graph
from algotransfer.networks import layouts
from algotransfer.networks.executor import Executor
from algotransfer.networks.heads import Latent
from algotransfer.networks.layouts import Layout, make_layouts
from algotransfer.networks.rollout import Driver, rollout
from algotransfer.training.objective import Task
from algotransfer.training.truth import Truth

# Bytes that the graphs of one chunk may take, by backend: on a CPU about what a small machine can
# spare, elsewhere what keeps a device busy.
CHUNK_BYTES = {"cpu": 2**28}
CHUNK_BYTES_ELSEWHERE = 2**32


# Nodes up to which the dense layout is the faster one where nothing is differentiated, by backend.
# `algotransfer bench --part layouts` on two cores: up to 32 nodes both take about the same time,
# at 512 nodes NE is 2.9 times and NE++ 7.6 times as fast on lists.
DENSE_EXECUTION_MAX_NODES = {"cpu": 0}

LayoutName = Literal["dense", "sparse"]


class Execution(eqx.Module):
    """What was done step by step, with any batch in front; None where there is no such output.

    Values of a step are those after it: the keys held, every node's best-scored predecessor, the
    node chosen (sequential), and the logit with which the network says that this was the last
    step. With one step only, that one stands for all (`at_end`, or an answer without steps).
    """

    key: Float[Array, "*steps n"] | None = None
    pointer: Int[Array, "*steps n"] | None = None
    chosen: Int[Array, "*steps"] | None = None
    stop: Float[Array, "*steps"] | None = None


def make_free_drivers(
    tasks: tuple[Task, ...], truths: tuple[Truth, ...], steps: tuple[Int[Array, " graphs"], ...]
) -> tuple[Driver, ...]:
    """Drivers of a batch of graphs for tasks that all run free.

    **Arguments:**

    - `truths`: read for their initial states alone.
    - `steps`: how many steps each task runs on each graph.
    """
    return tuple(
        jax.vmap(task.supervision.free)(truth, count)
        for task, truth, count in zip(tasks, truths, steps, strict=True)
    )


@partial(jax.jit, static_argnames=("num_steps", "at_end", "layout"))
def run_free(
    networks: Executor,
    graphs: Graph,
    drivers: tuple[Driver, ...],
    num_steps: int,
    at_end: bool = False,
    layout: LayoutName | None = None,
) -> Execution:
    """Runs networks on graphs and tells what the last of their algorithms, the target, did.

    **Arguments:**

    - `networks`: a network whose weights have an axis of seeds in front.
    - `graphs`: a batch.
    - `drivers`: one per algorithm of the network, with the batch in front.
    - `num_steps`: length of the scan.
    - `at_end`: keep the target's last step alone.
    - `layout`: `dense` or `sparse`; the faster one if not given. They agree to float tolerance.

    **Returns:** the `Execution`, with axes of seeds and graphs in front.
    """
    # Keys may grow to 1e8 and more, where shorter products lose what tells neighbours apart.
    with jax.default_matmul_precision("float32"):
        views = make_layouts(graphs, networks.kinds, layout or faster_layout(graphs.num_nodes))
        one = partial(_execute_one, num_steps=num_steps, at_end=at_end)
        on_graphs = jax.vmap(one, in_axes=(None, 0, 0, 0))
        return jax.vmap(on_graphs, in_axes=(0, None, None, None))(
            networks, views, jnp.asarray(graphs.source), drivers
        )


def _execute_one(
    network: Executor,
    layout: Layout,
    source: Int[Array, ""],
    drivers: tuple[Driver, ...],
    num_steps: int,
    at_end: bool,
) -> Execution:
    target = len(drivers) - 1
    sequential = network.algorithms[target].sequential

    def emit(before, latents, after):
        now, then, latent = before[target], after[target], latents[target]
        allowed = None
        if sequential and not drivers[target].carry_all:
            # Reached as far as the network itself has come: visited nodes and their neighbours.
            is_source = jnp.arange(layout.num_nodes) == source
            allowed = layout.reach(now.visited > 0.5) | is_source
        return Execution(
            key=then.key,
            pointer=best_predecessors(network, target, latent, layout, allowed),
            chosen=jnp.argmax(then.visited - now.visited) if sequential else None,
            stop=network.terminate(target, latent, layout),
        )

    if not at_end:
        return rollout(network, layout, drivers, num_steps, emit).emitted
    outcome = rollout(network, layout, drivers, num_steps)
    state, latent = outcome.states[target], outcome.latents[target]
    assert state is not None
    assert latent is not None
    pointer = best_predecessors(network, target, latent, layout)
    return Execution(key=state.key[None], pointer=pointer[None])


def best_predecessors(
    network: Executor,
    task: int,
    latent: Latent,
    layout: Layout,
    allowed: Bool[Array, " n"] | None = None,
) -> Int[Array, " n"]:
    """The best-scored predecessor of every node, a neighbour or itself even where scores overflow.

    **Arguments:**

    - `allowed`: nodes that may be predecessors, beside the node itself; all if not given.
    """
    scores = network.scores(task, latent, layout)
    return layout.argmax(jnp.nan_to_num(scores, nan=jnp.finfo(scores.dtype).min), allowed)


def faster_layout(num_nodes: int) -> LayoutName:
    """The layout in which graphs of that size are executed faster."""
    limit = DENSE_EXECUTION_MAX_NODES.get(default_platform(), layouts.DENSE_TRAINING_MAX_NODES)
    return "dense" if num_nodes <= limit else "sparse"


def graphs_at_once(
    networks: Executor, graphs: Graph, num_steps: int, layout: LayoutName | None = None
) -> int:
    """How many graphs of a batch fit into one chunk, by an estimate of the memory they take.

    **Arguments:**

    - `num_steps`: steps of which outputs (and the truth to compare them with) are kept.
    """
    weights = jax.tree.leaves(networks.processors)[0]  # [seeds, …, width]
    num_seeds, hidden, nodes = weights.shape[0], weights.shape[-1], graphs.num_nodes
    dense = (layout or faster_layout(nodes)) == "dense"
    edges = nodes**2 if dense else graphs.senders.shape[-1] + nodes
    activations = 4 * edges * 8 * hidden  # NE++'s two layers on edges are the widest
    outputs = num_steps * nodes * (16 * num_seeds + 32)
    budget = CHUNK_BYTES.get(default_platform(), CHUNK_BYTES_ELSEWHERE)
    return max(1, min(len(graphs), budget // (num_seeds * activations + outputs)))
