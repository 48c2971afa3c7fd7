"""Runs where PyTorch is installed (see test_to_torch.py): `to_torch_dataset` against its source."""

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

from algotransfer import from_graphs, make_dataset, to_torch_dataset

dataset = make_dataset(("er", "delaunay"), 5, 9, split="test")
for algorithm in ("dijkstra", "bellman_ford"):
    trace, ours = dataset.trace(algorithm), to_torch_dataset(dataset, algorithm)
    assert isinstance(ours, Dataset)
    assert len(ours) == len(dataset) == 10
    (batch,) = DataLoader(ours, batch_size=10)
    np.testing.assert_array_equal(batch["weights"], dataset.graphs.weight_matrix())
    np.testing.assert_array_equal(batch["source"], dataset.graphs.source)
    np.testing.assert_array_equal(batch["length"], trace.length)
    assert (batch["num_nodes"] == 9).all()
    np.testing.assert_array_equal(batch["key"], trace.key)
    np.testing.assert_array_equal(batch["pred"], trace.pred)
    assert batch["key"].dtype == torch.float32
    assert batch["pred"].dtype == torch.int64
    assert ("visited" in batch) == (trace.visited is not None)
    if trace.visited is not None:
        np.testing.assert_array_equal(batch["visited"], trace.visited)
    ours[3]["weights"].zero_()  # a copy: changing it leaves the graphs alone
    assert ours[3]["weights"].any()
    assert len(list(ours)) == 10  # iteration ends with an IndexError
    print(algorithm)

mixed = from_graphs([make_dataset("er", 1, size).graphs for size in (5, 9)])
small, large = to_torch_dataset(mixed, "dijkstra")
assert (int(small["num_nodes"]), int(large["num_nodes"])) == (5, 9)
assert small["weights"].shape == large["weights"].shape == (9, 9)
assert not small["weights"][5:].any()
assert (small["pred"][:, 5:] == -1).all()
