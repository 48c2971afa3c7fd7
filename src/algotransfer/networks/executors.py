"""NE and NE++: encode, process, decode; for one algorithm or several at once.

An executor is a pytree of weight matrices and four pure methods that a rollout calls:
`start` (memory of step 0), `process` (one step), and the heads `decode`, `scores`, `terminate`.
"""

from __future__ import annotations

import functools
from abc import abstractmethod
from typing import Generic, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from algotransfer.algorithms import Algorithm
from algotransfer.networks.layouts import Layout, Scores

Memory = TypeVar("Memory")


def glorot(key: PRNGKeyArray, inputs: int, outputs: int) -> Float[Array, "{inputs} {outputs}"]:
    """A weight matrix, Glorot-uniform over the whole matrix; applied as `x @ matrix`."""
    limit = (6 / (inputs + outputs)) ** 0.5
    return jax.random.uniform(key, (inputs, outputs), minval=-limit, maxval=limit)


def split_rows(matrix: Float[Array, "rows *h"], *sizes: int) -> list[Float[Array, "_ *h"]]:
    """Cuts a matrix that acts on a concatenation into the parts that act on each piece."""
    ends = [sum(sizes[: k + 1]) for k in range(len(sizes))]
    assert ends[-1] == matrix.shape[0], f"pieces {sizes} do not fill {matrix.shape[0]} rows"
    return [matrix[end - size : end] for end, size in zip(ends, sizes, strict=True)]


class Processor(eqx.Module):
    """The shared max-MPNN: linear messages M, an element-wise max, a linear update U."""

    message: Float[Array, "_3h h"]
    update: Float[Array, "_2h h"]

    @classmethod
    def create(cls, hidden: int, key: PRNGKeyArray) -> Processor:
        message, update = jax.random.split(key)
        return cls(glorot(message, 3 * hidden, hidden), glorot(update, 2 * hidden, hidden))

    @property
    def hidden(self) -> int:
        """Width of the hidden state."""
        return self.message.shape[1]

    def from_nodes(self, node: Float[Array, "n h"], edge: Float[Array, "f h"], layout: Layout):
        """U[node_i, max_j M[node_i, node_j, e_ij]] with e_ij = Σ_f feature_fij · edge_f.

        A linear map of a concatenation is a sum of maps of its pieces, so that the max runs over
        M₂node_j + (M₃A)w_ij alone and M₁node_i is added after it.
        """
        own, other, along = split_rows(self.message, *[self.hidden] * 3)
        best = layout.max_plus(node @ other, edge @ along)
        return self._update(node, node @ own + best)

    def _update(self, node, message):
        keep, add = split_rows(self.update, self.hidden, self.hidden)
        return node @ keep + message @ add


class Latent(eqx.Module):
    """What a step leaves for the heads: what the decoder reads beside h', and h' itself."""

    inputs: Float[Array, "n d"]
    hidden: Float[Array, "n h"]


class Termination(eqx.Module):
    """σ(linear(mean_i of an own max-MPNN of h')): whether this was the last step."""

    processor: Processor
    linear: Float[Array, "h 1"]

    @classmethod
    def create(cls, hidden: int, key: PRNGKeyArray) -> Termination:
        processor, linear = jax.random.split(key)
        return cls(Processor.create(hidden, processor), glorot(linear, hidden, 1))

    def __call__(self, hidden, edge, layout: Layout) -> Float[Array, ""]:
        return jnp.mean(self.processor.from_nodes(hidden, edge, layout) @ self.linear)


class Heads(eqx.Module):
    """What one algorithm reads off the latent: outputs y and predecessor scores."""

    decoder: Float[Array, "d y"]
    predecessor: Float[Array, "_2h 1"]

    @classmethod
    def create(cls, inputs: int, hidden: int, algorithm: Algorithm, key: PRNGKeyArray) -> Heads:
        decoder, predecessor = jax.random.split(key)
        outputs = 2 if algorithm.sequential else 1
        return cls(glorot(decoder, inputs + hidden, outputs), glorot(predecessor, 2 * hidden, 1))

    def decode(self, latent: Latent) -> Float[Array, "n y"]:
        first, second = split_rows(self.decoder, latent.inputs.shape[-1], latent.hidden.shape[-1])
        return latent.inputs @ first + latent.hidden @ second

    def scores(self, latent: Latent, edge: Float[Array, "f h"], layout: Layout) -> Scores:
        """s_ij = S[h'_j, e_ij]."""
        hidden = latent.hidden.shape[-1]
        sender, along = split_rows(self.predecessor[:, 0], hidden, hidden)
        return layout.scores(latent.hidden @ sender, edge @ along)


