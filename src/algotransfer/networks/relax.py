"""The relaxation executor: the paper's algorithm frameworks with a learned `relax_edge`."""

import dataclasses
import functools
from typing import ClassVar, final

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float

from algotransfer.algorithms import Algorithm
from algotransfer.errors import UserError
from algotransfer.networks.executor import Executor, edge_kinds
from algotransfer.networks.heads import Latent
from algotransfer.networks.layouts import Layout, Scores
from algotransfer.networks.processors import MaxMPNN
from algotransfer.networks.weights import Draw, initialise

DEAD_ZONE = 0.1  # θ of smaller size gives a weight of 0 in `Relaxation`
MIN_DIRECTION = 0.02  # size from which a direction is used
SIMPLICITY = 0.3  # weight of the capped L1 loss on θ
SIMPLICITY_CAP = 0.3  # size of θ above which that loss is constant
KEEP_GAIN = 1e7  # gain of the comparison between a node's key and its best candidate
TIE_MARGIN = 5.0  # score by which a candidate is preferred to an equal key


@jax.custom_jvp
def sparse_weight(theta: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    """Return θ·max(0, |θ| − 0.1): exactly 0 for small θ, so that unnecessary terms vanish.

    The gradient inside the dead zone is that at its boundary, so that a term can reappear or change
    its sign.
    """
    return theta * jax.nn.relu(jnp.abs(theta) - DEAD_ZONE)


@sparse_weight.defjvp
def _sparse_weight_jvp(primals, tangents):
    (theta,), (tangent,) = primals, tangents
    slope = jnp.maximum(2 * jnp.abs(theta) - DEAD_ZONE, DEAD_ZONE)
    return sparse_weight(theta), slope * tangent


@final
class Relaxation(eqx.Module):
    """Learned `relax_edge` of one algorithm: the candidate key of a node through a neighbour.

    c_ij = x_j + Σ_k a_k φ_k with the terms φ = (1, x_j, w_ij, x_j(w_ij − 1), max(0, x_j − w_ij));
    on a self-loop it is the node's own key. Larger candidates are better if `direction` is above 0,
    smaller ones if it is below; it starts at 0, undecided.
    """

    theta: Float[Array, "1 5"]  # a = sparse_weight(theta)
    direction: Float[Array, "1 1"]

    @classmethod
    def create(cls, draw: Draw) -> "Relaxation":
        start = jnp.array([[0.2, -0.2, 0.4, 0.4, -0.4]])  # some of each term
        return cls(theta=start * (1 + 0.2 * draw(1, 5)), direction=jnp.zeros((1, 1)))

    @property
    def decided(self) -> Bool[Array, ""]:
        """Whether the direction is large enough to be used."""
        return jnp.abs(self.direction[0, 0]) > MIN_DIRECTION

    @property
    def weights(self) -> Float[Array, " terms"]:
        """Weights a of the terms."""
        return sparse_weight(self.theta[0])

    def candidates(self, key: Float[Array, " n"], layout: Layout) -> Scores:
        """Return c_ij on every edge; it has a gradient only once the direction is decided."""
        x = layout.sender_scores(key)
        weights = jnp.where(self.decided, self.weights, lax.stop_gradient(self.weights))
        terms = self.terms(x, layout.features[0])
        change = sum(a * term for a, term in zip(weights, terms, strict=True))
        return jnp.where(layout.is_loop, x, x + change)

    def terms(self, x: Scores, w: Scores) -> tuple[Scores | float, ...]:
        """Return φ on every edge, from the sender's key and the weight."""
        return 1.0, x, w, x * (w - 1), jax.nn.relu(x - w)


@final
class Selection(eqx.Module):
    """The weights that all algorithms share: choice of a candidate, and of the next node.

    Pointer scores are s_ij = g·d·(c_ij − c_best)/scale_i − u·[j not visited]: differences in units
    of the spread of i's candidates, since only their order matters. The score of the node itself
    says how much better its key is than the best candidate; an equal candidate wins.
    """

    choice: Float[Array, "1 3"]  # weights of the next-node logit: key (log), visited, 1
    gain: Float[Array, "1 1"]  # g (log)
    unvisited: Float[Array, "1 1"]  # u (log)
    settled: Float[Array, "1 1"]  # score of a visited node for its own key (log)

    @classmethod
    def create(cls, draw: Draw) -> "Selection":
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
        layout: Layout,
    ) -> Scores:
        """Return pointer scores; `visited` is None for a parallel algorithm."""
        fixed = lax.stop_gradient(candidates)
        is_edge, is_loop = layout.is_edge, layout.is_loop
        own = layout.receiver_scores(layout.sum_scores(jnp.where(is_loop, fixed, 0.0)))
        high, low = layout.max_scores(fixed, is_edge), -layout.max_scores(-fixed, is_edge)
        spread = high - low + 0.1 * jnp.maximum(high, -low) + 1e-20
        better = direction[0, 0] * (candidates - own) / layout.receiver_scores(spread)
        better_fixed = lax.stop_gradient(better)
        penalty = 0.0
        if visited is not None:
            penalty = jnp.exp(self.unvisited[0, 0]) * (1 - layout.sender_scores(visited))
        score = jnp.exp(self.gain[0, 0]) * better - penalty

        def best(values):  # over neighbours; 0 for a node without any
            top = layout.max_scores(values, is_edge & ~is_loop)
            return layout.receiver_scores(jnp.where(top == -jnp.inf, 0.0, top))

        # No gradient: it would change candidates so that they beat equal keys.
        lead = -best(KEEP_GAIN * better_fixed - penalty)
        stay = jnp.clip(lead, -2 * TIE_MARGIN, 2 * TIE_MARGIN) - TIE_MARGIN
        if visited is not None:
            stay = stay + jnp.exp(self.settled[0, 0]) * layout.receiver_scores(visited)
        return jnp.where(is_loop, stay, score - best(score))

    def next_node(self, key, direction: Float[Array, "1 1"], visited) -> Float[Array, " n"]:
        """Return next-node logits: nodes with a better key come first."""
        of_key, of_visited, bias = self.choice[0]
        return jnp.exp(of_key) * jnp.sign(direction[0, 0]) * key + of_visited * visited + bias


