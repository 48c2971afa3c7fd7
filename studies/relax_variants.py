"""What was tried on the relaxation executor, as data: each differs from `before` in one thing.

`capped-l1-0.3` won and is the executor as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from algotransfer.networks import RelaxationExecutor
from algotransfer.networks.relax import Relaxation, sparse_weight
from algotransfer.networks.weights import initialise


@dataclass(frozen=True)
class Variant:
    """One change.

    **Arguments:**

    - `network`: inherits from the executor.
    - `sizes`: of the training graphs, equally many of each.
    - `trajectories`: that are sampled per graph; as many as usual if not given.
    - `sequential`: whether it changes nothing for a parallel algorithm.
    """

    name: str
    question: str
    network: type[RelaxationExecutor]
    sizes: tuple[int, ...] = (20,)
    trajectories: int | None = None
    sequential: bool = False


def with_prior(prior: Callable[[Array], Array]) -> type[RelaxationExecutor]:
    """Another loss that asks for few terms."""

    class WithPrior(RelaxationExecutor):
        def priors(self, task):
            return {"simplicity": prior(self.specialists[task].relaxation.theta)}

    return WithPrior


def _squares(weight: float) -> type[RelaxationExecutor]:
    return with_prior(lambda theta: weight * jnp.sum(theta**2))


def _sizes(weight: float) -> type[RelaxationExecutor]:
    return with_prior(lambda theta: weight * jnp.sum(jnp.abs(theta)))


def _small_sizes(weight: float) -> type[RelaxationExecutor]:
    """Asks nothing of weights above 0.3, which are there for a reason."""
    return with_prior(lambda theta: weight * jnp.sum(jnp.minimum(jnp.abs(theta), 0.3)))


BEFORE = _squares(0.003)


def with_part(where: Callable[[Any], Any], change: Callable[..., Any]) -> type[RelaxationExecutor]:
    """The executor with `change(part, key)` in the place of one part of a fresh network."""

    class WithPart(BEFORE):
        @classmethod
        def create(cls, algorithms, hidden, key, *processor):
            network = super().create(algorithms, hidden, key, *processor)
            own = jax.random.fold_in(key, 1)
            return eqx.tree_at(where, network, replace_fn=lambda part: change(part, own))

    return WithPart


def with_gain(gain: float) -> type[RelaxationExecutor]:
    """Pointer scores start this sharp; the executor's own start at 50."""
    more = jnp.log(gain / 50)
    return with_part(lambda network: network.processors[0].gain, lambda own, _: own + more)


def with_choice(sharpness: float) -> type[RelaxationExecutor]:
    """Next nodes are sampled by so many times the key at first; the executor's own by e times."""
    more = jnp.array([[jnp.log(sharpness) - 1, 0, 0]])
    return with_part(lambda network: network.processors[0].choice, lambda own, _: own + more)


def straight_through(temperature: float) -> type[RelaxationExecutor]:
    """Errors of keys reach the scores through pointers that are, backwards, a softmax this warm."""

    class StraightThrough(BEFORE):
        def straight_through(self, algorithm, scores):
            return scores / temperature

    return StraightThrough


class Narrower(Relaxation):
    """`Relaxation` without max(0, x − w), which most reliable paths do not need."""

    def terms(self, x, w):
        return super().terms(x, w)[:-1]


class Wider(Relaxation):
    """`Relaxation` with ReLU units of (x, w, 1) beside its terms."""

    units: Float[Array, "3 k"]

    def terms(self, x, w):
        units = [jax.nn.relu(a * x + b * w + c) for a, b, c in self.units.T]
        return (*super().terms(x, w), *units)


def _narrower(own: Relaxation, _) -> Relaxation:
    return Narrower(own.theta[:, :-1], own.direction)


def with_units(count: int) -> type[RelaxationExecutor]:
    """So many ReLU units more."""

    def wider(own: Relaxation, key) -> Relaxation:
        def build(draw) -> Relaxation:
            theta = jnp.concatenate([own.theta, 0.4 * draw(1, count)], axis=1)
            return Wider(theta, own.direction, draw(3, count))

        return initialise(build, key)

    return with_part(_relaxation, wider)


def with_gap(factor: float) -> type[RelaxationExecutor]:
    """A term is absent up to so many times the usual size of its weight."""

    class WithGap(Relaxation):
        @property
        def weights(self):
            return factor**2 * sparse_weight(self.theta[0] / factor)

    return with_part(_relaxation, lambda own, _: WithGap(own.theta, own.direction))


def _relaxation(network: RelaxationExecutor) -> Relaxation:
    return network.specialists[0].relaxation


VARIANTS = (
    Variant("before", "", BEFORE),
    Variant("sizes-8-to-20", "mixed sizes", BEFORE, sizes=(8, 12, 16, 20)),
    Variant("4-terms", "width of f", with_part(_relaxation, _narrower)),
    Variant("4-units-more", "width of f", with_units(4)),
    Variant("16-units-more", "width of f", with_units(16)),
    Variant("gain-5", "temperature", with_gain(5)),
    Variant("gain-500", "temperature", with_gain(500)),
    Variant("straight-through-1", "temperature", straight_through(1)),
    Variant("straight-through-10", "temperature", straight_through(10)),
    Variant("choice-20", "temperature", with_choice(20), sequential=True),
    Variant("no-prior", "few terms", _squares(0)),
    Variant("squares-0.03", "few terms", _squares(0.03)),
    Variant("l1-0.003", "few terms", _sizes(0.003)),
    Variant("l1-0.01", "few terms", _sizes(0.01)),
    Variant("l1-0.03", "few terms", _sizes(0.03)),
    Variant("l1-0.1", "few terms", _sizes(0.1)),
    Variant("capped-l1-0.1", "few terms", _small_sizes(0.1)),
    Variant("capped-l1-0.3", "few terms", _small_sizes(0.3)),
    Variant("gap-0.2", "few terms", with_gap(2)),
    Variant("1-trajectory", "trajectories", BEFORE, trajectories=1, sequential=True),
    Variant("5-trajectories", "trajectories", BEFORE, trajectories=5, sequential=True),
    Variant("10-trajectories", "trajectories", BEFORE, trajectories=10, sequential=True),
)
