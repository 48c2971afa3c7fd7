"""The loss of a batch of graphs: rollouts, trajectories, and the choice among them."""

import functools
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float, PRNGKeyArray

from algotransfer.algorithms import Algorithm
from algotransfer.algorithms.truth import Truth
from algotransfer.devices import has_tf32
from algotransfer.errors import UserError
from algotransfer.networks import Dense, Executor, Layout, Sparse
from algotransfer.training.supervision import Losses, Supervision
from algotransfer.training.training_rollouts import (
    sampled_latents,
    training_latents,
    training_layout,
)

# Precision of the products that only choose among trajectories, outside the kernel for
# trajectories, on GPUs that have it: as fast as tf32, and nearly always the choice of float32.
SELECTION_PRECISION = "BF16_BF16_F32_X3"


class Task(NamedTuple):
    """An algorithm and its supervision; tasks are identified by position, not by name."""

    algorithm: Algorithm
    supervision: Supervision

    @property
    def samples(self) -> bool:
        """Whether training samples its trajectories."""
        return self.supervision.samples and self.algorithm.framework.samples


class Examples(eqx.Module):
    """Graphs and the truth of every task, with the batch in front of every array."""

    layouts: Dense | Sparse
    truths: tuple[Truth, ...]

    def __len__(self) -> int:
        return self.truths[0].length.shape[0]

    def __getitem__(self, index) -> "Examples":
        return jax.tree.map(lambda leaf: leaf[index], self)

    @property
    def num_steps(self) -> int:
        """Length of the scans."""
        return self.truths[0].key.shape[-2] - 1


def draw_noise(
    tasks: tuple[Task, ...], examples: Examples, trajectories: int, key: PRNGKeyArray
) -> Float[Array, "batch k steps n"] | None:
    """Draw the Gumbel noise of every graph's trajectories; None if the target samples none."""
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
    """Return the loss of every graph of a batch, in total and by task and name.

    The target is the last task; `noise` is that of `draw_noise`.
    """

    def one(layout, truths, noise):
        layout = training_layout(network, layout)
        return _graph_losses(network, tasks, layout, truths, noise, select)

    losses, embeddings = jax.vmap(one)(examples.layouts, examples.truths, noise)
    losses = tuple(
        _with_batch_losses(named, task.supervision.batch_losses(embedding, truth), len(examples))
        for task, named, embedding, truth in zip(
            tasks, losses, embeddings, examples.truths, strict=True
        )
    )
    return sum(map(_total, losses), jnp.float32(0)), losses


def _with_batch_losses(
    named: dict[str, Float[Array, " batch"]], between: Losses, num_graphs: int
) -> dict[str, Float[Array, " batch"]]:
    """Add the losses between graphs to those of each graph; every graph gets the same."""
    if both := sorted(named.keys() & between.keys()):
        raise UserError(
            f"losses and batch_losses of a supervision both return {', '.join(both)}; "
            "give the loss between graphs another name"
        )
    return named | {name: jnp.broadcast_to(loss, num_graphs) for name, loss in between.items()}


def _graph_losses(network, tasks, layout, truths, noise, select):
    """Losses and embeddings of one graph, by task."""
    if noise is None:
        return _trajectory_losses(network, tasks, layout, truths, None)

    if select == "best" and network.independent:
        # Only the best trajectory is back-propagated, so the others need no backward pass: find it
        # first, then run it once more.
        alone = lax.stop_gradient(network.for_task(len(tasks) - 1))
        with jax.default_matmul_precision(SELECTION_PRECISION if has_tf32() else "float32"):
            best = _argmin(_sampled_losses(alone, tasks[-1], layout, truths[-1], noise))
        return _trajectory_losses(network, tasks, layout, truths, noise[best])

    trajectories = jax.vmap(lambda n: _trajectory_losses(network, tasks, layout, truths, n))
    (*base, target), embeddings = trajectories(noise)
    average = [{name: jnp.mean(loss) for name, loss in task.items()} for task in base]
    best = _argmin(lax.stop_gradient(_total(target)))
    embeddings = jax.tree.map(lambda leaf: leaf[best], embeddings)
    if select == "mean":
        return (*average, {name: jnp.mean(loss) for name, loss in target.items()}), embeddings
    return (*average, {name: loss[best] for name, loss in target.items()}), embeddings


def _sampled_losses(network, task: Task, layout: Layout, truth: Truth, noise):
    """Return the total loss of every trajectory of one task, without gradient."""
    driver_of = functools.partial(task.supervision.driver, task.algorithm, truth)
    latents = sampled_latents(network, layout, driver_of, noise)
    losses = jax.vmap(lambda latent: task.supervision.losses(network, 0, layout, truth, latent))
    return _total(losses(latents))


def _trajectory_losses(network, tasks, layout: Layout, truths, noise):
    drivers = tuple(
        task.supervision.driver(task.algorithm, truth, noise if task.samples else None)
        for task, truth in zip(tasks, truths, strict=True)
    )
    num_steps = truths[0].key.shape[0] - 1
    latents = training_latents(network, layout, drivers, num_steps)
    seen = [(network, k, layout, truths[k], latents[k]) for k in range(len(tasks))]
    losses = tuple(t.supervision.losses(*each) for t, each in zip(tasks, seen, strict=True))
    embeddings = tuple(t.supervision.embedding(*each) for t, each in zip(tasks, seen, strict=True))
    return losses, embeddings


def _total(losses: dict[str, Array]) -> Array:
    return functools.reduce(jnp.add, losses.values())


def _argmin(losses: Float[Array, " trajectories"]):
    return jnp.argmin(jnp.where(jnp.isnan(losses), jnp.inf, losses))
