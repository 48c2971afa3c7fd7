"""Convert graphs and traces to PyTorch Geometric `Data`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax
import numpy as np

from algotransfer.algorithms import Trace
from algotransfer.datasets import Dataset
from algotransfer.errors import UserError
from algotransfer.graphs.graph import Graph

if TYPE_CHECKING:
    from torch_geometric.data import Data  # pyright: ignore[reportMissingImports]


def to_pyg(graphs: Dataset | Graph, trace: Trace | None = None) -> list[Data]:
    """Convert graphs, and optionally a trace on them, to PyTorch Geometric.

    **Arguments:**

    - `graphs`: a dataset, a batch of graphs or a single graph.
    - `trace`: trace of one algorithm on these graphs, such as `dataset.trace("dijkstra")`.

    **Returns:** one `Data` per graph, without the padding nodes of `from_graphs`, with

    - `edge_index` int64 [2, edges], both directions; `edge_attr` float32 [edges, 1], the weight;
    - `source` int64 [1];
    - with a trace: `key` float32 [nodes, steps], `pred` int64 [nodes, steps] (−1 where there is
      none), `visited` bool [nodes, steps] (sequential algorithms), `length` int64 [1].

    Nodes come before steps because the loaders of PyTorch Geometric concatenate along the first
    axis. They shift `edge_index` only: `source` and `pred` remain indices within each graph.
    """
    torch, graph_class = _import()
    batch, sizes = (graphs, None) if isinstance(graphs, Graph) else (graphs.graphs, graphs.sizes)
    nodes = (*batch.batch_shape, batch.num_nodes)
    if trace is not None and trace.final_key.shape != nodes:
        raise UserError(
            f"the trace has final keys of shape {trace.final_key.shape}; expected {nodes}, graphs "
            "and nodes: give the trace of these graphs"
        )
    if not batch.batch_shape:
        batch, trace = jax.tree.map(lambda leaf: leaf[None], (batch, trace))

    def tensor(array, dtype):
        return torch.from_numpy(np.array(array, dtype))  # a copy, since torch shares memory

    edge = np.asarray(batch.edge_mask())
    senders, receivers = np.asarray(batch.senders), np.asarray(batch.receivers)
    weights, source = np.asarray(batch.weights), np.asarray(batch.source)
    sizes = np.full(len(batch), batch.num_nodes) if sizes is None else sizes
    steps = {} if trace is None else _nodes_first(trace)
    length = None if trace is None else np.asarray(trace.length)
    return [
        graph_class(
            num_nodes=int(sizes[g]),
            edge_index=tensor([senders[g][edge[g]], receivers[g][edge[g]]], np.int64),
            edge_attr=tensor(weights[g][edge[g], None], np.float32),
            source=tensor(source[g, None], np.int64),
            **{name: tensor(array[g, : sizes[g]], array.dtype) for name, array in steps.items()},
            **({} if length is None else {"length": tensor([length[g]], np.int64)}),
        )
        for g in range(len(batch))
    ]


def _import():
    try:
        import torch  # pyright: ignore[reportMissingImports]
        from torch_geometric.data import Data  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        raise ImportError(
            f"to_pyg needs PyTorch Geometric ({error}); run `pip install '.[pyg]'` in the folder "
            "of algotransfer"
        ) from error
    return torch, Data


def _nodes_first(trace: Trace) -> dict[str, np.ndarray]:
    """Return the trace as [graphs, nodes, steps] arrays; parallel ones have no `visited`."""
    steps = {"key": trace.key, "pred": trace.pred, "visited": trace.visited}
    dtypes = {"key": np.float32, "pred": np.int64, "visited": np.bool_}
    return {
        name: np.swapaxes(np.asarray(array, dtypes[name]), 1, 2)
        for name, array in steps.items()
        if array is not None
    }
