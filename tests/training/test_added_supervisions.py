"""Added supervisions: losses between graphs, and mistakes in registering them."""

import jax.numpy as jnp
import numpy as np
import pytest
from training.small import examples_of, graphs, networks

from algotransfer.algorithms import ALGORITHMS
from algotransfer.errors import UserError
from algotransfer.supervisions import SUPERVISIONS
from algotransfer.training.objective import Task, objective
from algotransfer.training.supervision import NoAlgorithm


class Spread(NoAlgorithm):
    """`na`, plus the variance of the graphs' mean hidden states."""

    name: str

    def embedding(self, network, task, layout, truth, latents):
        return jnp.mean(latents.hidden, axis=0, where=truth.reached[:, None])

    def batch_losses(self, embeddings, truths):
        assert embeddings.shape[0] == truths.length.shape[0]
        return {self.name: jnp.var(embeddings, axis=0).sum()}


def losses(supervision):
    tasks = (Task(ALGORITHMS["bellman_ford"], supervision),)
    network, _ = networks("ne", ("bellman_ford",))
    examples = examples_of(tasks, graphs(per_family=1), layout="dense")
    return objective(network, tasks, examples, None, "best")


def test_a_loss_between_graphs_is_added_to_the_loss_of_each():
    total, (named,) = losses(Spread("spread"))
    without, (parts,) = losses(NoAlgorithm())
    assert named.keys() - parts.keys() == {"spread"}
    assert float(named["spread"][0]) > 0
    np.testing.assert_allclose(total, without + named["spread"][0], rtol=1e-6)


def test_a_loss_between_graphs_does_not_replace_one_of_a_graph():
    with pytest.raises(UserError, match=r"both return key; give .* another name"):
        losses(Spread("key"))


def test_a_class_in_place_of_an_object_is_an_error():
    with pytest.raises(UserError, match="of type .*; expected an instance of Supervision"):
        SUPERVISIONS["spread"] = Spread
