"""The compiled program of an experiment: one epoch of all seeds.

Everything that the future of a seed depends on is its `SeedState`, a pytree of arrays. An epoch is
a pure function of it, so seeds are a `vmap` and resuming is loading.
"""

import dataclasses
from dataclasses import dataclass
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jax import lax
from jax.stages import Compiled
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, UInt32

from algotransfer.devices import memory_limit
from algotransfer.errors import UserError
from algotransfer.experiment import Experiment
from algotransfer.networks.executor import Executor
from algotransfer.training.examples import network_of, tasks_of
from algotransfer.training.objective import Examples, Task, draw_noise, objective
from algotransfer.training.transfer import METHODS, trainable, transfer

VALIDATION_CHUNK = 256  # validation graphs that run at once
MEMORY_SHARE = 0.8  # of the device's memory that a program may plan with


class SeedState(eqx.Module):
    """One seed between two epochs."""

    network: Executor
    optimiser: optax.OptState
    best: Executor  # weights of the best epoch
    best_loss: Float[Array, ""]
    wait: Int[Array, ""]  # epochs since the best one
    epoch: Int[Array, ""]
    stopped: Bool[Array, ""]
    diverged: Bool[Array, ""]
    key: UInt32[Array, "2"]  # random key data


@dataclass(frozen=True)
class Program:
    """An experiment's tasks, the weights that learn, and how a batch is split."""

    experiment: Experiment
    tasks: tuple[Task, ...]
    mask: Executor  # True at every weight that learns
    pieces: int = 1  # sequential parts of a batch, to save memory

    @property
    def optimiser(self) -> optax.GradientTransformation:
        """Clipped Adam."""
        return optax.chain(
            optax.clip_by_global_norm(self.experiment.clip_norm),
            optax.adam(self.experiment.learning_rate),
        )

    def start(self, network: Executor, key: PRNGKeyArray) -> SeedState:
        """Return a seed before its first epoch."""
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
        """Run one epoch of one seed: every batch once, then validation and early stopping."""
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

        # The first NaN or infinity ends a seed; it keeps its best weights so far.
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
        """Return the training loss on validation graphs, with the same noise in every epoch."""
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
        """Return the mean loss of a batch, its parts and its gradient, piece by piece."""
        learning, frozen = eqx.partition(network, self.mask)
        noise = self._noise(batch, key)  # drawn for the whole batch, so that pieces sample the same

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


def start_seeds(
    experiment: Experiment, seeds: tuple[int, ...], bases: eqx.Module | None = None
) -> tuple[Program, SeedState]:
    """Return the program of an experiment, and its seeds before their first epoch.

    `bases` are the pre-trained processors of the seeds, if the method needs them.
    """
    method = METHODS[experiment.method]

    def build(key, base):
        return transfer(method, network_of(experiment, key), base)

    one_base = jax.tree.map(lambda leaf: leaf[0], bases)
    mask = trainable(method, jax.eval_shape(build, jax.random.key(0), one_base))
    program = Program(experiment, tasks_of(experiment), mask)

    @jax.jit  # separate buffers for weights and best weights, which epochs donate
    @jax.vmap
    def start(seed, base) -> SeedState:
        key = jax.random.key(seed)
        # New parts beside a base must not start from the initial weights of that base.
        weights = jax.random.fold_in(key, 0 if base is None else 2)
        return program.start(build(weights, base), jax.random.fold_in(key, 1))

    return program, start(jnp.asarray(seeds, jnp.uint32), bases)


def compile_epoch(program: Program, states: SeedState, training: Examples, validation: Examples):
    """Compile an epoch of all seeds, with the batch in as few pieces as fit into memory.

    **Returns:** the compiled epoch, and the bytes it needs.
    """
    batch_size = program.experiment.batch_size
    limit = MEMORY_SHARE * memory_limit()
    for pieces in (p for p in range(1, batch_size + 1) if batch_size % p == 0):
        program = dataclasses.replace(program, pieces=pieces)
        all_seeds = jax.jit(jax.vmap(program.epoch, in_axes=(0, None, None)), donate_argnums=0)
        compiled = all_seeds.lower(states, training, validation).compile()
        need = needed_bytes(compiled)
        if need <= limit:
            return compiled, need
    raise UserError(
        f"one graph of {training.layouts.num_nodes} nodes with {len(states.epoch)} seeds needs "
        f"{need / 2**30:.1f} GiB, and {limit / 2**30:.1f} GiB may be used; "
        "train fewer seeds at once, or fewer trajectories"
    )


def needed_bytes(compiled: Compiled) -> int:
    """Return the bytes that a compiled program needs for its arguments and while it runs."""
    analysis: Any = compiled.memory_analysis()
    return int(analysis.temp_size_in_bytes + analysis.argument_size_in_bytes)
