"""`Ragged`: the edges of a batch as one list with offsets, without padding, as in data files."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float32, Int32, Int64

from algotransfer.errors import UserError
from algotransfer.graphs.graph import Graph, check_range


@dataclass(frozen=True, eq=False)
class Ragged:
    """The edges of all graphs, undirected ones in both directions, by graph, sender, receiver.

    The edges of graph g are `edge_offset[g]:edge_offset[g + 1]`; node ids are local to the graph.
    """

    edge_index: Int32[np.ndarray, "2 edges"]
    edge_offset: Int64[np.ndarray, " graphs_and_one"]
    edge_weight: Float32[np.ndarray, " edges"]

    @property
    def graph_id(self) -> Int64[np.ndarray, " edges"]:
        """Index of the graph of each edge."""
        count = np.diff(self.edge_offset)
        return np.repeat(np.arange(len(count)), count)


def to_ragged(graphs: Graph) -> Ragged:
    """Convert a batch to a list of edges without padding."""
    senders, receivers = np.asarray(graphs.senders), np.asarray(graphs.receivers)
    mask = np.asarray(graphs.edge_mask())
    return Ragged(
        edge_index=np.stack([senders[mask], receivers[mask]]).astype(np.int32),
        edge_offset=np.concatenate([[0], np.cumsum(mask.sum(axis=1))]).astype(np.int64),
        edge_weight=np.asarray(graphs.weights)[mask].astype(np.float32),
    )


def from_ragged(
    ragged: Ragged, source: Int32[np.ndarray, " graphs"], num_nodes: int, directed: bool
) -> Graph:
    """Convert a list of edges to a batch, padded to the largest number of edges."""
    count = np.diff(ragged.edge_offset)
    mask: Bool[np.ndarray, "graphs width"] = np.arange(count.max(initial=0)) < count[:, None]

    def padded(values, fill):
        out = np.full(mask.shape, fill, values.dtype)
        out[mask] = values
        return out

    return Graph(
        senders=padded(ragged.edge_index[0], num_nodes),
        receivers=padded(ragged.edge_index[1], num_nodes),
        weights=padded(ragged.edge_weight, 0),
        source=np.asarray(source, np.int32),
        num_nodes=num_nodes,
        directed=directed,
    )


def check_edges(ragged: Ragged, num_nodes: int, directed: bool) -> None:
    """Raise a `UserError` unless these are simple graphs with sorted edges."""
    offset = ragged.edge_offset
    if offset[0] != 0 or offset[-1] != len(ragged.edge_weight) or np.any(np.diff(offset) < 0):
        raise UserError("edge_offset must rise from 0 to the number of edges")
    if not np.all(np.isfinite(ragged.edge_weight)):
        raise UserError("an edge weight is not finite; expected finite numbers")
    index = ragged.edge_index
    check_range("edge_index", index, num_nodes)
    sender, receiver = index.astype(np.int64)
    if np.any(sender == receiver):
        raise UserError("an edge joins a node to itself; remove self-loops")
    row = ragged.graph_id * num_nodes
    cell = (row + sender) * num_nodes + receiver
    if np.any(np.diff(cell) <= 0):
        raise UserError("edges must be sorted by sender, then receiver, and not be listed twice")
    if directed:
        return
    reverse = (row + receiver) * num_nodes + sender
    order = np.argsort(reverse, kind="stable")
    one_way = not np.array_equal(reverse[order], cell)
    if one_way or np.any(ragged.edge_weight[order] != ragged.edge_weight):
        raise UserError("every edge must be listed in both directions with equal weights")
