"""A network and a processor, as in the numbered examples."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from algotransfer.algorithms import Algorithm
from algotransfer.networks import Executor, Latent, MaxMPNN, Memory, Processor, edge_kinds
from algotransfer.networks.heads import Heads, Termination
from algotransfer.networks.processors import NodePairs, apply_processors
from algotransfer.networks.weights import initialise


class GatedExecutor(Executor):
    """h'_i = (1 − g_i) h_i + g_i p_i with p_i from the processor and g_i = σ(G[x_i, h_i])."""

    encoder: Float[Array, "inputs h"]
    gate: Float[Array, "inputs h"]
    edge: Float[Array, "kinds h"]
    processors: tuple[Processor, ...]
    heads: tuple[Heads, ...]
    termination: Termination
    algorithms: tuple[Algorithm, ...] = eqx.field(static=True)
    kinds: tuple[str, ...] = eqx.field(static=True)

    @classmethod
    def create(cls, algorithms, hidden, key, processor=MaxMPNN):
        inputs = sum(algorithm.framework.num_features for algorithm in algorithms) + hidden
        kinds = edge_kinds(algorithms)

        def build(draw):
            return cls(
                encoder=draw(inputs, hidden),
                gate=draw(inputs, hidden),
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
        inputs = jnp.concatenate([*features, memory.hidden], axis=-1)
        z, gate = inputs @ self.encoder, jax.nn.sigmoid(inputs @ self.gate)
        pairs = NodePairs(z, self.edge, layout)
        update, edge_states = apply_processors(
            self.processors, z, pairs, layout, memory.edge_states
        )
        hidden = (1 - gate) * memory.hidden + gate * update
        return Memory(hidden, edge_states), (Latent(z, hidden),) * len(self.algorithms)

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


class SumMPNN(Processor):
    """nodes'_i = U[nodes_i, Σ_j relu(M inputs_ij)]."""

    message: Float[Array, "three_h h"]
    update: Float[Array, "two_h h"]

    @classmethod
    def create(cls, hidden, draw):
        return cls(message=draw(3 * hidden, hidden), update=draw(2 * hidden, hidden))

    def __call__(self, nodes, inputs, layout, edge_state):
        messages = layout.sum(jax.nn.relu(inputs.linear(self.message)))
        return jnp.concatenate([nodes, messages], axis=-1) @ self.update, edge_state
