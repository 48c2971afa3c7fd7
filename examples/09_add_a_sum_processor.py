"""Add a processor: message passing with a sum instead of a maximum.

    python examples/09_add_a_sum_processor.py

A processor is a `Processor`: arrays, and one pure function from nodes and edge inputs to nodes.
NE and NE++ call it; transfer methods move and freeze it as a whole. An entry in `PROCESSORS` gives
it a name for `Experiment(processor=...)`.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from algotransfer import Experiment, evaluate, make_splits, train
from algotransfer.datasets import Preset
from algotransfer.networks import PROCESSORS, Processor


class SumMPNN(Processor):
    """nodes'_i = U[nodes_i, Σ_j relu(M inputs_ij)].

    Gilmer et al., *Neural message passing for quantum chemistry*, ICML 2017.
    """

    message: Float[Array, "three_h h"]
    update: Float[Array, "two_h h"]

    @classmethod
    def create(cls, hidden, draw):
        return cls(message=draw(3 * hidden, hidden), update=draw(2 * hidden, hidden))

    def __call__(self, nodes, inputs, layout, edge_state):
        messages = layout.sum(jax.nn.relu(inputs.linear(self.message)))
        return jnp.concatenate([nodes, messages], axis=-1) @ self.update, edge_state


PROCESSORS["sum_mpnn"] = SumMPNN

if __name__ == "__main__":
    splits = make_splits(Preset(train=100, validation=20, test=20, num_nodes=8, test_sizes=(16,)))
    for model in ("ne", "ne++"):
        experiment = Experiment(
            model=model,
            processor="sum_mpnn",
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
