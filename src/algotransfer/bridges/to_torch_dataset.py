"""`to_torch_dataset`: graphs with traces as a PyTorch `Dataset`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from algotransfer.algorithms import Algorithm
from algotransfer.datasets import Dataset

if TYPE_CHECKING:
    from algotransfer.bridges.torch_datasets import TraceDataset


def to_torch_dataset(dataset: Dataset, algorithm: str | Algorithm) -> TraceDataset:
    """Return graphs with the steps of an algorithm as a `torch.utils.data.Dataset`.

    Each item is a dictionary of tensors:

    - `weights` float32 [nodes, nodes], 0 where there is no edge; row u holds the edges from u;
    - `source`, `length` (steps until the algorithm ends), `num_nodes` (without padding) int64 [];
    - `key` float32 [steps, nodes] (inf where ∞), `pred` int64 [steps, nodes] (−1: none) and, for
      sequential algorithms, `visited` bool [steps, nodes].

    Shapes are equal for all graphs, so that PyTorch's `DataLoader` stacks them: if graphs have
    different sizes, the nodes from `num_nodes` on are padding, isolated and never reached. For
    large sparse graphs, or without padding, use `to_pyg`.
    """
    try:
        from algotransfer.bridges.torch_datasets import TraceDataset
    except ImportError as error:
        raise ImportError(
            f"to_torch_dataset needs PyTorch ({error}); run `pip install torch` or `pip install "
            "'.[pyg]'` in the folder of algotransfer"
        ) from error
    return TraceDataset(dataset.graphs, dataset.trace(algorithm), dataset.sizes)
