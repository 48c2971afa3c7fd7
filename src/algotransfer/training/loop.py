"""All seeds of an experiment trained by one compiled program, an epoch at a time.

Everything a seed's future depends on is its `SeedState`, a pytree of arrays; an epoch is a pure
function of it, so that seeds are a `vmap` and resuming is loading.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jax import lax
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, UInt32

from algotransfer.experiment import Experiment
from algotransfer.networks.executor import Executor
from algotransfer.training.objective import Examples, Task, draw_noise, objective

VALIDATION_CHUNK = 256  # validation graphs that run at once


class SeedState(eqx.Module):
    """One seed between two epochs."""

    network: Executor
    optimiser: optax.OptState
    best: Executor  # the weights of the best epoch, by value
    best_loss: Float[Array, ""]
    wait: Int[Array, ""]  # epochs since the best one
    epoch: Int[Array, ""]
    stopped: Bool[Array, ""]
    diverged: Bool[Array, ""]
    key: UInt32[Array, "2"]  # its stream of random numbers


@dataclass(frozen=True)
class Program:
    """What is compiled: an experiment's tasks, which weights learn, and how a batch is split."""

    experiment: Experiment
    tasks: tuple[Task, ...]
    mask: Executor  # True at every weight that learns
    pieces: int = 1  # parts of a batch that run one after the other, to save memory

    @property
    def optimiser(self) -> optax.GradientTransformation:
        """Clipped Adam."""
        return optax.chain(
            optax.clip_by_global_norm(self.experiment.clip_norm),
            optax.adam(self.experiment.learning_rate),
        )

    def start(self, network: Executor, key: PRNGKeyArray) -> SeedState:
        """A seed before its first epoch."""
        return SeedState(
            network=network,
            optimiser=self.optimiser.init(eqx.filter(network, self.mask)),
            best=network,
            best_loss=jnp.float32(jnp.inf),
            wait=jnp.int32(0),
            epoch=jnp.int32(0),
            stopped=jnp.bool_(False),
            diverged=jnp.bool_(False),
            key=jax.random.key_data(key),
        )

    def epoch(
        self, state: SeedState, training: Examples, validation: Examples
    ) -> tuple[SeedState, dict[str, Array]]:
        """One epoch of one seed: every batch once, then validation and the decision to stop."""
        key = jax.random.wrap_key_data(state.key)
        shuffle, noise, fixed = (jax.random.fold_in(key, k) for k in range(3))
        shuffle, noise = (jax.random.fold_in(key, state.epoch) for key in (shuffle, noise))
        size = self.experiment.batch_size
        num_batches = len(training) // size
        order = jax.random.permutation(shuffle, len(training))[: num_batches * size]

        def step(carry, now):
            network, optimiser = carry
            batch, key = now
            loss, parts, gradient = self._gradient(network, training[batch], key)
            learning = eqx.filter(network, self.mask)
            updates, optimiser = self.optimiser.update(gradient, optimiser, learning)
            return (eqx.apply_updates(network, updates), optimiser), (loss, parts)

        (network, optimiser), (losses, parts) = lax.scan(
            step,
            (state.network, state.optimiser),
            (order.reshape(num_batches, size), jax.random.split(noise, num_batches)),
        )
        train_loss = jnp.mean(losses)
        loss = self.validate(network, validation, fixed)

        # The first NaN or infinity ends a seed; its best weights so far remain.
        diverged = ~(jnp.isfinite(train_loss) & jnp.isfinite(loss))
        better = ~diverged & (loss < state.best_loss - self.experiment.tolerance)
        wait = jnp.where(better, 0, state.wait + 1)
        epoch = state.epoch + 1
        after = SeedState(
            network=network,
            optimiser=optimiser,
            best=jax.tree.map(partial(jnp.where, better), network, state.best),
            best_loss=jnp.where(better, loss, state.best_loss),
            wait=wait,
            epoch=epoch,
            stopped=diverged
            | (wait >= self.experiment.patience)
            | (epoch >= self.experiment.max_epochs),
            diverged=diverged,
            key=state.key,
        )
        report = {"train_loss": train_loss, "validation_loss": loss}
        for task, named in enumerate(parts):
            for name, values in named.items():
                report[f"train_{task}_{name}"] = jnp.mean(values)
        return jax.tree.map(partial(jnp.where, state.stopped), state, after), report

    def validate(self, network: Executor, examples: Examples, key: PRNGKeyArray):
        """The training loss on validation graphs, with the same noise in every epoch."""
        total = len(examples)
        chunks = -(-total // VALIDATION_CHUNK)
        size = -(-total // chunks)
        index = jnp.arange(chunks * size).reshape(chunks, size)

        def chunk(now):
            index, key = now
            graphs = examples[index % total]
            losses, _ = self._losses(network, graphs, self._noise(graphs, key))
            return jnp.sum(jnp.where(index < total, losses, 0.0))

        return jnp.sum(lax.map(chunk, (index, jax.random.split(key, chunks)))) / total

    def _noise(self, examples: Examples, key: PRNGKeyArray):
        return draw_noise(self.tasks, examples, self.experiment.trajectories, key)

    def _losses(self, network, examples: Examples, noise):
        return objective(network, self.tasks, examples, noise, self.experiment.select)

    def _gradient(self, network, batch: Examples, key):
        """Mean loss of a batch, its parts, and its gradient; piece by piece if asked to."""
        learning, frozen = eqx.partition(network, self.mask)
        noise = self._noise(batch, key)  # of the whole batch: pieces sample what it would sample

        def loss(learning, examples, noise):
            losses, parts = self._losses(eqx.combine(learning, frozen), examples, noise)
            return jnp.mean(losses), jax.tree.map(jnp.mean, parts)

        value_and_grad = jax.value_and_grad(loss, has_aux=True)
        if self.pieces == 1:
            (value, parts), gradient = value_and_grad(learning, batch, noise)
            return value, parts, gradient

        def piece(now):
            return value_and_grad(learning, *now)

        pieces = jax.tree.map(lambda a: a.reshape(self.pieces, -1, *a.shape[1:]), (batch, noise))
        results = lax.map(piece, pieces)
        (value, parts), gradient = jax.tree.map(lambda a: jnp.mean(a, axis=0), results)
        return value, parts, gradient
