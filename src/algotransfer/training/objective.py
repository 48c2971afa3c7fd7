"""From a batch of graphs to one number: rollouts, trajectories, and the choice among them."""

from __future__ import annotations

import functools
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float, PRNGKeyArray

from algotransfer.algorithms import Algorithm
from algotransfer.devices import has_tf32
from algotransfer.networks.executor import Executor
from algotransfer.networks.layouts import Dense, Layout, Sparse
from algotransfer.training.supervision import Losses, Supervision
from algotransfer.training.training_rollouts import training_latents, training_layout
from algotransfer.training.truth import Truth

# Of products that only choose among trajectories, where a GPU has it: as fast as rounding to tf32,
# and near enough to float32 that the same trajectory is chosen.
CHOOSING = "BF16_BF16_F32_X3"


class Task(NamedTuple):
    """An algorithm and how it is supervised; tasks are told apart by position, not by name."""

    algorithm: Algorithm
    supervision: Supervision

    @property
    def samples(self) -> bool:
        """Whether training samples trajectories of it."""
        return self.supervision.samples and self.algorithm.sequential


class Examples(eqx.Module):
    """Graphs and the truth about every task on them, with the batch in front of every array."""

    layouts: Dense | Sparse
    truths: tuple[Truth, ...]

    def __len__(self) -> int:
        return self.truths[0].length.shape[0]

    def __getitem__(self, index) -> Examples:
        return jax.tree.map(lambda leaf: leaf[index], self)

    @property
    def num_steps(self) -> int:
        """Length of the scans."""
        return self.truths[0].key.shape[-2] - 1


def draw_noise(
    tasks: tuple[Task, ...], examples: Examples, trajectories: int, key: PRNGKeyArray
) -> Float[Array, "batch k steps n"] | None:
    """What decides the sampled trajectories of every graph; None if the target samples none."""
    if not tasks[-1].samples:
        return None
    shape = (len(examples), trajectories, examples.num_steps, examples.layouts.num_nodes)
    return jax.random.gumbel(key, shape)


def objective(
    network: Executor,
    tasks: tuple[Task, ...],
    examples: Examples,
    noise: Float[Array, "batch k steps n"] | None,
    select: str,
) -> tuple[Float[Array, " batch"], tuple[dict[str, Float[Array, " batch"]], ...]]:
    """The loss of every graph of a batch, in all and by task and name.

    **Arguments:**

    - `tasks`: what is trained together; the target is the last one.
    - `noise`: as `draw_noise` gives it.
    """

    def one(layout, truths, noise):
        layout = training_layout(network, layout)
        losses = _graph_losses(network, tasks, layout, truths, noise, select)
        return sum(map(_total, losses), jnp.float32(0)), losses

    return jax.vmap(one)(examples.layouts, examples.truths, noise)


def _graph_losses(network, tasks, layout, truths, noise, select) -> tuple[Losses, ...]:
    if noise is None:
        return _trajectory_losses(network, tasks, layout, truths, None)

    if select == "best" and network.independent:
        # Only the best trajectory is back-propagated, so the others need no backward pass: find it
        # first, then run it once more.
        alone = lax.stop_gradient(network.for_task(len(tasks) - 1))

        def target_loss(noise):
            (losses,) = _trajectory_losses(
                alone, tasks[-1:], layout, truths[-1:], noise, learning=False
            )
            return _total(losses)

        with jax.default_matmul_precision(CHOOSING if has_tf32() else "float32"):
            best = _argmin(jax.vmap(target_loss)(noise))
        return _trajectory_losses(network, tasks, layout, truths, noise[best])

    *base, target = jax.vmap(lambda n: _trajectory_losses(network, tasks, layout, truths, n))(noise)
    average = [{name: jnp.mean(loss) for name, loss in task.items()} for task in base]
    if select == "mean":
        return (*average, {name: jnp.mean(loss) for name, loss in target.items()})
    best = _argmin(lax.stop_gradient(_total(target)))
    return (*average, {name: loss[best] for name, loss in target.items()})


def _trajectory_losses(
    network, tasks, layout: Layout, truths, noise, *, learning: bool = True
) -> tuple[Losses, ...]:
    drivers = tuple(
        task.supervision.driver(task.algorithm.sequential, truth, noise if task.samples else None)
        for task, truth in zip(tasks, truths, strict=True)
    )
    num_steps = truths[0].key.shape[0] - 1
    latents = training_latents(network, layout, drivers, num_steps, learning=learning)
    return tuple(
        task.supervision.losses(network, k, layout, truths[k], latents[k])
        for k, task in enumerate(tasks)
    )


def _total(losses: dict[str, Array]) -> Array:
    return functools.reduce(jnp.add, losses.values())


def _argmin(losses: Float[Array, " trajectories"]):
    return jnp.argmin(jnp.where(jnp.isnan(losses), jnp.inf, losses))
