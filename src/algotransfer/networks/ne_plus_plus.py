"""NE++, the Neural Executor++."""

import dataclasses
from functools import partial
from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from algotransfer.algorithms import Algorithm
from algotransfer.networks.executor import FoldableExecutor, Memory, edge_kinds
from algotransfer.networks.folded import EdgeStage, Folded
from algotransfer.networks.heads import Heads, Latent, Termination
from algotransfer.networks.layouts import Layout
from algotransfer.networks.layouts.base import KEPT
from algotransfer.networks.processors import EdgeInputs, MaxMPNN, Processor, apply_processors
from algotransfer.networks.weights import Draw, initialise, split_rows


@final
class EdgeEncoder(eqx.Module):
    """NE++'s latent encoder: a linear map plus a two-layer ReLU network, on every edge.

    q_ij = L[x_i, h_i, x_j, h_j, e_ij] + W₂ relu(W₁[x_i, h_i, x_j, h_j, e_ij]).
    """

    linear: Float[Array, "d q"]
    first: Float[Array, "d q"]
    second: Float[Array, "q q"]

    @classmethod
    def create(cls, node: int, hidden: int, draw: Draw) -> "EdgeEncoder":
        inputs, outputs = 2 * node + hidden, 3 * hidden
        return cls(
            linear=draw(inputs, outputs), first=draw(inputs, outputs), second=draw(outputs, outputs)
        )


@final
class EncodedPairs(EdgeInputs):
    """q_ij on every edge. Matrices are multiplied into L and W₂, so that q itself is not formed."""

    encoder: EdgeEncoder
    nodes: Float[Array, "n d"]  # [x_i, h_i]
    edge: Float[Array, "f h"]
    layout: Layout

    def linear(self, matrix):
        # Two lists rather than one of twice the width: XLA fuses each with its consumer.
        hidden = jax.nn.relu(self._on_edges(self.encoder.first))
        linear = self._on_edges(self.encoder.linear @ matrix)
        return linear + hidden @ (self.encoder.second @ matrix)

    def max_linear(self, matrix):
        # The backward pass recomputes the hidden layer of every edge instead of storing it.
        @partial(jax.checkpoint, policy=jax.checkpoint_policies.save_only_these_names(KEPT))
        def max_over_edges(self: EncodedPairs, matrix):
            return self.layout.max(self.linear(matrix))

        return max_over_edges(self, matrix)

    def _on_edges(self, matrix):
        node = self.nodes.shape[-1]
        receiver, sender, edge = split_rows(matrix, node, node, self.edge.shape[-1])
        return self.layout.pairs(self.nodes @ receiver, self.nodes @ sender, self.edge @ edge)


@final
class EncoderAndHeads(eqx.Module):
    """The weights of NE++ that belong to one algorithm."""

    edge: Float[Array, "1 h"]
    encoder: EdgeEncoder
    heads: Heads
    termination: Termination

    @classmethod
    def create(cls, algorithm: Algorithm, hidden: int, draw: Draw) -> "EncoderAndHeads":
        node = algorithm.framework.num_features + hidden
        return cls(
            edge=draw(1, hidden),
            encoder=EdgeEncoder.create(node, hidden, draw),
            heads=Heads.create(node, hidden, algorithm, draw),
            termination=Termination.create(hidden, draw),
        )


@final
class NEPlusPlus(FoldableExecutor):
    """The Neural Executor++: all weights per algorithm, except the shared processor.

    m_i = max_j M q_ij; h'_i = U[h_i, m_i]; y_i = D[x_i, h_i, h'_i], with q_ij from `EdgeEncoder`.
    M and U are the processor's, here the default `MaxMPNN`.
    """

    specialists: tuple["EncoderAndHeads", ...]
    processors: tuple[Processor, ...]
    algorithms: tuple[Algorithm, ...] = eqx.field(static=True)
    kinds: tuple[str, ...] = eqx.field(static=True)
    folded_on = ("gpu",)

    @classmethod
    def create(cls, algorithms, hidden, key, processor=MaxMPNN):
        def build(draw: Draw) -> NEPlusPlus:
            return cls(
                specialists=tuple(EncoderAndHeads.create(a, hidden, draw) for a in algorithms),
                processors=(processor.create(hidden, draw),),
                algorithms=algorithms,
                kinds=edge_kinds(algorithms),
            )

        return initialise(build, key)

    def start(self, layout):
        return tuple(
            Memory.zero(s.edge.shape[1], self.processors, layout) for s in self.specialists
        )

    def process(self, features, memory, layout):
        memories, latents = [], []
        for task, (specialist, x, before) in enumerate(
            zip(self.specialists, features, memory, strict=True)
        ):
            nodes = jnp.concatenate([x, before.hidden], axis=-1)
            task_layout = self.task_layout(task, layout)
            inputs = EncodedPairs(specialist.encoder, nodes, specialist.edge, task_layout)
            hidden, edge_states = apply_processors(
                self.processors, before.hidden, inputs, task_layout, before.edge_states
            )
            memories.append(Memory(hidden, edge_states))
            latents.append(Latent(nodes, hidden))
        return tuple(memories), tuple(latents)

    def fold(self, free):
        (specialist,), (is_free,) = self.specialists, free
        encoder, edge, decoder = specialist.encoder, specialist.edge, specialist.heads.decoder
        hidden = edge.shape[1]
        node = (encoder.first.shape[0] - hidden) // 2
        receiver, sender, hidden_edge = split_rows(encoder.first, node, node, hidden)
        keep = jnp.zeros((node, hidden))
        senders, edges, seconds, updates = [], [], [], []
        for processor in self.processors:
            assert isinstance(processor, MaxMPNN)  # see `can_fold`
            linear = split_rows(encoder.linear @ processor.message, node, node, hidden)
            hold, add = split_rows(processor.update, hidden, hidden)
            keep = (keep + linear[0] @ add).at[-hidden:].add(hold)
            senders.append(linear[1])
            edges.append(edge @ linear[2])
            seconds.append(encoder.second @ processor.message)
            updates.append(add)
        decoders = [decoder] if is_free else []
        update = jnp.concatenate(updates)
        outputs = [keep @ d[node:] + d[:node] for d in decoders]
        return Folded(
            first=jnp.concatenate([receiver, sender, *senders, keep, *outputs], axis=1),
            update=jnp.concatenate([update, *[update @ d[node:] for d in decoders]], axis=1),
            edge_stage=EdgeStage(tuple(edges), edge @ hidden_edge, tuple(seconds)),
        )

    def folded_layout(self, layout):
        return self.task_layout(0, layout)

    def latent(self, task, before, after, features):
        return Latent(jnp.concatenate([features[task], before], axis=-1), after)

    def decode(self, task, latent):
        return self.specialists[task].heads.decode(latent)

    def scores(self, task, latent, layout):
        specialist, layout = self.specialists[task], self.task_layout(task, layout)
        return specialist.heads.scores(latent, specialist.edge, layout)

    def terminate(self, task, latent, layout):
        specialist, layout = self.specialists[task], self.task_layout(task, layout)
        return specialist.termination(latent.hidden, specialist.edge, layout)

    def for_task(self, task):
        part = {"specialists": (self.specialists[task],), "algorithms": (self.algorithms[task],)}
        return dataclasses.replace(self, **part)

    @property
    def independent(self):
        return True
