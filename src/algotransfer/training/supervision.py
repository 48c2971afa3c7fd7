"""Supervisions: what of an execution the network is shown, and what it is held to.

A supervision turns the truth about one algorithm into a `Driver` and, after the rollout, into
named losses of one graph. A new one is a class, a line in `SUPERVISIONS`, its name in `Experiment`,
and in `evaluation/reading.py` a line for each framework that says what is read of its executions.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from algotransfer.networks.executor import Executor
from algotransfer.networks.heads import Latent
from algotransfer.networks.layouts import Layout
from algotransfer.networks.rollout import Driver
from algotransfer.training.losses import (
    binary_cross_entropy,
    cross_entropy,
    masked_mean,
    smooth_l1,
)
from algotransfer.training.truth import Truth

Losses = dict[str, Float[Array, ""]]
StepLosses = dict[str, Float[Array, " steps"]]


class Supervision(eqx.Module):
    """How one algorithm of a network is trained."""

    carry_all: ClassVar[bool]
    samples: ClassVar[bool]  # whether sequential algorithms sample trajectories in training

    @abstractmethod
    def driver(self, sequential: bool, truth: Truth, noise: Float[Array, "t n"] | None) -> Driver:
        """How the algorithm is driven in training."""

    @abstractmethod
    def losses(
        self,
        network: Executor,
        task: int,
        layout: Layout,
        truth: Truth,
        latents: Latent,
    ) -> Losses:
        """The losses of one graph, from the latents of all steps or of the last one."""

    def free(self, truth: Truth, steps) -> Driver:
        """How the algorithm is driven at test time: free-running, arg-max choices."""
        return Driver(truth.start, steps, carry_all=self.carry_all)


class TeacherForcing(Supervision):
    """Every step is given the true state and held to the true next one."""

    carry_all = False
    samples = False

    def driver(self, sequential, truth, noise):
        return Driver(truth.start, truth.length, teacher=truth.teacher(sequential))

    def losses(self, network, task, layout, truth, latents):
        num_steps = truth.key.shape[0] - 1
        y = jax.vmap(lambda latent: network.decode(task, latent))(latents)  # [steps, n, y]
        scores = jax.vmap(lambda latent: network.scores(task, latent, layout))(latents)
        stop = jax.vmap(lambda latent: network.terminate(task, latent, layout))(latents)
        is_last = jnp.arange(num_steps) + 1 == truth.length
        compare = _sequential_steps if network.algorithms[task].sequential else _parallel_steps
        losses = compare(network.algorithms[task], layout, truth, y, scores)
        losses["termination"] = binary_cross_entropy(stop, is_last)
        own = jnp.arange(num_steps) < truth.length
        averages = {name: masked_mean(loss, own) for name, loss in losses.items()}
        return averages | network.priors(task)


def _sequential_steps(algorithm, layout: Layout, truth: Truth, y, scores) -> StepLosses:
    before, after = truth.visited[:-1], truth.visited[1:]
    node = jnp.argmax(after & ~before, axis=-1)[:, None]  # visited by this step

    def at(values):  # [steps, n] -> [steps]
        return jnp.take_along_axis(values, node, axis=1)[:, 0]

    assert truth.next_node is not None  # as for every sequential algorithm
    reached = jax.vmap(layout.reach)(before) | (jnp.arange(layout.num_nodes) == truth.source)
    target = jnp.maximum(truth.pred[1:], 0)
    log_probability = jax.vmap(layout.log_softmax_at)(scores, target, reached)
    return {
        "next": cross_entropy(y[..., 0], truth.next_node, ~before),
        "key": smooth_l1(at(y[..., 1] - truth.key[1:])),
        "predecessor": -at(log_probability),
    }


def _parallel_steps(algorithm, layout: Layout, truth: Truth, y, scores) -> StepLosses:
    reached = truth.visited[1:]
    losses = {"key": masked_mean(key_loss(algorithm, y[..., 0], truth.key[1:]), reached)}
    if not algorithm.binary:
        target = jnp.maximum(truth.pred[1:], 0)
        log_probability = jax.vmap(layout.log_softmax_at)(scores, target)
        losses["predecessor"] = masked_mean(-log_probability, reached)
    return losses


class NoAlgorithm(Supervision):
    """The network runs on its own outputs and is held to the final answer alone."""

    carry_all = True
    samples = True

    def driver(self, sequential, truth, noise):
        return Driver(truth.start, truth.length, noise=noise, carry_all=True)

    def losses(self, network, task, layout, truth, latents):
        algorithm = network.algorithms[task]
        y = network.decode(task, latents)
        losses = {"key": masked_mean(key_loss(algorithm, y[:, -1], truth.key[-1]), truth.reached)}
        if not algorithm.binary:
            scores = network.scores(task, latents, layout)
            target = jnp.maximum(truth.pred[-1], 0)
            loss = -layout.log_softmax_at(scores, target)
            losses["predecessor"] = masked_mean(loss, truth.reached)
        if algorithm.sequential:
            losses["visited"] = jnp.mean(binary_cross_entropy(y[:, 0], truth.visited[-1]))
        return losses | network.priors(task)


def key_loss(algorithm, key, target):
    """Smooth-L1, or cross-entropy where the key is a bit."""
    return binary_cross_entropy(key, target) if algorithm.binary else smooth_l1(key - target)


SUPERVISIONS: dict[str, Supervision] = {"tf": TeacherForcing(), "na": NoAlgorithm()}
