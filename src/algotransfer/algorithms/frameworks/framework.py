"""`Framework`: everything that differs between parallel and sequential algorithms.

A framework has two sides. The *engine* runs an algorithm exactly. The *network side* says what a
network sees of a state, how its outputs become the next state, which losses a step has, and how
an execution is compared with the truth. A new framework is one subclass.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Bool, Float, Int, PyTree

from algotransfer.algorithms.frameworks.comparison import Comparisons
from algotransfer.algorithms.state import State

if TYPE_CHECKING:
    from algotransfer.algorithms.algorithm import Algorithm
    from algotransfer.algorithms.truth import Truth

StepLosses = dict[str, Float[Array, " steps"]]


class EngineState(eqx.Module):
    """The exact state of one execution between two steps."""

    key: Float[Array, " nodes"]
    pred: Int[Array, " nodes"]
    visited: PyTree[Bool[Array, " nodes"]]  # None for parallel algorithms
    length: Int[Array, ""]  # steps that counted so far
    active: Bool[Array, ""]  # whether another step may count
    lost: Bool[Array, ""]  # whether a candidate key under- or overflowed to "unreached"


class Engine(NamedTuple):
    """A step function of one graph and the carry it maps.

    **Arguments:**

    - `start`: makes the carry from the initial `EngineState`.
    - `step`: maps a carry to the next one. A graph that has ended no longer changes, so a batch
        can run until its last graph ends.
    - `state`: reads the `EngineState` off a carry.
    """

    start: Callable[[EngineState], Any]
    step: Callable[[Any], Any]
    state: Callable[[Any], EngineState]


def stateless_engine(step: Callable[[EngineState], EngineState]) -> Engine:
    """An engine whose carry is the `EngineState` itself."""
    return Engine(lambda state: state, step, lambda state: state)


class Framework(ABC):
    """How algorithms of one kind run, and how networks imitate them.

    Arrays are those of one graph; callers `vmap` over graphs and seeds.

    **Attributes:**

    - `name`: `parallel` or `sequential`.
    - `num_features`: width of a node's features.
    - `num_outputs`: width of a node's outputs y; the key is the last of them.
    - `visits_nodes`: whether each step visits one node; traces then record the nodes visited.
    - `samples`: whether training without steps samples choices.
    - `sampled_by_kernel`: whether the GPU kernel for trajectories makes the choices of `advance`.
    - `carries_all`: whether a network taught by steps updates every key when it runs free.
    - `must_settle`: whether an algorithm that has not ended after n steps is an error.
    - `reads_arriving_edges`: whether the sparse engine reads the edges that arrive at a node, not
        those that leave it. It then gets the edge list of the reversed graph.
    - `dense_max_nodes`: nodes up to which the dense engine is faster on a CPU.
    """

    name: str
    num_features: int
    num_outputs: int
    visits_nodes: bool
    samples: bool
    sampled_by_kernel: bool = False
    carries_all: bool
    must_settle: bool
    reads_arriving_edges: bool
    dense_max_nodes: int

    # The engine.

    @abstractmethod
    def dense_engine(self, algorithm: Algorithm, weights: Float[Array, "nodes nodes"]) -> Engine:
        """Engine on a weight matrix that is NaN where there is no edge."""

    @abstractmethod
    def sparse_engine(
        self, algorithm: Algorithm, senders, receivers, weights, num_nodes: int
    ) -> Engine:
        """Engine on an edge list sorted by sender (see `reads_arriving_edges`)."""

    # The network side.

    @abstractmethod
    def start(self, key: Float[Array, " n"], source: ArrayLike) -> State:
        """The network's state of step 0 from its keys."""

    @abstractmethod
    def features(self, state: State) -> Float[Array, "*steps n f"]:
        """Node features x."""

    @abstractmethod
    def advance(
        self,
        algorithm: Algorithm,
        layout: Any,
        state: State,
        y: Float[Array, "n y"],
        noise: Float[Array, " n"] | None,
        carry_all: bool,
    ) -> State:
        """Return the next state from the network's own outputs, without reading the truth.

        **Arguments:**

        - `noise`: Gumbel noise that turns arg-max choices into samples.
        - `carry_all`: update every key, not only those that the algorithm would update.
        """

    @abstractmethod
    def targets(
        self,
        algorithm: Algorithm,
        key: Float[Array, "*batch states n"],
        visited: Bool[Array, "*batch states n"] | None,
    ) -> tuple[Bool[Array, "*batch states n"], Float[Array, "*batch steps n"] | None]:
        """The nodes visited or reached in each state, and a distribution over the next node."""

    @abstractmethod
    def teacher(self, truth: Truth) -> State:
        """The true state of every step but the last, as teacher forcing shows it."""

    @abstractmethod
    def step_losses(
        self, algorithm: Algorithm, layout: Any, truth: Truth, y: Float[Array, "steps n y"], scores
    ) -> StepLosses:
        """Losses of every teacher-forced step, by name."""

    @abstractmethod
    def answer_losses(self, truth: Truth, y: Float[Array, "n y"]) -> dict[str, Float[Array, ""]]:
        """Losses of the last step beside key and predecessor, when only the answer is known."""

    @abstractmethod
    def allowed_predecessors(
        self, layout: Any, state: State, source: Int[Array, ""]
    ) -> Bool[Array, " n"] | None:
        """Predecessors a network taught by steps may name in this state; None for all."""

    @abstractmethod
    def choice(
        self, before: State, after: State, y: Float[Array, "n y"]
    ) -> tuple[Int[Array, ""], Float[Array, " n"]] | tuple[None, None]:
        """The node chosen by a step and the probabilities it was chosen with, if any."""

    @abstractmethod
    def compare_steps(self, algorithm: Algorithm, execution: Any, truth: Truth) -> Comparisons:
        """Compare an execution with the truth step by step, for `tf`."""

    @abstractmethod
    def final_answer(self, execution: Any) -> tuple[Float[Array, " n"], Int[Array, " n"]]:
        """Keys and pointers that a network taught by steps ends with, from all its steps."""


def initial_state(algorithm: Algorithm, source: ArrayLike, num_nodes: int) -> EngineState:
    """The paper's `initialise_nodes`."""
    return EngineState(
        key=algorithm.initial_key(source, num_nodes),
        pred=jnp.where(jnp.arange(num_nodes) == source, source, -1).astype(jnp.int32),
        visited=jnp.zeros(num_nodes, bool) if algorithm.framework.visits_nodes else None,
        length=jnp.int32(0),
        active=jnp.bool_(True),
        lost=jnp.bool_(False),
    )


def improves(algorithm: Algorithm, candidate, key):
    """Whether a candidate key replaces a key."""
    free = key == algorithm.unreached_key if algorithm.relax_once else True
    return algorithm.better(candidate, key) & free


def is_lost(algorithm: Algorithm, candidate, key):
    """Whether a node would be reached with the key that means unreached: under- or overflow."""
    return (candidate == algorithm.unreached_key) & (key == algorithm.unreached_key)
