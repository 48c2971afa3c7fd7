"""Add a processor with attention over neighbours (GATv2).

Run with: python examples/10_add_an_attention_processor.py
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from algotransfer import Experiment, evaluate, make_splits, train
from algotransfer.datasets import Preset
from algotransfer.networks import PROCESSORS, Processor


class GATv2(Processor):
    """nodes'_i = U[nodes_i, Σ_j α_ij V inputs_ij], α_ij = softmax_j (a · LeakyReLU(W inputs_ij)).

    Brody et al., *How attentive are graph attention networks?*, ICLR 2022; with one head.
    """

    query: Float[Array, "three_h h"]
    attention: Float[Array, "h 1"]
    value: Float[Array, "three_h h"]
    update: Float[Array, "two_h h"]

    @classmethod
    def create(cls, hidden, draw):
        return cls(
            query=draw(3 * hidden, hidden),
            attention=draw(hidden, 1),
            value=draw(3 * hidden, hidden),
            update=draw(2 * hidden, hidden),
        )

    def __call__(self, nodes, inputs, layout, edge_state):
        scores = jax.nn.leaky_relu(inputs.linear(self.query), 0.2) @ self.attention
        messages = layout.sum(layout.softmax(scores) * inputs.linear(self.value))
        return jnp.concatenate([nodes, messages], axis=-1) @ self.update, edge_state


PROCESSORS["gatv2"] = GATv2

if __name__ == "__main__":
    splits = make_splits(Preset(train=100, validation=20, test=20, num_nodes=8, test_sizes=(16,)))
    for model in ("ne", "ne++"):
        experiment = Experiment(
            model=model,
            processor="gatv2",
            target="bellman_ford",
            supervision="tf",
            hidden=16,
            batch_size=32,
            learning_rate=3e-3,
            max_epochs=10,
        )
        _, trained = train(experiment, seeds=2, data=splits, folder="runs/examples")
        assert trained is not None
        table = evaluate(trained, splits.test)
        network = table[table["hop"].isna()].query("metric == 'pred' and row == 'network'")
        error = network["value"].mean()
        print(f"{experiment.name}: {error:.3f} wrong predecessors (2 seeds, graphs of 16 nodes)")
