"""Add a network: an executor with a gated hidden state.

    python examples/07_add_a_network.py

A network is an `Executor`: weights, and pure methods for one step and for the heads, written for
one graph. An entry in `MODELS` gives it a name; training, transfer and evaluation then work with
it. To change only the message passing, add a processor instead (examples 09 to 11).
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from algotransfer import Experiment, evaluate, make_splits, train
from algotransfer.algorithms import Algorithm
from algotransfer.datasets import Preset
from algotransfer.networks import (
    MODELS,
    Executor,
    Latent,
    MaxMPNN,
    Memory,
    Processor,
    edge_kinds,
)
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


MODELS["gated"] = GatedExecutor

if __name__ == "__main__":
    splits = make_splits(Preset(train=100, validation=20, test=20, num_nodes=8, test_sizes=(16,)))
    experiment = Experiment(
        model="gated",
        target="bellman_ford",
        supervision="tf",
        hidden=16,
        batch_size=32,
        learning_rate=3e-3,
        max_epochs=20,
    )
    _, model = train(experiment, seeds=2, data=splits, folder="runs/examples")
    assert model is not None
    table = evaluate(model, splits.test)
    rows = table[table["hop"].isna()].query("metric == 'pred'")
    print(f"{experiment.name}: wrong predecessors on graphs of 16 nodes")
    for row, share in rows.groupby("row")["value"].mean().items():
        print(f"{row:18}{share:.3f}")
