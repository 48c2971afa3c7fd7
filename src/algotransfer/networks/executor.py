"""`Executor`: what a rollout asks of a network, for one algorithm or several at once."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, Generic, TypeVar

import equinox as eqx
from jaxtyping import Array, Float

from algotransfer.algorithms import Algorithm
from algotransfer.devices import default_platform
from algotransfer.networks.folded import Folded
from algotransfer.networks.layouts import Layout, Scores
from algotransfer.networks.parts import Latent, Processor

Memory = TypeVar("Memory")


class Executor(eqx.Module, Generic[Memory]):
    """A network that executes one or several algorithms step by step.

    A pytree of weight matrices and pure methods that a rollout calls: `start` (the memory of step
    0), `process` (one step), and the heads `decode`, `scores` and `terminate`.
    """

    algorithms: eqx.AbstractVar[tuple[Algorithm, ...]]
    processors: eqx.AbstractVar[tuple[eqx.Module, ...]]  # what is shared; their outputs are summed
    kinds: eqx.AbstractVar[tuple[str, ...]]  # edge features that layouts must offer, in order

    @abstractmethod
    def start(self, num_nodes: int) -> Memory:
        """The hidden memory of step 0: zero."""

    @abstractmethod
    def process(
        self, features: tuple[Float[Array, "n _"], ...], memory: Memory, layout: Layout
    ) -> tuple[Memory, tuple[Latent, ...]]:
        """One step: node features of every algorithm to the next memory and a latent for each."""

    @abstractmethod
    def decode(self, task: int, latent: Latent) -> Float[Array, "n y"]:
        """y of an algorithm: (next-node logit, key), or (key or logit) for a parallel one."""

    @abstractmethod
    def scores(self, task: int, latent: Latent, layout: Layout) -> Scores:
        """Predecessor scores of an algorithm."""

    @abstractmethod
    def terminate(self, task: int, latent: Latent, layout: Layout) -> Float[Array, ""]:
        """Termination logit of an algorithm."""

    def priors(self, task: int) -> dict[str, Float[Array, ""]]:
        """Losses of an algorithm that depend on the weights alone, by name; none if not said."""
        return {}

    @abstractmethod
    def only(self, task: int) -> Executor:
        """The part of the network that one algorithm needs when it runs without the others."""

    @property
    @abstractmethod
    def independent(self) -> bool:
        """Whether an algorithm's execution does not depend on those trained beside it."""


class FoldableExecutor(Executor[Memory]):
    """An executor that trains faster with its weights multiplied together beforehand."""

    folded_on: ClassVar[tuple[str, ...]] = ()  # platforms where that is so; not inherited

    def __init_subclass__(cls, **options):
        """A class that inherits may change a step: it is folded only if it says so itself."""
        super().__init_subclass__(**options)
        cls.folded_on = vars(cls).get("folded_on", ())

    @property
    def folds(self) -> bool:
        """Whether this network trains folded here; one with processors of another kind does not."""
        plain = all(type(processor) is Processor for processor in self.processors)
        return plain and default_platform() in self.folded_on

    @abstractmethod
    def fold(self, free: tuple[bool, ...]) -> Folded:
        """The network's step with its weights folded.

        **Arguments:**

        - `free`: for each algorithm whether it runs without a teacher, and needs outputs.
        """

    @abstractmethod
    def latent(self, task: int, before, after, features) -> Latent:
        """An algorithm's latent from the hidden states around a folded step."""

    @abstractmethod
    def only(self, task: int) -> FoldableExecutor:
        """The part of the network that one algorithm needs when it runs without the others."""

    def own_layout(self, layout: Layout) -> Layout:
        """The edge features that the folded step reads."""
        return layout


def edge_kinds(algorithms: tuple[Algorithm, ...]) -> tuple[str, ...]:
    """The kinds of edge feature that algorithms see, each once, in order."""
    return tuple(dict.fromkeys("weight" if a.weighted else "one" for a in algorithms))


def num_features(algorithm: Algorithm) -> int:
    """Width of a node's features: (visited, key) or (key)."""
    return algorithm.framework.num_features
