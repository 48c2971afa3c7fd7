"""NE, the Neural Executor."""

from __future__ import annotations

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from algotransfer.algorithms import Algorithm
from algotransfer.networks.checks import check_fresh
from algotransfer.networks.executor import FoldableExecutor, edge_kinds, num_features
from algotransfer.networks.folded import EdgeStage, Folded
from algotransfer.networks.parts import Heads, Latent, Processor, Termination
from algotransfer.networks.weights import Draw, initialise, split_rows


class NE(FoldableExecutor):
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
    folded_on = ("cpu", "gpu")

    @classmethod
    def create(cls, algorithms: tuple[Algorithm, ...], hidden: int, key: PRNGKeyArray) -> NE:
        """A fresh network."""
        check_fresh(algorithms, hidden)
        width = sum(num_features(algorithm) for algorithm in algorithms)
        kinds = edge_kinds(algorithms)

        def build(draw: Draw) -> NE:
            return cls(
                encoder=draw(width + hidden, hidden),
                edge=draw(len(kinds), hidden),
                processors=(Processor.create(hidden, draw),),
                heads=tuple(Heads.create(hidden, hidden, a, draw) for a in algorithms),
                termination=Termination.create(hidden, draw),
                algorithms=algorithms,
                kinds=kinds,
            )

        return initialise(build, key)

    def start(self, num_nodes):
        return jnp.zeros((num_nodes, self.edge.shape[1]))

    def process(self, features, memory, layout):
        z = self._encode(jnp.concatenate(features, axis=-1), memory)
        hidden = z + sum(p.from_nodes(z, self.edge, layout) for p in self.processors)
        return hidden, (Latent(z, hidden),) * len(self.algorithms)

    def fold(self, free):
        hidden = self.edge.shape[1]
        keep, senders, along, updates = self.encoder, [], [], []
        for processor in self.processors:
            own, other, edge = split_rows(processor.message, *[hidden] * 3)
            hold, add = split_rows(processor.update, hidden, hidden)
            keep = keep + self.encoder @ (hold + own @ add)
            senders.append(self.encoder @ other)
            along.append(self.edge @ edge)
            updates.append(add)
        decoders = [h.decoder for h, is_free in zip(self.heads, free, strict=True) if is_free]
        update = jnp.concatenate(updates)
        outputs = [keep @ d[hidden:] + self.encoder @ d[:hidden] for d in decoders]
        return Folded(
            first=jnp.concatenate([*senders, keep, *outputs], axis=1),
            update=jnp.concatenate([update, *[update @ d[hidden:] for d in decoders]], axis=1),
            edge_stage=EdgeStage(tuple(along)),
        )

    def latent(self, task, before, after, features):
        return Latent(self._encode(jnp.concatenate(features, axis=-1), before), after)

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

    def _encode(self, x, h):
        from_x, from_h = split_rows(self.encoder, x.shape[-1], h.shape[-1])
        return x @ from_x + h @ from_h
