"""The training horizon of a model: the longest rollout of its training."""

import numpy as np

from algotransfer.algorithms import run
from algotransfer.datasets import make_dataset
from algotransfer.errors import UserError
from algotransfer.training.examples import tasks_of
from algotransfer.training.runs import Model

FEW = 100  # graphs that are run first; one of them often takes the most steps possible


def training_horizon(model: Model) -> int:
    """Return the most steps that the target ran on any training graph.

    Weights that do not record it are looked up by sampling their training graphs again.
    """
    if "horizon" in model.card:
        return int(model.card["horizon"])
    arguments = dict(model.card["data"]["train"])
    if "graphs_sha256" in arguments:
        raise UserError(
            "this model was trained on graphs that cannot be sampled again, and its weights do "
            "not record how many steps they took; choose halt='settled'"
        )
    graphs = make_dataset(arguments.pop("graph"), **arguments).graphs
    target = tasks_of(model.experiment)[-1]
    length = np.zeros(1, np.int32)
    for some in (graphs[:FEW], graphs):
        if length.max() < graphs.num_nodes:  # no algorithm takes more steps than nodes
            length = np.asarray(run(target.algorithm, some, record="final").length)
    return int(target.supervision.training_steps(length, model.experiment.extra_steps).max())
