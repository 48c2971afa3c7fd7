"""The relaxation executor: the paper's frameworks taken literally, with `relax_edge` learned."""

from __future__ import annotations

import dataclasses
import functools

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from algotransfer.algorithms import Algorithm
from algotransfer.networks.checks import check_fresh
from algotransfer.networks.edges import Edges, read_at_pointer
from algotransfer.networks.executor import Executor, edge_kinds, num_features
from algotransfer.networks.layouts import Scores
from algotransfer.networks.parts import Latent
from algotransfer.networks.weights import Draw, initialise

DEAD = 0.1  # below this size a weight of `Relaxation` counts as none
DECIDED = 0.02  # from this size on a direction is trusted
SIMPLICITY = 0.3  # weight of the loss that asks for few terms
NEEDED = 0.3  # a weight of `Relaxation` above this size is there for a reason, and left alone
KEEP = 1e7  # how sharply a node's own key is compared with the best candidate
TIE = 5.0  # by how much a candidate is preferred to an equal key of one's own


@jax.custom_jvp
def sparse_weight(theta: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    """θ·max(0, |θ| − 0.1): exactly none for small θ, so that a term that is not needed is absent.

    The gradient goes on inside the gap as at its edge: a term may come back, or change sign.
    """
    return theta * jax.nn.relu(jnp.abs(theta) - DEAD)


@sparse_weight.defjvp
def _sparse_weight_jvp(primals, tangents):
    (theta,), (tangent,) = primals, tangents
    slope = jnp.maximum(2 * jnp.abs(theta) - DEAD, DEAD)
    return sparse_weight(theta), slope * tangent


class Relaxation(eqx.Module):
    """`relax_edge` of one algorithm: a node's candidate through a neighbour.

    c_ij = x_j + Σ_k a_k φ_k with the terms φ = (1, x_j, w_ij, x_j(w_ij − 1), max(0, x_j − w_ij));
    on a self-loop it is the node's own key. `direction` says whether larger candidates are better
    (above 0) or smaller ones; it starts at 0, undecided.
    """

    theta: Float[Array, "1 5"]  # a = sparse_weight(theta)
    direction: Float[Array, "1 1"]

    @classmethod
    def create(cls, draw: Draw) -> Relaxation:
        start = jnp.array([[0.2, -0.2, 0.4, 0.4, -0.4]])  # a little of everything
        return cls(theta=start * (1 + 0.2 * draw(1, 5)), direction=jnp.zeros((1, 1)))

    @property
    def decided(self) -> Bool[Array, ""]:
        """Whether the direction is known well enough to be followed."""
        return jnp.abs(self.direction[0, 0]) > DECIDED

    @property
    def weights(self) -> Float[Array, " terms"]:
        """a: what each term counts."""
        return sparse_weight(self.theta[0])

    def candidates(self, key: Float[Array, " n"], edges: Edges) -> Scores:
        """c_ij on every edge; learns only once the direction is decided."""
        x = edges.sender(key)
        weights = jnp.where(self.decided, self.weights, lax.stop_gradient(self.weights))
        change = sum(a * term for a, term in zip(weights, self.terms(x, edges.weight), strict=True))
        return jnp.where(edges.loop, x, x + change)

    def terms(self, x: Scores, w: Scores) -> tuple[Scores | float, ...]:
        """φ on every edge, of the sender's key and the weight."""
        return 1.0, x, w, x * (w - 1), jax.nn.relu(x - w)


class Selection(eqx.Module):
    """What all algorithms share: which candidate a node takes, and which node is visited next.

    Pointer scores are s_ij = g·d·(c_ij − c_best)/scale_i − u·[j not visited]: differences in units
    of the spread of i's candidates, since only their order matters. The node itself is scored by
    how much better its own key is than the best candidate; an equal candidate wins.
    """

    choice: Float[Array, "1 3"]  # next-node logit: of a better key (log), of visited, of 1
    gain: Float[Array, "1 1"]  # g (log)
    unvisited: Float[Array, "1 1"]  # u (log)
    settled: Float[Array, "1 1"]  # how much a visited node prefers to keep its key (log)

    @classmethod
    def create(cls, draw: Draw) -> Selection:
        return cls(
            choice=jnp.array([[1.0, 3.0, 3.0]]) + 0.1 * draw(1, 3),
            gain=jnp.log(50.0) + 0.1 * draw(1, 1),
            unvisited=0.1 * draw(1, 1),
            settled=0.1 * draw(1, 1),
        )

    def scores(
        self,
        candidates: Scores,
        direction: Float[Array, "1 1"],
        visited: Float[Array, " n"] | None,
        edges: Edges,
    ) -> Scores:
        """Pointer scores; `visited` is None for a parallel algorithm."""
        fixed = lax.stop_gradient(candidates)
        own = edges.receiver(edges.sum(jnp.where(edges.loop, fixed, 0.0)))
        high, low = edges.max(fixed, edges.exists), -edges.max(-fixed, edges.exists)
        spread = high - low + 0.1 * jnp.maximum(high, -low) + 1e-20
        better = direction[0, 0] * (candidates - own) / edges.receiver(spread)
        better_fixed = lax.stop_gradient(better)
        penalty = 0.0
        if visited is not None:
            penalty = jnp.exp(self.unvisited[0, 0]) * (1 - edges.sender(visited))
        score = jnp.exp(self.gain[0, 0]) * better - penalty

        def best(values):  # of the neighbours; 0 where there are none
            top = edges.max(values, edges.exists & ~edges.loop)
            return edges.receiver(jnp.where(top == -jnp.inf, 0.0, top))

        # The gradient of this comparison would bend candidates to beat equal keys.
        stay = jnp.clip(-best(KEEP * better_fixed - penalty), -2 * TIE, 2 * TIE) - TIE
        if visited is not None:
            stay = stay + jnp.exp(self.settled[0, 0]) * edges.receiver(visited)
        return jnp.where(edges.loop, stay, score - best(score))

    def next_node(self, key, direction: Float[Array, "1 1"], visited) -> Float[Array, " n"]:
        """Next-node logits: nodes with a better key come first."""
        of_key, of_visited, bias = self.choice[0]
        return jnp.exp(of_key) * jnp.sign(direction[0, 0]) * key + of_visited * visited + bias


class Stop(eqx.Module):
    """linear(max_i relu(W[x_i, key'_i, |key'_i − key_i|, 1])): whether this was the last step."""

    first: Float[Array, "d h"]
    second: Float[Array, "h 1"]

    @classmethod
    def create(cls, algorithm: Algorithm, hidden: int, draw: Draw) -> Stop:
        return cls(first=draw(num_features(algorithm) + 3, hidden), second=draw(hidden, 1))

    def __call__(self, x: Float[Array, "n f"], key: Float[Array, " n"]) -> Float[Array, ""]:
        columns = [*x.T, key, jnp.abs(key - x[:, -1]), jnp.ones_like(key)]
        units = jax.nn.relu(jnp.stack(columns, axis=-1) @ self.first)
        return (jnp.max(units, axis=0) @ self.second)[0]


class Specialist(eqx.Module):
    """All of the relaxation executor that belongs to one algorithm."""

    relaxation: Relaxation
    bit: Float[Array, "1 2"]  # logit of a binary key: of the key, of 1
    stop: Stop

    @classmethod
    def create(cls, algorithm: Algorithm, hidden: int, draw: Draw) -> Specialist:
        return cls(
            relaxation=Relaxation.create(draw),
            bit=jnp.array([[4.0, -2.0]]) + 0.1 * draw(1, 2),
            stop=Stop.create(algorithm, hidden, draw),
        )


class RelaxationExecutor(Executor):
    """The relaxation executor: every node points at its best candidate and reads its key there.

    pointer(i) = argmax_j s_ij over neighbours and self; key'_i = c_{i, pointer(i)}, with
    candidates from `Relaxation`, one per algorithm, and scores from `Selection`, which is shared.
    There is no state but the algorithm's own (key, visited), so nothing can drift or explode.
    """

    specialists: tuple[Specialist, ...]
    processors: tuple[Selection, ...]  # their scores are summed
    algorithms: tuple[Algorithm, ...] = eqx.field(static=True)
    kinds: tuple[str, ...] = eqx.field(static=True)

    @classmethod
    def create(
        cls, algorithms: tuple[Algorithm, ...], hidden: int, key: PRNGKeyArray
    ) -> RelaxationExecutor:
        """A fresh network; `hidden` is the width of the heads that say when to stop."""
        check_fresh(algorithms, hidden)

        def build(draw: Draw) -> RelaxationExecutor:
            return cls(
                specialists=tuple(Specialist.create(a, hidden, draw) for a in algorithms),
                processors=(Selection.create(draw),),
                algorithms=algorithms,
                kinds=edge_kinds(algorithms),
            )

        return initialise(build, key)

    def start(self, num_nodes):
        return ()

    def process(self, features, memory, layout):
        return (), tuple(self._step(task, x, layout) for task, x in enumerate(features))

    def decode(self, task, latent):
        return latent.hidden

    def scores(self, task, latent, layout):
        return self._select(task, latent.inputs, layout)[1]

    def terminate(self, task, latent, layout):
        # Whether to stop is only read off: its gradient must not bend the keys.
        x, y = lax.stop_gradient((latent.inputs, latent.hidden))
        return self.specialists[task].stop(x, y[:, -1])

    def priors(self, task):
        theta = self.specialists[task].relaxation.theta
        return {"simplicity": SIMPLICITY * jnp.sum(jnp.minimum(jnp.abs(theta), NEEDED))}

    def only(self, task):
        own = {"specialists": (self.specialists[task],), "algorithms": (self.algorithms[task],)}
        return dataclasses.replace(self, **own)

    @property
    def independent(self):
        return True

    def straight_through(self, algorithm: Algorithm, scores: Scores) -> Scores:
        """The scores that errors of keys reach through pointers: only those of a binary key.

        Elsewhere predecessors train the scores. What passes straight through a pointer would have a
        key that is too small prefer worse candidates, the more so the larger ∞ is.
        """
        return scores if algorithm.binary else lax.stop_gradient(scores)

    def _select(self, task, x, layout) -> tuple[Edges, Scores, Scores]:
        """Edges, pointer scores and candidates, from the state alone."""
        relaxation = self.specialists[task].relaxation
        kind = edge_kinds((self.algorithms[task],))[0]
        edges = Edges.of(layout.with_features((self.kinds.index(kind),)))
        visited = x[:, 0] if self.algorithms[task].sequential else None
        candidates = relaxation.candidates(x[:, -1], edges)
        scores = [
            p.scores(candidates, relaxation.direction, visited, edges) for p in self.processors
        ]
        return edges, functools.reduce(jnp.add, scores), candidates

    def _step(self, task, x, layout) -> Latent:
        """The latent of one step: the state it came from, and y."""
        specialist, algorithm = self.specialists[task], self.algorithms[task]

        @jax.checkpoint  # numbers on edges are made again in the backward pass
        def read(self: RelaxationExecutor, x, layout):
            edges, scores, candidates = self._select(task, x, layout)
            scores = self.straight_through(algorithm, scores)
            decided = self.specialists[task].relaxation.decided
            return read_at_pointer(edges, scores, candidates, decided)

        key = read(self, x, layout)
        if algorithm.sequential:
            direction = specialist.relaxation.direction
            logits = [p.next_node(key, direction, x[:, 0]) for p in self.processors]
            return Latent(x, jnp.stack([functools.reduce(jnp.add, logits), key], axis=-1))
        if algorithm.binary:
            of_key, bias = specialist.bit[0]
            key = of_key * key + bias
        return Latent(x, key[:, None])
