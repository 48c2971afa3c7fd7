"""The free-running harness: run networks on graphs and record the last step or all of them.

`evaluate`, `execute` and `explore` all run networks through `FreeRun`. The compiled program is
given networks, graphs, and two numbers per graph and task: the stand-in for ∞ and the number of
steps. It can read nothing else of the truth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Bool, Float, Int

from algotransfer.algorithms import Trace
from algotransfer.algorithms.truth import Infinity, stand_in_for
from algotransfer.devices import default_platform
from algotransfer.graphs.graph import Graph
from algotransfer.networks import Driver, Executor, Latent, Layout, make_layouts, rollout
from algotransfer.networks.layouts import LayoutName, faster_layout
from algotransfer.training.objective import Task

# Bytes that the graphs of one chunk may take: what a small machine can spare on a CPU, enough to
# keep another device busy.
CHUNK_BYTES = {"cpu": 2**28}
CHUNK_BYTES_ELSEWHERE = 2**32

Record = Literal["last", "steps", "all"]


class Execution(eqx.Module):
    """The outputs of a free-running execution, with any batch in front; None if not recorded.

    Values of a step are those after it. An execution with a single recorded step stands for its
    end.

    **Arguments:**

    - `key`: keys of all nodes.
    - `pointer`: every node's best-scored predecessor.
    - `chosen`: the node visited by the step (sequential).
    - `stop`: the termination logit.
    - `visited`, `reached`: nodes marked in the state, and these with their neighbours.
    - `probability`: with which each node could have been chosen (sequential).
    """

    key: Float[Array, "*steps n"] | None = None
    pointer: Int[Array, "*steps n"] | None = None
    chosen: Int[Array, "*steps"] | None = None
    stop: Float[Array, "*steps"] | None = None
    visited: Bool[Array, "*steps n"] | None = None
    reached: Bool[Array, "*steps n"] | None = None
    probability: Float[Array, "*steps n"] | None = None


@dataclass(frozen=True, eq=False)
class FreeRun:
    """Networks of several seeds, and what they are told about each graph of a batch.

    **Arguments:**

    - `networks`: a network whose weights have an axis of seeds in front.
    - `tasks`: its algorithms; the target is the last one.
    - `infinity`: for each task and graph the stand-in for ∞, in the units of the network.
    - `steps`: for each task and graph the number of steps.
    - `layout`: `dense` or `sparse`; None for the faster one. They agree to float tolerance.
    """

    networks: Executor
    tasks: tuple[Task, ...]
    infinity: tuple[Float[np.ndarray, " graphs"], ...]
    steps: tuple[Int[np.ndarray, " graphs"], ...]
    layout: LayoutName | None = None

    @classmethod
    def told(
        cls,
        networks: Executor,
        tasks: tuple[Task, ...],
        ends: Sequence[Trace],
        infinity: Infinity,
    ) -> FreeRun:
        """Tell the networks what the paper tells them: ∞'s stand-in and, in `na`, the steps.

        **Arguments:**

        - `ends`: each task's traces, read for their final keys and lengths alone.
        """
        nodes = ends[0].key.shape[-1]
        return cls(
            networks,
            tasks,
            tuple(
                np.asarray(stand_in_for(t.algorithm, end.final_key, infinity))
                / np.float32(t.algorithm.unit(nodes))
                for t, end in zip(tasks, ends, strict=True)
            ),
            tuple(
                np.asarray(end.length)
                if t.supervision.told_steps
                else np.full_like(end.length, nodes)
                for t, end in zip(tasks, ends, strict=True)
            ),
        )

    @classmethod
    def untold(
        cls,
        networks: Executor,
        tasks: tuple[Task, ...],
        infinity: Sequence[ArrayLike],
        steps: int,
        num_graphs: int = 1,
    ) -> FreeRun:
        """Tell the networks nothing of the answer.

        **Arguments:**

        - `infinity`: for each task the stand-in for ∞, one number or one per graph.
        - `steps`: one number for all tasks and graphs.
        """
        return cls(
            networks,
            tasks,
            tuple(np.full(num_graphs, each, np.float32) for each in infinity),
            tuple(np.full(num_graphs, steps, np.int32) for _ in tasks),
        )

    def with_steps(self, steps: int) -> FreeRun:
        """Run every task for the same number of steps on every graph."""
        return replace(self, steps=tuple(np.full_like(each, steps) for each in self.steps))

    @property
    def num_steps(self) -> int:
        """Length of the scan: the most steps of the target on any graph."""
        return int(np.max(self.steps[-1]))

    def run(self, graphs: Graph, index: Int[np.ndarray, " chunk"], record: Record) -> Execution:
        """Execute the graphs at `index` of a batch.

        **Arguments:**

        - `record`: `last` keeps the target's keys and pointers after its last step; `steps` those
            of every step, with choices and termination; `all` also visited nodes and
            probabilities.

        **Returns:** the target's `Execution`, with axes of seeds and graphs in front.
        """
        return _run(*self._arguments(graphs, index, record))

    def compile(self, graphs: Graph, record: Record) -> tuple[Any, tuple]:
        """Compile the execution of a whole batch; return the program and its arguments."""
        arguments = self._arguments(graphs, np.arange(len(graphs)), record)
        return _run.lower(*arguments).compile(), arguments[:4]

    def _arguments(self, graphs: Graph, index, record: Record) -> tuple:
        chosen = jax.tree.map(jnp.asarray, graphs[index])
        infinity, steps = (tuple(a[index] for a in each) for each in (self.infinity, self.steps))
        static = (self.tasks, self.num_steps, record, self.layout)
        return self.networks, chosen, infinity, steps, *static


def target_only(networks: Executor, tasks: tuple[Task, ...]) -> tuple[Executor, tuple[Task, ...]]:
    """Drop the other algorithms of a network where the target does not depend on them."""
    if not networks.independent:
        return networks, tasks
    return networks.for_task(len(tasks) - 1), tasks[-1:]


@partial(jax.jit, static_argnames=("tasks", "num_steps", "record", "layout"))
def _run(networks, graphs: Graph, infinity, steps, tasks, num_steps, record, layout) -> Execution:
    # Keys may grow to 1e8 and more, where shorter products lose the differences of neighbours.
    with jax.default_matmul_precision("float32"):
        views = make_layouts(graphs, networks.kinds, layout or faster_layout(graphs.num_nodes))
        one = partial(_run_one, tasks=tasks, num_steps=num_steps, record=record)
        on_graphs = jax.vmap(one, in_axes=(None, 0, 0, 0, 0))
        return jax.vmap(on_graphs, in_axes=(0, None, None, None, None))(
            networks, views, jnp.asarray(graphs.source), infinity, steps
        )


def _run_one(
    network: Executor,
    layout: Layout,
    source: Int[Array, ""],
    infinity: tuple[Float[Array, ""], ...],
    steps: tuple[Int[Array, ""], ...],
    tasks: tuple[Task, ...],
    num_steps: int,
    record: Record,
) -> Execution:
    drivers = tuple(
        task.supervision.free_driver(
            task.algorithm, task.algorithm.start(source, layout.num_nodes, constant), count
        )
        for task, constant, count in zip(tasks, infinity, steps, strict=True)
    )
    target = len(tasks) - 1
    if record == "last":
        return _last_step(network, layout, drivers, num_steps)
    framework, carry_all = tasks[-1].algorithm.framework, drivers[-1].carry_all

    def emit(before, latents, after):
        now, then, latent = before[target], after[target], latents[target]
        allowed = None if carry_all else framework.allowed_predecessors(layout, now, source)
        chosen, probability = framework.choice(now, then, network.decode(target, latent))
        return Execution(
            key=then.key,
            pointer=best_predecessors(network, target, latent, layout, allowed),
            chosen=chosen,
            stop=network.terminate(target, latent, layout),
            visited=then.visited > 0.5 if record == "all" else None,
            reached=layout.reach(then.visited > 0.5) if record == "all" else None,
            probability=probability if record == "all" else None,
        )

    return rollout(network, layout, drivers, num_steps, emit).emitted


def _last_step(network, layout, drivers: tuple[Driver, ...], num_steps: int) -> Execution:
    outcome = rollout(network, layout, drivers, num_steps)
    state, latent = outcome.states[-1], outcome.latents[-1]
    assert state is not None
    assert latent is not None
    pointer = best_predecessors(network, len(drivers) - 1, latent, layout)
    return Execution(key=state.key[None], pointer=pointer[None])


def best_predecessors(
    network: Executor,
    task: int,
    latent: Latent,
    layout: Layout,
    allowed: Bool[Array, " n"] | None = None,
) -> Int[Array, " n"]:
    """The best-scored allowed neighbour of every node, or the node itself, even at overflow."""
    scores = network.scores(task, latent, layout)
    return layout.argmax(jnp.nan_to_num(scores, nan=jnp.finfo(scores.dtype).min), allowed)


def graphs_per_chunk(
    networks: Executor, graphs: Graph, num_steps: int, layout: LayoutName | None = None
) -> int:
    """Estimate how many graphs fit into one chunk of memory, if `num_steps` outputs are kept."""
    weights = jax.tree.leaves(networks.processors)[0]  # [seeds, …, width]
    num_seeds, hidden, nodes = weights.shape[0], weights.shape[-1], graphs.num_nodes
    dense = (layout or faster_layout(nodes)) == "dense"
    edges = nodes**2 if dense else graphs.senders.shape[-1] + nodes
    activations = 4 * edges * 8 * hidden  # NE++'s two layers on edges are the widest
    outputs = num_steps * nodes * (16 * num_seeds + 32)
    budget = CHUNK_BYTES.get(default_platform(), CHUNK_BYTES_ELSEWHERE)
    return max(1, min(len(graphs), budget // (num_seeds * activations + outputs)))
