"""A supervision with a loss between the graphs of a batch.

    python examples/12_add_a_supervision.py

The network learns from answers alone, as with `na`. In addition, the mean hidden states of two
graphs should be close if the farthest nodes of both are about equally far from their sources, and
far apart otherwise: their distances are trained to equal the difference of the largest keys.
"""

import jax.numpy as jnp

from algotransfer import Experiment, make_splits, train
from algotransfer.datasets import Preset
from algotransfer.supervisions import SUPERVISIONS
from algotransfer.training.supervision import NoAlgorithm


class MetricLearning(NoAlgorithm):
    """`na`, plus a loss on distances between the embeddings of graphs."""

    def embedding(self, network, task, layout, truth, latents):
        # One vector per graph; nodes out of reach may be padding.
        return jnp.mean(latents.hidden, axis=0, where=truth.reached[:, None])

    def batch_losses(self, embeddings, truths):
        difference = embeddings[:, None] - embeddings[None, :]  # [batch, batch, h]
        distance = jnp.sqrt(jnp.sum(difference**2, axis=-1) + 1e-6)
        largest = jnp.max(jnp.where(truths.reached, truths.key[:, -1], 0.0), axis=-1)
        wanted = jnp.abs(largest[:, None] - largest[None, :])
        return {"distance": jnp.mean((distance - wanted) ** 2)}


SUPERVISIONS["na_metric"] = MetricLearning()

splits = make_splits(Preset(train=64, validation=16, test=16, num_nodes=8, test_sizes=(8,)))
experiment = Experiment(
    target="bellman_ford",
    supervision="na_metric",
    hidden=8,
    batch_size=32,
    max_epochs=8,
    learning_rate=3e-3,
)
losses = []
folder, model = train(
    experiment,
    seeds=2,
    data=splits,
    folder="runs/examples",
    resume=False,
    reporters=[lambda rows, speed: losses.append(rows[0]["train_0_distance"])],
)
print(f"trained {experiment.name} in {folder}")
print(f"seed 0: the loss between graphs went from {losses[0]:.3f} to {losses[-1]:.3f}")