@final
class StopHead(eqx.Module):
    """The termination logit linear(max_i relu(W[x_i, key'_i, |key'_i − key_i|, 1]))."""

    first: Float[Array, "d h"]
    second: Float[Array, "h 1"]

    @classmethod
    def create(cls, algorithm: Algorithm, hidden: int, draw: Draw) -> "StopHead":
        return cls(first=draw(algorithm.framework.num_features + 3, hidden), second=draw(hidden, 1))

    def __call__(self, x: Float[Array, "n f"], key: Float[Array, " n"]) -> Float[Array, ""]:
        columns = [*x.T, key, jnp.abs(key - x[:, -1]), jnp.ones_like(key)]
        units = jax.nn.relu(jnp.stack(columns, axis=-1) @ self.first)
        return (jnp.max(units, axis=0) @ self.second)[0]


@final
class RelaxationAndHeads(eqx.Module):
    """The weights of the relaxation executor that belong to one algorithm."""

    relaxation: Relaxation
    bit: Float[Array, "1 2"]  # weights of the logit of a binary key: key, 1
    stop: StopHead

    @classmethod
    def create(cls, algorithm: Algorithm, hidden: int, draw: Draw) -> "RelaxationAndHeads":
        return cls(
            relaxation=Relaxation.create(draw),
            bit=jnp.array([[4.0, -2.0]]) + 0.1 * draw(1, 2),
            stop=StopHead.create(algorithm, hidden, draw),
        )