class Executor(eqx.Module, Generic[Memory]):
    """A network that executes one or several algorithms step by step."""

    algorithms: eqx.AbstractVar[tuple[Algorithm, ...]]
    processors: eqx.AbstractVar[tuple[Processor, ...]]  # their outputs are summed
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

    @abstractmethod
    def only(self, task: int) -> Executor:
        """The part of the network that one algorithm needs when it runs without the others."""

    @property
    @abstractmethod
    def independent(self) -> bool:
        """Whether an algorithm's execution does not depend on those trained beside it."""


def edge_kinds(algorithms: tuple[Algorithm, ...]) -> tuple[str, ...]:
    """The kinds of edge feature that algorithms see, each once, in order."""
    return tuple(dict.fromkeys("weight" if a.weighted else "one" for a in algorithms))


def num_features(algorithm: Algorithm) -> int:
    """Width of a node's features: (visited, key) or (key)."""
    return 2 if algorithm.sequential else 1


class NE(Executor):
    """The Neural Executor: one encoder and one hidden state for all algorithms together.

    z_i = E[x_i, h_i]; m_i = max_j M[z_i, z_j, e_ij]; h'_i = U[z_i, m_i] + z_i; y_i = D[z_i, h'_i].
    Features of several algorithms are concatenated; each has its own heads, termination is shared.
    Veličković et al., *Neural execution of graph algorithms*, ICLR 2020, as changed by the paper.
    """

    encoder: Float[Array, "_f+h h"]
    edge: Float[Array, "f h"]
    processors: tuple[Processor, ...]
    heads: tuple[Heads, ...]
    termination: Termination
    algorithms: tuple[Algorithm, ...] = eqx.field(static=True)
    kinds: tuple[str, ...] = eqx.field(static=True)

    @classmethod
    def create(cls, algorithms: tuple[Algorithm, ...], hidden: int, key: PRNGKeyArray) -> NE:
        encoder, edge, processor, heads, termination = jax.random.split(key, 5)
        width = sum(num_features(algorithm) for algorithm in algorithms)
        return cls(
            encoder=glorot(encoder, width + hidden, hidden),
            edge=glorot(edge, len(edge_kinds(algorithms)), hidden),
            processors=(Processor.create(hidden, processor),),
            heads=tuple(
                Heads.create(hidden, hidden, algorithm, jax.random.fold_in(heads, k))
                for k, algorithm in enumerate(algorithms)
            ),
            termination=Termination.create(hidden, termination),
            algorithms=algorithms,
            kinds=edge_kinds(algorithms),
        )

    def start(self, num_nodes):
        return jnp.zeros((num_nodes, self.edge.shape[1]))

    def process(self, features, memory, layout):
        x = jnp.concatenate(features, axis=-1)
        from_x, from_h = split_rows(self.encoder, x.shape[-1], memory.shape[-1])
        z = x @ from_x + memory @ from_h
        hidden = z + sum(p.from_nodes(z, self.edge, layout) for p in self.processors)
        return hidden, (Latent(z, hidden),) * len(self.algorithms)

    def decode(self, task, latent):
        return self.heads[task].decode(latent)

    def scores(self, task, latent, layout):
        return self.heads[task].scores(latent, self.edge, layout)

    def terminate(self, task, latent, layout):
        return self.termination(latent.hidden, self.edge, layout)

    def only(self, task):
        return self  # the encoder reads all algorithms together

    @property
    def independent(self):
        return len(self.algorithms) == 1


