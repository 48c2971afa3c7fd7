"""NE++, the Neural Executor++."""

from __future__ import annotations

import dataclasses
import functools

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from algotransfer.algorithms import Algorithm
from algotransfer.networks.checks import check_fresh
from algotransfer.networks.executor import FoldableExecutor, edge_kinds, num_features
from algotransfer.networks.folded import EdgeStage, Folded
from algotransfer.networks.layouts import Layout
from algotransfer.networks.parts import Heads, Latent, Processor, Termination
from algotransfer.networks.weights import Draw, initialise, split_rows


class EdgeEncoder(eqx.Module):
    """NE++'s latent encoder: a linear map plus a two-layer ReLU network, on every edge.

    q_ij = L[x_i, h_i, x_j, h_j, e_ij] + W₂ relu(W₁[x_i, h_i, x_j, h_j, e_ij]).
    """

    linear: Float[Array, "d q"]
    first: Float[Array, "d q"]
    second: Float[Array, "q q"]

    @classmethod
    def create(cls, node: int, hidden: int, draw: Draw) -> EdgeEncoder:
        inputs, outputs = 2 * node + hidden, 3 * hidden
        return cls(
            linear=draw(inputs, outputs),
            first=draw(inputs, outputs),
            second=draw(outputs, outputs),
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
    def create(cls, algorithm: Algorithm, hidden: int, draw: Draw) -> Specialist:
        node = num_features(algorithm) + hidden
        return cls(
            edge=draw(1, hidden),
            encoder=EdgeEncoder.create(node, hidden, draw),
            heads=Heads.create(node, hidden, algorithm, draw),
            termination=Termination.create(hidden, draw),
        )


class NEPlusPlus(FoldableExecutor):
    """The Neural Executor++: everything per algorithm, only the processor (M, U) shared.

    m_i = max_j M q_ij; h'_i = U[h_i, m_i]; y_i = D[x_i, h_i, h'_i], q_ij as in `EdgeEncoder`.
    """

    specialists: tuple[Specialist, ...]
    processors: tuple[Processor, ...]
    algorithms: tuple[Algorithm, ...] = eqx.field(static=True)
    kinds: tuple[str, ...] = eqx.field(static=True)
    folded_on = ("gpu",)  # on a CPU its plain steps are the faster ones

    @classmethod
    def create(
        cls, algorithms: tuple[Algorithm, ...], hidden: int, key: PRNGKeyArray
    ) -> NEPlusPlus:
        """A fresh network."""
        check_fresh(algorithms, hidden)

        def build(draw: Draw) -> NEPlusPlus:
            return cls(
                specialists=tuple(Specialist.create(a, hidden, draw) for a in algorithms),
                processors=(Processor.create(hidden, draw),),
                algorithms=algorithms,
                kinds=edge_kinds(algorithms),
            )

        return initialise(build, key)

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
                p.updated(h, messages(node, specialist.edge, specialist.encoder, p, own_layout))
                for p in self.processors
            ]
            hidden = functools.reduce(jnp.add, updates)
            latents.append(Latent(node, hidden))
        return tuple(latent.hidden for latent in latents), tuple(latents)

    def fold(self, free):
        (specialist,), (is_free,) = self.specialists, free
        encoder, edge, decoder = specialist.encoder, specialist.edge, specialist.heads.decoder
        hidden = edge.shape[1]
        node = (encoder.first.shape[0] - hidden) // 2
        own, other, hidden_edge = split_rows(encoder.first, node, node, hidden)
        keep = jnp.zeros((node, hidden))
        senders, along, seconds, updates = [], [], [], []
        for processor in self.processors:
            linear = split_rows(encoder.linear @ processor.message, node, node, hidden)
            hold, add = split_rows(processor.update, hidden, hidden)
            keep = (keep + linear[0] @ add).at[-hidden:].add(hold)
            senders.append(linear[1])
            along.append(edge @ linear[2])
            seconds.append(encoder.second @ processor.message)
            updates.append(add)
        decoders = [decoder] if is_free else []
        update = jnp.concatenate(updates)
        outputs = [keep @ d[node:] + d[:node] for d in decoders]
        return Folded(
            first=jnp.concatenate([own, other, *senders, keep, *outputs], axis=1),
            update=jnp.concatenate([update, *[update @ d[node:] for d in decoders]], axis=1),
            edge_stage=EdgeStage(tuple(along), edge @ hidden_edge, tuple(seconds)),
        )

    def own_layout(self, layout):
        return self._layout(0, layout)

    def latent(self, task, before, after, features):
        return Latent(jnp.concatenate([features[task], before], axis=-1), after)

    def decode(self, task, latent):
        return self.specialists[task].heads.decode(latent)

    def scores(self, task, latent, layout):
        specialist = self.specialists[task]
        return specialist.heads.scores(latent, specialist.edge, self._layout(task, layout))

    def terminate(self, task, latent, layout):
        specialist = self.specialists[task]
        return specialist.termination(latent.hidden, specialist.edge, self._layout(task, layout))

    def only(self, task):
        own = {"specialists": (self.specialists[task],), "algorithms": (self.algorithms[task],)}
        return dataclasses.replace(self, **own)

    @property
    def independent(self):
        return True

    def _layout(self, task, layout):
        kind = edge_kinds((self.algorithms[task],))[0]
        return layout.with_features((self.kinds.index(kind),))
