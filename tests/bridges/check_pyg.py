"""Runs where PyTorch Geometric is installed (see test_pyg.py) and prints what it has checked."""

import jax
import numpy as np
import torch
from torch_geometric.loader import DataLoader

from algotransfer.bridges.pyg import to_pyg
from algotransfer.datasets import from_graphs, make_dataset

GRAPHS, NODES = 6, 7
dataset = make_dataset("er", GRAPHS, NODES)


def equal(tensor: torch.Tensor, array, dtype: torch.dtype) -> None:
    assert tensor.dtype == dtype, tensor.dtype
    np.testing.assert_array_equal(tensor.numpy(), array)


for algorithm in ("dijkstra", "bellman_ford"):
    trace = dataset.trace(algorithm)
    exported = to_pyg(dataset, trace)
    assert len(exported) == GRAPHS
    for g, data in enumerate(exported):
        assert data.validate()
        assert data.is_undirected()
        assert not data.has_self_loops()
        assert data.num_nodes == NODES
        matrix = np.zeros((NODES, NODES), np.float32)
        matrix[tuple(data.edge_index.numpy())] = data.edge_attr[:, 0].numpy()
        np.testing.assert_array_equal(matrix, dataset.graphs[g].weight_matrix())
        assert data.num_edges == 2 * dataset.graphs[g].num_edges()
        equal(data.source, [dataset.graphs.source[g]], torch.int64)
        equal(data.key, np.asarray(trace.key[g]).T, torch.float32)
        equal(data.pred, np.asarray(trace.pred[g]).T, torch.int64)
        equal(data.length, [trace.length[g]], torch.int64)
        if trace.visited is None:
            assert "visited" not in data
        else:
            equal(data.visited, np.asarray(trace.visited[g]).T, torch.bool)

    (batch,) = DataLoader(exported, batch_size=GRAPHS)
    assert batch.validate()
    assert batch.key.shape == (GRAPHS * NODES, NODES + 1)
    assert batch.source.shape == batch.length.shape == (GRAPHS,)
    # The relaxed keys of step 1, by message passing on the joined graph: all nodes at once.
    if algorithm == "bellman_ford":
        sender, receiver = batch.edge_index
        candidate = batch.key[sender, 0] + batch.edge_attr[:, 0]
        key = batch.key[:, 0].scatter_reduce(0, receiver, candidate, "amin")
        equal(key, batch.key[:, 1].numpy(), torch.float32)
    print(algorithm)

(single,) = to_pyg(dataset.graphs[2], dataset.trace("dijkstra")[2])
twin = to_pyg(dataset, dataset.trace("dijkstra"))[2]
assert all(torch.equal(single[name], twin[name]) for name in ("edge_index", "key", "length"))

mixed = from_graphs([make_dataset("er", 1, size).graphs for size in (5, 9)])
exported = to_pyg(mixed, mixed.trace("dijkstra"))
assert [data.num_nodes for data in exported] == [5, 9]  # without padding
assert [data.key.shape for data in exported] == [(5, 10), (9, 10)]
assert [data.length.shape for data in exported] == [(1,), (1,)]
assert exported[0].validate()
(batch,) = DataLoader(exported, batch_size=2)
assert batch.pred.shape == (14, 10)

on_device = jax.tree.map(jax.numpy.asarray, dataset.graphs)
plain = to_pyg(on_device)
assert sorted(plain[0].keys()) == ["edge_attr", "edge_index", "num_nodes", "source"]
plain[0].edge_attr.zero_()  # the export is a copy: changing it leaves the graphs alone
assert dataset.graphs.weights[0].max() > 0
print("plain")
