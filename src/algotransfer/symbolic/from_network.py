"""The learned step of a relaxation executor as a program."""

from __future__ import annotations

import jax
import numpy as np

from algotransfer.errors import UserError
from algotransfer.networks.relax import RelaxationExecutor
from algotransfer.symbolic.expressions import Expression, linear_combination
from algotransfer.symbolic.program import StepProgram
from algotransfer.training import Model

# The terms of `Relaxation.terms`; the key comes first, so that steps read as `key + …`.
TERMS: tuple[Expression, ...] = (
    "key",
    1.0,
    "weight",
    ("mul", "key", ("sub", "weight", 1.0)),
    ("max", ("sub", "key", "weight"), 0.0),
)


def network_programs(model: Model) -> dict[int, StepProgram]:
    """Return the step that each seed of a trained `relax` has learned for its target."""
    networks = model.networks
    if not isinstance(networks, RelaxationExecutor):
        raise UserError(
            f"a step can be read off the model 'relax', but this is {model.experiment.model!r}; "
            "name a relax model, or a file that algotransfer discover wrote"
        )
    programs = {}
    for index, seed in enumerate(model.seeds):
        network = jax.tree.map(lambda leaf, index=index: leaf[index], networks)
        relaxation = network.specialists[-1].relaxation
        constant, key, *others = np.asarray(relaxation.weights).tolist()
        step = linear_combination([1 + key, constant, *others], TERMS)
        smaller = float(relaxation.direction[0, 0]) < 0
        programs[seed] = StepProgram(step, smaller, model.experiment.target)
    return programs
