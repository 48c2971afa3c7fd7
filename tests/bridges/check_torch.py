"""Runs where PyTorch is installed (see test_to_torch.py): `to_torch` against our own networks."""

import sys

import jax
import numpy as np
import torch

from algotransfer import load_model, sample_graphs, to_torch
from algotransfer.evaluation.harness import FreeRun, target_only
from algotransfer.training.examples import tasks_of

STEPS, NODES, INFINITY = 6, 8, 3.0

for name in sys.argv[1:]:
    model = load_model(name)
    networks = jax.tree.map(lambda leaf: leaf[None], model.network(model.seeds[1]))
    networks, tasks = target_only(networks, tasks_of(model.experiment))
    graphs = sample_graphs("er", 2, NODES, split="test")
    free_run = FreeRun.untold(networks, tasks, [INFINITY] * len(tasks), STEPS, len(graphs))
    ours = free_run.run(graphs, np.arange(len(graphs)), "steps")
    module = to_torch(model, seed=model.seeds[1])
    for g in range(len(graphs)):
        graph = graphs[g]
        edge = np.asarray(graph.edge_mask())
        theirs = module(
            torch.tensor(np.stack([graph.senders[edge], graph.receivers[edge]]), dtype=torch.int64),
            torch.tensor(graph.weights[edge]),
            num_nodes=NODES,
            source=int(graph.source),
            infinity=INFINITY,
            num_steps=STEPS,
        )
        for field, mine in (("key", ours.key), ("stop", ours.stop)):
            expected, found = np.asarray(mine[0, g]), getattr(theirs, field).detach().numpy()
            error = np.max(np.abs(found - expected)) / max(1, np.max(np.abs(expected)))
            assert error < 1e-5, f"{name}: {field} differs by {error:.1e}"
        np.testing.assert_array_equal(theirs.pred.numpy(), np.asarray(ours.pointer[0, g]))
    theirs.stop.sum().backward()
    assert all(p.grad is not None for p in module.network.processors.parameters())
    print(name)
