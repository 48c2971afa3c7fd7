"""The class of `to_torch_dataset`. Imports PyTorch."""

from __future__ import annotations

import numpy as np
import torch  # pyright: ignore[reportMissingImports]
from torch.utils.data import Dataset as TorchBase  # pyright: ignore[reportMissingImports]

from algotransfer.algorithms import Trace
from algotransfer.graphs.graph import Graph

DTYPES = {"key": np.float32, "pred": np.int64, "visited": np.bool_}


class TraceDataset(TorchBase):
    """Graphs with the trace of an algorithm; see `to_torch_dataset`."""

    def __init__(self, graphs: Graph, trace: Trace, sizes: np.ndarray):
        self.num_nodes = graphs.num_nodes
        self._edges = tuple(
            np.asarray(leaf) for leaf in (graphs.senders, graphs.receivers, graphs.weights)
        )
        self._sizes = sizes
        self._source, self._length = np.asarray(graphs.source), np.asarray(trace.length)
        steps = {"key": trace.key, "pred": trace.pred, "visited": trace.visited}
        self._steps = {
            name: np.asarray(array) for name, array in steps.items() if array is not None
        }

    def __len__(self) -> int:
        """Number of graphs."""
        return len(self._source)

    def __getitem__(self, index: int) -> dict[str, torch.Tensor]:
        """Tensors of one graph; their shapes are the same for all graphs."""
        if not -len(self) <= index < len(self):
            raise IndexError(f"there is no graph {index}; there are {len(self)}")
        senders, receivers, weights = (leaf[index] for leaf in self._edges)
        matrix = np.zeros((self.num_nodes + 1, self.num_nodes + 1), np.float32)
        matrix[senders, receivers] = weights  # padding points at a node that is cut off
        item = {
            "weights": torch.from_numpy(matrix[:-1, :-1].copy()),
            "source": torch.tensor(int(self._source[index])),
            "length": torch.tensor(int(self._length[index])),
            "num_nodes": torch.tensor(int(self._sizes[index])),
        }
        for name, array in self._steps.items():
            item[name] = torch.from_numpy(np.array(array[index], DTYPES[name]))
        return item
