"""`Executor`: the interface between networks and rollouts, for one or several algorithms."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, final

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray, PyTree

from algotransfer.algorithms import Algorithm
from algotransfer.devices import default_platform
from algotransfer.networks.folded import Folded
from algotransfer.networks.heads import Latent
from algotransfer.networks.layouts import Layout, Scores
from algotransfer.networks.processors import MaxMPNN, Processor


class Executor(eqx.Module):
    """A network that executes one or several algorithms step by step.

    A pytree of weight matrices, and pure methods that a rollout calls: `start` (the memory before
    step 0), `process` (one step), and the heads `decode`, `scores` and `terminate`. The memory is
    any pytree of arrays. Methods are written for one graph.

    **Attributes:**

    - `keeps_answer`: whether answers stay right in steps beyond those of training.
    """

    keeps_answer: ClassVar[bool] = False
    algorithms: eqx.AbstractVar[tuple[Algorithm, ...]]
    processors: eqx.AbstractVar[tuple[eqx.Module, ...]]  # what transfer moves; results are summed
    kinds: eqx.AbstractVar[tuple[str, ...]]  # kinds of edge features in its layouts, in order

    @classmethod
    @abstractmethod
    def create(
        cls,
        algorithms: tuple[Algorithm, ...],
        hidden: int,
        key: PRNGKeyArray,
        processor: type[Processor] = MaxMPNN,
    ) -> Executor:
        """Return a new network with random weights and `hidden` units in its hidden state."""

    @abstractmethod
    def start(self, layout: Layout) -> PyTree[Array]:
        """Return the memory before step 0: zero."""

    @abstractmethod
    def process(
        self, features: tuple[Float[Array, "n _"], ...], memory: Any, layout: Layout
    ) -> tuple[PyTree[Array], tuple[Latent, ...]]:
        """Run one step: from the node features of every algorithm to a memory and their latents."""

    @abstractmethod
    def decode(self, task: int, latent: Latent) -> Float[Array, "n y"]:
        """Return y of an algorithm: (next-node logit, key), or (key or logit) if it is parallel."""

    @abstractmethod
    def scores(self, task: int, latent: Latent, layout: Layout) -> Scores:
        """Return the predecessor scores of an algorithm."""

    @abstractmethod
    def terminate(self, task: int, latent: Latent, layout: Layout) -> Float[Array, ""]:
        """Return the termination logit of an algorithm."""

    def priors(self, task: int) -> dict[str, Float[Array, ""]]:
        """Return losses of an algorithm that depend on weights only, by name; none by default."""
        return {}

    @abstractmethod
    def for_task(self, task: int) -> Executor:
        """Return the part of the network that executes one of its algorithms."""

    def task_layout(self, task: int, layout: Layout) -> Layout:
        """Return the layout with only the edge feature that an algorithm reads."""
        (kind,) = edge_kinds((self.algorithms[task],))
        return layout.with_features((self.kinds.index(kind),))

    @property
    @abstractmethod
    def independent(self) -> bool:
        """Whether the execution of an algorithm does not depend on the network's other ones."""


class FoldableExecutor(Executor):
    """An executor that can train with its weights multiplied together in advance."""

    folded_on: ClassVar[tuple[str, ...]]  # platforms where folding is faster

    @property
    def can_fold(self) -> bool:
        """Whether `fold` gives the same steps as `process`, and is faster on this platform.

        False for subclasses, which may have other steps, and for processors other than `MaxMPNN`.
        """
        own = "fold" in vars(type(self)) and all(type(p) is MaxMPNN for p in self.processors)
        return own and default_platform() in self.folded_on

    @abstractmethod
    def for_task(self, task: int) -> FoldableExecutor:
        """Return the part of the network that executes one of its algorithms."""

    @abstractmethod
    def fold(self, free: tuple[bool, ...]) -> Folded:
        """Return the step with folded weights; `free` algorithms have no teacher, but outputs."""

    @abstractmethod
    def latent(self, task: int, before, after, features) -> Latent:
        """Return an algorithm's latent from the hidden states before and after a folded step."""

    @abstractmethod
    def folded_layout(self, layout: Layout) -> Layout:
        """Return the layout with the edge features that the folded step reads."""


@final
class Memory(eqx.Module):
    """Memory of NE, and of each algorithm of NE++, between two steps."""

    hidden: Float[Array, "n h"]
    edge_states: tuple[PyTree[Array], ...]  # of every processor

    @classmethod
    def zero(cls, hidden: int, processors: tuple[Processor, ...], layout: Layout) -> Memory:
        """Return the memory before step 0."""
        edge_states = tuple(processor.start(layout) for processor in processors)
        return cls(jnp.zeros((layout.num_nodes, hidden)), edge_states)


def edge_kinds(algorithms: tuple[Algorithm, ...]) -> tuple[str, ...]:
    """Return the kinds of edge features that algorithms read, each once, in order."""
    return tuple(dict.fromkeys("weight" if a.weighted else "one" for a in algorithms))
