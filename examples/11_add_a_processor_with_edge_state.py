"""Add a processor that keeps a state on edges from step to step (Triplet-GMPNN).

    python examples/11_add_a_processor_with_edge_state.py

Triplets of nodes need memory of order n³, so this processor is for small graphs.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from algotransfer import Experiment, evaluate, make_splits, train
from algotransfer.datasets import Preset
from algotransfer.networks import PROCESSORS, Processor

TRIPLET_WIDTH = 8


class TripletGMPNN(Processor):
    """Messages along edges that first exchange information within triplets of nodes.

    s'_ij = tanh(A inputs_ij + S s_ij + max_k (B inputs_ik + C inputs_kj));
    m_i = max_j relu(M inputs_ij + E s'_ij); g_i = σ(G[nodes_i, m_i]);
    nodes'_i = (1 − g_i) nodes_i + g_i U[nodes_i, m_i].
    The maximum over k takes nodes with edges to both i and j, among them i and j themselves.
    Ibarz et al., *A generalist neural algorithmic learner*, LoG 2022; here s is also recurrent.
    """

    pair: Float[Array, "three_h t"]  # A
    first: Float[Array, "three_h t"]  # B
    second: Float[Array, "three_h t"]  # C
    state: Float[Array, "t t"]  # S
    message: Float[Array, "three_h h"]  # M
    edge: Float[Array, "t h"]  # E
    gate: Float[Array, "two_h h"]  # G
    update: Float[Array, "two_h h"]  # U

    @classmethod
    def create(cls, hidden, draw):
        return cls(
            pair=draw(3 * hidden, TRIPLET_WIDTH),
            first=draw(3 * hidden, TRIPLET_WIDTH),
            second=draw(3 * hidden, TRIPLET_WIDTH),
            state=draw(TRIPLET_WIDTH, TRIPLET_WIDTH),
            message=draw(3 * hidden, hidden),
            edge=draw(TRIPLET_WIDTH, hidden),
            gate=draw(2 * hidden, hidden),
            update=draw(2 * hidden, hidden),
        )

    def start(self, layout):
        return jnp.zeros((len(layout.i), TRIPLET_WIDTH))

    def __call__(self, nodes, inputs, layout, edge_state):
        def as_matrix(values):  # [i, j, t]
            shape = (layout.num_nodes, layout.num_nodes, TRIPLET_WIDTH)
            return jnp.full(shape, -jnp.inf).at[layout.i, layout.j].set(values, mode="drop")

        to_k, from_k = (as_matrix(inputs.linear(each)) for each in (self.first, self.second))
        triplets = jnp.max(to_k[:, :, None] + from_k[None], axis=1)  # over k
        best = triplets.at[layout.i, layout.j].get(mode="clip")
        edge_state = jnp.tanh(inputs.linear(self.pair) + edge_state @ self.state + best)

        messages = jax.nn.relu(inputs.linear(self.message) + edge_state @ self.edge)
        both = jnp.concatenate([nodes, layout.max(messages)], axis=-1)
        gate = jax.nn.sigmoid(both @ self.gate)
        return (1 - gate) * nodes + gate * (both @ self.update), edge_state


PROCESSORS["triplet_gmpnn"] = TripletGMPNN

if __name__ == "__main__":
    splits = make_splits(Preset(train=100, validation=20, test=20, num_nodes=8, test_sizes=(16,)))
    for model in ("ne", "ne++"):
        experiment = Experiment(
            model=model,
            processor="triplet_gmpnn",
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
