"""`to_torch`: trained networks as PyTorch modules."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from algotransfer.errors import UserError
from algotransfer.networks import MaxMPNN
from algotransfer.networks.ne import NE
from algotransfer.networks.ne_plus_plus import NEPlusPlus
from algotransfer.training.examples import tasks_of
from algotransfer.training.runs import Model, load_model

if TYPE_CHECKING:
    from torch.nn import Module  # pyright: ignore[reportMissingImports]


def to_torch(model: str | Path | Model, seed: int | None = None) -> Module:
    """Convert a trained NE or NE++ to a `torch.nn.Module` with the same weights.

    Its `forward(edge_index, edge_weight, num_nodes=…, source=…, infinity=…, num_steps=…)` runs the
    network on its own outputs, and returns `key`, `pred` and `stop` of every step, equal to ours up
    to rounding. The weights are parameters, which torch can train further.

    **Arguments:**

    - `model`: a model, its name (see `list_models`), a run folder or a weights file.
    - `seed`: which of the model's networks; by default the first.
    """
    model = load_model(model)
    network: Any = model.network(model.seeds[0] if seed is None else seed)
    tasks = tasks_of(model.experiment)
    if network.independent:
        network, tasks = network.for_task(len(tasks) - 1), tasks[-1:]
    known = isinstance(network, NE | NEPlusPlus)
    if not known or not all(isinstance(p, MaxMPNN) for p in network.processors):
        experiment = model.experiment
        raise UserError(
            f"the network is {experiment.model!r} with the processor {experiment.processor!r}; "
            "to_torch converts 'ne' and 'ne++' with 'max_mpnn'"
        )
    try:
        from algotransfer.bridges import torch_modules
    except ImportError as error:
        raise ImportError(
            f"to_torch needs PyTorch ({error}); run `pip install torch` or `pip install '.[pyg]'` "
            "in the folder of algotransfer"
        ) from error
    module = torch_modules.NE if isinstance(network, NE) else torch_modules.NEPlusPlus
    return torch_modules.TorchExecutor(
        module(network),
        algorithms=[task.algorithm for task in tasks],
        kinds=network.kinds,
        carry_all=[task.supervision.carries_all(task.algorithm) for task in tasks],
    )
