"""Add a transfer method: two processors as in the paper, but both are trained.

    python examples/06_add_a_transfer_method.py

A method is data: the origin of each processor (`base` was trained on the base algorithm, `fresh` is
newly initialised), and which of them are frozen. Their outputs are summed.
"""

import numpy as np

from algotransfer import Experiment, make_splits, train
from algotransfer.datasets import Preset
from algotransfer.training.transfer import METHODS, TransferMethod

METHODS["two_learning"] = TransferMethod(processors=("base", "fresh"), frozen=(False, False))

splits = make_splits(Preset(train=64, validation=16, test=16, num_nodes=8, test_sizes=(8,)))
experiment = Experiment(
    target="reliable_par",
    supervision="na",
    method="two_learning",
    base=("widest_par",),
    hidden=8,
    batch_size=32,
    max_epochs=5,
)

# The base model is an experiment too, trained first with teacher forcing, in its own folder.
before = experiment.pretraining()
assert before is not None
_, base = train(before, seeds=2, data=splits, folder="runs/examples")
_, model = train(experiment, seeds=2, data=splits, folder="runs/examples")
assert base is not None
assert model is not None

print(f"{experiment.name} starts from {before.name}")
(start,) = base.network(seed=0).processors
learned, _ = model.network(seed=0).processors
moved = float(np.abs(learned.message - start.message).max())
print(f"seed 0: the base's messages changed by up to {moved:.4f}; `two_processor` freezes them")
print(f"seed 0: the best validation loss was {model.card['validation_loss'][0]:.3f}")
