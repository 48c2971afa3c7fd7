"""A network of your own: NE with the ReLU that the paper took out of the processor.

    python examples/07_add_a_network.py

A network is an `Executor`: weights, and pure methods for one step and for the heads. To change one
of them, inherit from NE or NE++; to change everything, read `algotransfer/networks/ne.py`. A line
in `MODELS` gives the network a name, and training, transfer and evaluation work with it, by the
steps that are written here.
"""

import jax
import jax.numpy as jnp

from algotransfer import Experiment, evaluate, make_splits, train
from algotransfer.datasets import Preset
from algotransfer.networks import MODELS, NE, Latent
from algotransfer.networks.weights import split_rows


class ReluNE(NE):
    """h'_i = relu(U[z_i, m_i]) + z_i."""

    def process(self, features, memory, layout):
        x = jnp.concatenate(features, axis=-1)
        from_x, from_h = split_rows(self.encoder, x.shape[-1], memory.shape[-1])
        z = x @ from_x + memory @ from_h
        update = sum(p.from_nodes(z, self.edge, layout) for p in self.processors)
        hidden = z + jax.nn.relu(update)
        return hidden, (Latent(z, hidden),) * len(self.algorithms)


MODELS["ne-relu"] = ReluNE

splits = make_splits(Preset(train=100, validation=20, test=20, num_nodes=8, test_sizes=(16,)))
experiment = Experiment(
    model="ne-relu",
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