class RelaxationExecutor(Executor):
    """The relaxation executor: every node points at its best candidate and takes its value.

    pointer(i) = argmax_j s_ij over neighbours and self; key'_i = c_{i, pointer(i)}, with
    candidates from `Relaxation`, one per algorithm, and scores from `Selection`, which is shared.
    Its only state is that of the algorithm (key, visited); there is no hidden state that could
    drift or explode.
    """

    keeps_answer: ClassVar[bool] = True
    specialists: tuple["RelaxationAndHeads", ...]
    processors: tuple["Selection", ...]  # with summed scores
    algorithms: tuple[Algorithm, ...] = eqx.field(static=True)
    kinds: tuple[str, ...] = eqx.field(static=True)

    @classmethod
    def create(cls, algorithms, hidden, key, processor=MaxMPNN):
        """Return a new network; `hidden` is the width of the termination heads."""
        if processor is not MaxMPNN:
            raise UserError(
                f"processor {processor.__name__} with the relaxation executor, whose processor is "
                "fixed; leave the processor out, or use the model 'ne' or 'ne++'"
            )

        def build(draw: Draw) -> RelaxationExecutor:
            return cls(
                specialists=tuple(RelaxationAndHeads.create(a, hidden, draw) for a in algorithms),
                processors=(Selection.create(draw),),
                algorithms=algorithms,
                kinds=edge_kinds(algorithms),
            )

        return initialise(build, key)

    def start(self, layout):
        return ()

    def process(self, features, memory, layout):
        return (), tuple(self._step(task, x, layout) for task, x in enumerate(features))

    def decode(self, task, latent):
        return latent.hidden

    def scores(self, task, latent, layout):
        return self._select(task, latent.inputs, layout)[1]

    def terminate(self, task, latent, layout):
        # The termination loss must not change keys.
        x, y = lax.stop_gradient((latent.inputs, latent.hidden))
        return self.specialists[task].stop(x, y[:, -1])

    def priors(self, task):
        theta = self.specialists[task].relaxation.theta
        return {"simplicity": SIMPLICITY * jnp.sum(jnp.minimum(jnp.abs(theta), SIMPLICITY_CAP))}

    def for_task(self, task):
        part = {"specialists": (self.specialists[task],), "algorithms": (self.algorithms[task],)}
        return dataclasses.replace(self, **part)

    @property
    def independent(self):
        return True

    def straight_through(self, algorithm: Algorithm, scores: Scores) -> Scores:
        """Return scores with a gradient from errors of keys if keys are binary, else without.

        Losses of predecessors train the scores of all other algorithms. There, straight-through
        gradients would make a node whose key is too small prefer worse candidates, and the more so
        the larger the stand-in for ∞ is.
        """
        return scores if algorithm.binary else lax.stop_gradient(scores)

    def _select(self, task, x, layout) -> tuple[Layout, Scores, Scores]:
        """Return the algorithm's layout, pointer scores and candidates."""
        relaxation = self.specialists[task].relaxation
        layout = self.task_layout(task, layout)
        visited = x[:, 0] if self.algorithms[task].sequential else None
        candidates = relaxation.candidates(x[:, -1], layout)
        scores = [
            p.scores(candidates, relaxation.direction, visited, layout) for p in self.processors
        ]
        return layout, functools.reduce(jnp.add, scores), candidates

    def _step(self, task, x, layout) -> Latent:
        """Return the latent of one step: the features it started from, and y."""
        specialist, algorithm = self.specialists[task], self.algorithms[task]

        @jax.checkpoint  # the backward pass recomputes values on edges
        def read(self: RelaxationExecutor, x, layout):
            layout, scores, candidates = self._select(task, x, layout)
            scores = self.straight_through(algorithm, scores)
            decided = self.specialists[task].relaxation.decided
            return read_at_pointer(layout, scores, candidates, decided)

        key = read(self, x, layout)
        if algorithm.sequential:
            direction = specialist.relaxation.direction
            logits = [p.next_node(key, direction, x[:, 0]) for p in self.processors]
            return Latent(x, jnp.stack([functools.reduce(jnp.add, logits), key], axis=-1))
        if algorithm.binary:
            of_key, bias = specialist.bit[0]
            key = of_key * key + bias
        return Latent(x, key[:, None])


@jax.custom_vjp
def read_at_pointer(
    layout: Layout, scores: Scores, values: Scores, hard: Bool[Array, ""]
) -> Float[Array, " n"]:
    """Return values_{i, pointer(i)}, where pointer(i) is the arg-max over j of scores_ij.

    Straight-through: the backward pass uses the softmax of the scores instead of the pointer. If
    not `hard`, return the mean of the values under that softmax.
    """
    shares = jnp.where(hard, _one_hot_argmax(layout, scores), layout.softmax_scores(scores))
    return layout.sum_scores(shares * values)


def _one_hot_argmax(layout: Layout, scores: Scores) -> Scores:
    """Return 1 on the edge with the best score of each node (ties: lowest index), else 0."""
    pointer = layout.receiver_scores(layout.argmax(scores))
    hit = pointer == layout.sender_scores(jnp.arange(layout.num_nodes))
    return (layout.is_edge & hit).astype(scores.dtype)


def _forward(layout, scores, values, hard):
    return read_at_pointer(layout, scores, values, hard), (layout, scores, values, hard)


def _backward(saved, gradient):
    layout, scores, values, hard = saved
    soft, flow = layout.softmax_scores(scores), layout.receiver_scores(gradient)
    mean = layout.receiver_scores(layout.sum_scores(soft * values))
    d_scores = jnp.where(layout.is_edge, flow * soft * (values - mean), 0.0)
    d_values = flow * jnp.where(hard, _one_hot_argmax(layout, scores), soft)
    return None, d_scores, d_values, None


read_at_pointer.defvjp(_forward, _backward)
