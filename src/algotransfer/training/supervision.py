"""Supervisions: what a network is shown of an execution, and which losses it is trained with.

A new supervision is a subclass of `Supervision`; an object of it is an entry of `SUPERVISIONS`.
"""

from abc import abstractmethod
from dataclasses import replace
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from algotransfer.algorithms import Algorithm
from algotransfer.algorithms.frameworks import Comparison, Comparisons
from algotransfer.algorithms.state import State
from algotransfer.algorithms.truth import Truth
from algotransfer.losses import binary_cross_entropy, masked_mean
from algotransfer.networks import Driver, Executor, Latent, Layout

Losses = dict[str, Float[Array, ""]]


class Supervision(eqx.Module):
    """How one algorithm of a network is trained, run free and read.

    **Attributes:**

    - `samples`: whether training samples choices, where the framework has any.
    - `told_steps`: whether evaluation tells the network the number of steps. A network that is
        not told runs as many steps as there are nodes and predicts termination.
    """

    samples: ClassVar[bool]
    told_steps: ClassVar[bool]

    @abstractmethod
    def driver(
        self, algorithm: Algorithm, truth: Truth, noise: Float[Array, "t n"] | None
    ) -> Driver:
        """Return how the algorithm runs in training."""

    @abstractmethod
    def losses(
        self, network: Executor, task: int, layout: Layout, truth: Truth, latents: Latent
    ) -> Losses:
        """Return the losses of one graph by name.

        **Arguments:**

        - `task`: position of the algorithm in `network.algorithms`.
        - `latents`: of all steps if the driver has a teacher, else of the last step; a `Latent` in
            NE and NE++.
        """

    @abstractmethod
    def carries_all(self, algorithm: Algorithm) -> bool:
        """Whether every key is updated when the network runs free."""

    @abstractmethod
    def compare(self, algorithm: Algorithm, execution: Any, truth: Truth) -> Comparisons:
        """Compare a free-running execution with the truth."""

    @abstractmethod
    def final_answer(self, algorithm: Algorithm, execution: Any) -> tuple[Array, Array]:
        """Return the final keys and predecessors, from all recorded steps of an execution."""

    def variants(self, algorithm: Algorithm) -> dict[str, "Supervision"]:
        """Other ways to run the network free, by the name of their row in tables of results."""
        return {}

    def training_steps(
        self, length: Int[np.ndarray, " graphs"], extra_steps: int
    ) -> Int[np.ndarray, " graphs"]:
        """Return the steps that each training graph runs; by default those of the algorithm."""
        return length

    def embedding(
        self, network: Executor, task: int, layout: Layout, truth: Truth, latents: Latent
    ) -> Any:
        """Return a pytree of arrays for `batch_losses`, from one graph; None by default."""
        return None

    def batch_losses(self, embeddings: Any, truths: Truth) -> Losses:
        """Return scalar losses between the graphs of a batch by name; none by default.

        **Arguments:**

        - `embeddings`, `truths`: of all graphs, with the batch in front of every array.
        """
        return {}

    def free_driver(self, algorithm: Algorithm, start: State, steps: Int[Array, ""]) -> Driver:
        """Return how the algorithm runs at test time: free-running, with arg-max choices."""
        return Driver(start, steps, carry_all=self.carries_all(algorithm))


class TeacherForcing(Supervision):
    """Every step is given the true state and compared with the true next one.

    **Arguments:**

    - `masked`: at test time, update only the keys that the algorithm could have changed. Of a
        parallel algorithm these are the keys of nodes reached by a breadth-first search.
    """

    samples = False
    told_steps = False
    masked: bool = eqx.field(static=True, default=False)

    def driver(self, algorithm, truth, noise):
        return Driver(truth.start, truth.length, teacher=algorithm.framework.teacher(truth))

    def losses(self, network, task, layout, truth, latents):
        num_steps = truth.key.shape[0] - 1
        algorithm = network.algorithms[task]
        y = jax.vmap(lambda latent: network.decode(task, latent))(latents)  # [steps, n, y]
        scores = jax.vmap(lambda latent: network.scores(task, latent, layout))(latents)
        stop = jax.vmap(lambda latent: network.terminate(task, latent, layout))(latents)
        is_last = jnp.arange(num_steps) + 1 == truth.length
        losses = algorithm.framework.step_losses(algorithm, layout, truth, y, scores)
        losses["termination"] = binary_cross_entropy(stop, is_last)
        counts = jnp.arange(num_steps) < truth.length
        averages = {name: masked_mean(loss, counts) for name, loss in losses.items()}
        return averages | network.priors(task)

    def carries_all(self, algorithm):
        return algorithm.framework.carries_all and not self.masked

    def variants(self, algorithm):
        return {"masked": replace(self, masked=True)} if self.carries_all(algorithm) else {}

    def compare(self, algorithm, execution, truth):
        return algorithm.framework.compare_steps(algorithm, execution, truth)

    def final_answer(self, algorithm, execution):
        return algorithm.framework.final_answer(execution)


class NoAlgorithm(Supervision):
    """The network runs on its own outputs; only the final answer is supervised."""

    samples = True
    told_steps = True

    def training_steps(self, length, extra_steps):
        # Graphs are in random order, so they can take turns with 0, 1, …, `extra_steps` steps.
        return length + np.arange(len(length)) % (extra_steps + 1)

    def driver(self, algorithm, truth, noise):
        return Driver(truth.start, truth.length, noise=noise, carry_all=True)

    def losses(self, network, task, layout, truth, latents):
        algorithm = network.algorithms[task]
        y = network.decode(task, latents)
        key_loss = algorithm.key_loss(y[:, -1], truth.key[-1])
        losses = {"key": masked_mean(key_loss, truth.reached)}
        if algorithm.predicts_predecessors:
            scores = network.scores(task, latents, layout)
            target = jnp.maximum(truth.pred[-1], 0)
            losses["predecessor"] = masked_mean(
                -layout.log_softmax_at(scores, target), truth.reached
            )
        return losses | algorithm.framework.answer_losses(truth, y) | network.priors(task)

    def carries_all(self, algorithm):
        return True

    def compare(self, algorithm, execution, truth):
        by_metric, answer, reached = {}, None, truth.reached
        if execution.key is not None:
            last = jnp.minimum(truth.length, execution.key.shape[0]) - 1
            by_metric["key"] = Comparison(
                execution.key[last], truth.key[-1], reached, algorithm.key_metric
            )
        if execution.pointer is not None:
            last = jnp.minimum(truth.length, execution.pointer.shape[0]) - 1
            answer = execution.pointer[last]
            by_metric["pred"] = Comparison(answer, truth.pred[-1], reached)
        return Comparisons(by_metric, answer)

    def final_answer(self, algorithm, execution):
        return execution.key[-1], execution.pointer[-1]


teacher_forcing, no_algorithm = TeacherForcing(), NoAlgorithm()
