"""NE, the Neural Executor."""

from __future__ import annotations

from typing import final

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from algotransfer.algorithms import Algorithm
from algotransfer.networks.executor import FoldableExecutor, Memory, edge_kinds
from algotransfer.networks.folded import EdgeStage, Folded
from algotransfer.networks.heads import Heads, Latent, Termination
from algotransfer.networks.processors import MaxMPNN, NodePairs, Processor, apply_processors
from algotransfer.networks.weights import Draw, initialise, split_rows


@final
class NE(FoldableExecutor):
    """The Neural Executor: one encoder and one hidden state for all algorithms together.

    z_i = E[x_i, h_i]; m_i = max_j M[z_i, z_j, e_ij]; h'_i = U[z_i, m_i] + z_i; y_i = D[z_i, h'_i].
    M and U are the processor's, here the default `MaxMPNN`. Features of several algorithms are
    concatenated; each algorithm has its own heads, termination is shared.
    Veličković et al., *Neural execution of graph algorithms*, ICLR 2020, as changed by the paper.
    """

    encoder: Float[Array, "_f+h h"]
    edge: Float[Array, "f h"]
    processors: tuple[Processor, ...]
    heads: tuple[Heads, ...]
    termination: Termination
    algorithms: tuple[Algorithm, ...] = eqx.field(static=True)
    kinds: tuple[str, ...] = eqx.field(static=True)
    folded_on = ("cpu", "gpu")

    @classmethod
    def create(cls, algorithms, hidden, key, processor=MaxMPNN):
        width = sum(algorithm.framework.num_features for algorithm in algorithms)
        kinds = edge_kinds(algorithms)

        def build(draw: Draw) -> NE:
            return cls(
                encoder=draw(width + hidden, hidden),
                edge=draw(len(kinds), hidden),
                processors=(processor.create(hidden, draw),),
                heads=tuple(Heads.create(hidden, hidden, a, draw) for a in algorithms),
                termination=Termination.create(hidden, draw),
                algorithms=algorithms,
                kinds=kinds,
            )

        return initialise(build, key)

    def start(self, layout):
        return Memory.zero(self.edge.shape[1], self.processors, layout)

    def process(self, features, memory, layout):
        z = self._encode(jnp.concatenate(features, axis=-1), memory.hidden)
        inputs = NodePairs(z, self.edge, layout)
        update, edge_states = apply_processors(
            self.processors, z, inputs, layout, memory.edge_states
        )
        hidden = z + update
        return Memory(hidden, edge_states), (Latent(z, hidden),) * len(self.algorithms)

    def fold(self, free):
        hidden = self.edge.shape[1]
        keep, senders, edges, updates = self.encoder, [], [], []
        for processor in self.processors:
            assert isinstance(processor, MaxMPNN)  # see `can_fold`
            receiver, sender, edge = split_rows(processor.message, *[hidden] * 3)
            hold, add = split_rows(processor.update, hidden, hidden)
            keep = keep + self.encoder @ (hold + receiver @ add)
            senders.append(self.encoder @ sender)
            edges.append(self.edge @ edge)
            updates.append(add)
        decoders = [h.decoder for h, is_free in zip(self.heads, free, strict=True) if is_free]
        update = jnp.concatenate(updates)
        outputs = [keep @ d[hidden:] + self.encoder @ d[:hidden] for d in decoders]
        return Folded(
            first=jnp.concatenate([*senders, keep, *outputs], axis=1),
            update=jnp.concatenate([update, *[update @ d[hidden:] for d in decoders]], axis=1),
            edge_stage=EdgeStage(tuple(edges)),
        )

    def folded_layout(self, layout):
        return layout

    def latent(self, task, before, after, features):
        return Latent(self._encode(jnp.concatenate(features, axis=-1), before), after)

    def decode(self, task, latent):
        return self.heads[task].decode(latent)

    def scores(self, task, latent, layout):
        return self.heads[task].scores(latent, self.edge, layout)

    def terminate(self, task, latent, layout):
        return self.termination(latent.hidden, self.edge, layout)

    def for_task(self, task):
        return self  # the encoder reads all algorithms together

    @property
    def independent(self):
        return len(self.algorithms) == 1

    def _encode(self, x, h):
        from_x, from_h = split_rows(self.encoder, x.shape[-1], h.shape[-1])
        return x @ from_x + h @ from_h