class EdgeEncoder(eqx.Module):
    """NE++'s latent encoder: a linear map plus a two-layer ReLU network, on every edge.

    q_ij = L[x_i, h_i, x_j, h_j, e_ij] + W₂ relu(W₁[x_i, h_i, x_j, h_j, e_ij]).
    """

    linear: Float[Array, "d q"]
    first: Float[Array, "d q"]
    second: Float[Array, "q q"]

    @classmethod
    def create(cls, node: int, hidden: int, key: PRNGKeyArray) -> EdgeEncoder:
        linear, first, second = jax.random.split(key, 3)
        inputs, outputs = 2 * node + hidden, 3 * hidden
        return cls(
            glorot(linear, inputs, outputs),
            glorot(first, inputs, outputs),
            glorot(second, outputs, outputs),
        )

    def messages(self, node, edge, processor: Processor, layout: Layout) -> Float[Array, "n h"]:
        """max_j M q_ij, with M multiplied into L and W₂ so that q itself is never made."""

        def on_edges(matrix):
            own, other, along = split_rows(matrix, node.shape[-1], node.shape[-1], edge.shape[-1])
            return layout.pairs(node @ own, node @ other, edge @ along)

        # Two lists rather than one twice as wide: each is fused into what reads it.
        hidden = jax.nn.relu(on_edges(self.first))
        linear = on_edges(self.linear @ processor.message)
        return layout.max(linear + hidden @ (self.second @ processor.message))


class Specialist(eqx.Module):
    """All of NE++ that belongs to one algorithm."""

    edge: Float[Array, "1 h"]
    encoder: EdgeEncoder
    heads: Heads
    termination: Termination

    @classmethod
    def create(cls, algorithm: Algorithm, hidden: int, key: PRNGKeyArray) -> Specialist:
        edge, encoder, heads, termination = jax.random.split(key, 4)
        node = num_features(algorithm) + hidden
        return cls(
            edge=glorot(edge, 1, hidden),
            encoder=EdgeEncoder.create(node, hidden, encoder),
            heads=Heads.create(node, hidden, algorithm, heads),
            termination=Termination.create(hidden, termination),
        )


class NEPlusPlus(Executor):
    """The Neural Executor++: everything per algorithm, only the processor (M, U) shared.

    m_i = max_j M q_ij; h'_i = U[h_i, m_i]; y_i = D[x_i, h_i, h'_i], q_ij as in `EdgeEncoder`.
    """

    specialists: tuple[Specialist, ...]
    processors: tuple[Processor, ...]
    algorithms: tuple[Algorithm, ...] = eqx.field(static=True)
    kinds: tuple[str, ...] = eqx.field(static=True)

    @classmethod
    def create(
        cls, algorithms: tuple[Algorithm, ...], hidden: int, key: PRNGKeyArray
    ) -> NEPlusPlus:
        processor, specialists = jax.random.split(key)
        return cls(
            specialists=tuple(
                Specialist.create(algorithm, hidden, jax.random.fold_in(specialists, k))
                for k, algorithm in enumerate(algorithms)
            ),
            processors=(Processor.create(hidden, processor),),
            algorithms=algorithms,
            kinds=edge_kinds(algorithms),
        )

    def start(self, num_nodes):
        return tuple(jnp.zeros((num_nodes, s.edge.shape[1])) for s in self.specialists)

    def process(self, features, memory, layout):
        latents = []
        for task, (specialist, x, h) in enumerate(
            zip(self.specialists, features, memory, strict=True)
        ):
            node = jnp.concatenate([x, h], axis=-1)
            own_layout = self._layout(task, layout)
            # Per-edge activations are made again in the backward pass instead of being kept.
            messages = jax.checkpoint(
                lambda node, edge, encoder, processor, layout: encoder.messages(
                    node, edge, processor, layout
                )
            )
            updates = [
                p._update(h, messages(node, specialist.edge, specialist.encoder, p, own_layout))
                for p in self.processors
            ]
            hidden = functools.reduce(jnp.add, updates)
            latents.append(Latent(node, hidden))
        return tuple(latent.hidden for latent in latents), tuple(latents)

    def decode(self, task, latent):
        return self.specialists[task].heads.decode(latent)

    def scores(self, task, latent, layout):
        specialist = self.specialists[task]
        return specialist.heads.scores(latent, specialist.edge, self._layout(task, layout))

    def terminate(self, task, latent, layout):
        specialist = self.specialists[task]
        return specialist.termination(latent.hidden, specialist.edge, self._layout(task, layout))

    def only(self, task):
        return NEPlusPlus(
            specialists=(self.specialists[task],),
            processors=self.processors,
            algorithms=(self.algorithms[task],),
            kinds=self.kinds,
        )

    @property
    def independent(self):
        return True

    def _layout(self, task, layout):
        kind = edge_kinds((self.algorithms[task],))[0]
        return layout.with_features((self.kinds.index(kind),))


MODELS: dict[str, type[NE] | type[NEPlusPlus]] = {"ne": NE, "ne++": NEPlusPlus}
