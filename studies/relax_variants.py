"""Variants of the relaxation executor as data: each differs from `before` in one setting.

`capped-l1-0.3` was chosen and is the present executor.
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

    - `network`: subclass of the executor.
    - `sizes`: numbers of nodes of the training graphs, with equally many graphs of each.
    - `trajectories`: number of trajectories sampled per graph; by default that of the study.
    - `sequential`: whether the change concerns sequential algorithms only.
    """

    name: str
    question: str
    network: type[RelaxationExecutor]
    sizes: tuple[int, ...] = (20,)
    trajectories: int | None = None
    sequential: bool = False


def with_prior(prior: Callable[[Array], Array]) -> type[RelaxationExecutor]:
    """Return the executor with another loss that asks for few terms."""

    class WithPrior(RelaxationExecutor):
        def priors(self, task):
            return {"simplicity": prior(self.specialists[task].relaxation.theta)}

    return WithPrior


def _squares(weight: float) -> type[RelaxationExecutor]:
    return with_prior(lambda theta: weight * jnp.sum(theta**2))


def _l1(weight: float) -> type[RelaxationExecutor]:
    return with_prior(lambda theta: weight * jnp.sum(jnp.abs(theta)))


def _capped_l1(weight: float) -> type[RelaxationExecutor]:
    """Cap the loss of each weight at 0.3, so that needed terms are not made smaller."""
    return with_prior(lambda theta: weight * jnp.sum(jnp.minimum(jnp.abs(theta), 0.3)))


BEFORE = _squares(0.003)


def with_part(where: Callable[[Any], Any], change: Callable[..., Any]) -> type[RelaxationExecutor]:
    """Return the executor with one part of a new network replaced by `change(part, key)`."""

    class WithPart(BEFORE):
        @classmethod
        def create(cls, algorithms, hidden, key, *processor):
            network = super().create(algorithms, hidden, key, *processor)
            own = jax.random.fold_in(key, 1)
            return eqx.tree_at(where, network, replace_fn=lambda part: change(part, own))

    return WithPart


def with_gain(gain: float) -> type[RelaxationExecutor]:
    """Return the executor with another initial gain of pointer scores; its own is 50."""
    more = jnp.log(gain / 50)
    return with_part(lambda network: network.processors[0].gain, lambda own, _: own + more)


def with_choice(sharpness: float) -> type[RelaxationExecutor]:
    """Return the executor with another initial factor of keys in its choices; its own is e."""
    more = jnp.array([[jnp.log(sharpness) - 1, 0, 0]])
    return with_part(lambda network: network.processors[0].choice, lambda own, _: own + more)


def straight_through(temperature: float) -> type[RelaxationExecutor]:
    """Return the executor with pointers whose gradient is that of a softmax of a temperature."""

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
    """Return the executor with further ReLU units."""

    def wider(own: Relaxation, key) -> Relaxation:
        def build(draw) -> Relaxation:
            theta = jnp.concatenate([own.theta, 0.4 * draw(1, count)], axis=1)
            return Wider(theta, own.direction, draw(3, count))

        return initialise(build, key)

    return with_part(_relaxation, wider)


def with_gap(factor: float) -> type[RelaxationExecutor]:
    """Return the executor with a wider range of weights that leave out a term, by a factor."""

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
    Variant("l1-0.003", "few terms", _l1(0.003)),
    Variant("l1-0.01", "few terms", _l1(0.01)),
    Variant("l1-0.03", "few terms", _l1(0.03)),
    Variant("l1-0.1", "few terms", _l1(0.1)),
    Variant("capped-l1-0.1", "few terms", _capped_l1(0.1)),
    Variant("capped-l1-0.3", "few terms", _capped_l1(0.3)),
    Variant("gap-0.2", "few terms", with_gap(2)),
    Variant("1-trajectory", "trajectories", BEFORE, trajectories=1, sequential=True),
    Variant("5-trajectories", "trajectories", BEFORE, trajectories=5, sequential=True),
    Variant("10-trajectories", "trajectories", BEFORE, trajectories=10, sequential=True),
)
