"""Families of SALSA-CLRS (Minder et al., 2023): Watts–Strogatz and Delaunay graphs.

The parameters are those of its test sets (`SALSA_CLRS_DATASETS` in `salsaclrs/data.py` of
https://github.com/jkminder/SALSA-CLRS). Random numbers, labels, weights and sources are ours, as
for the other families.
"""

import numpy as np
from jaxtyping import Bool, Int

from algotransfer.errors import UserError
from algotransfer.graphs.families import Edges, Options, check_size
from algotransfer.graphs.streams import Stream

LATTICE_DEGREES = (4, 6, 8)
REWIRING = (0.05, 0.2)  # range of the probability
MAX_ROUNDS = 100  # of drawing new ends; in a small graph there may be no free one left


def watts_strogatz(stream: Stream, num_graphs: int, num_nodes: int, options: Options) -> Edges:
    """Sample connected Watts–Strogatz graphs: a ring of degree 4, 6 or 8, with some edges moved.

    The degree (less than n) and the probability of moving an edge, 0.05 to 0.2, are drawn for each
    graph. A moved edge keeps one end; the other is uniform over the nodes that are not joined to
    it. A graph that is not connected, or has no free place for a moved edge, is drawn again.
    """
    degrees = np.array([degree for degree in LATTICE_DEGREES if degree < num_nodes])
    if not degrees.size:
        raise UserError(
            f"num_nodes is {num_nodes}; expected at least {min(LATTICE_DEGREES) + 1} for ws"
        )
    check_size(num_graphs, num_nodes, num_nodes * degrees.mean() / 2)
    half = degrees[stream.integers(num_graphs, below=len(degrees))] // 2
    low, high = REWIRING
    probability = low + (high - low) * stream.uniform(num_graphs)

    graph_id = np.repeat(np.arange(num_graphs), half * num_nodes)
    start = np.cumsum(half * num_nodes) - half * num_nodes
    edge = np.arange(len(graph_id)) - start[graph_id]
    near = edge % num_nodes
    ring = (near + edge // num_nodes + 1) % num_nodes

    far = ring.copy()
    pending = np.ones(num_graphs, bool)
    while pending.any():
        drawn = np.flatnonzero(pending[graph_id])
        moved = stream.uniform(len(drawn)) < probability[graph_id[drawn]]
        ends = np.stack([near[drawn], ring[drawn]])
        far[drawn], left = _move(stream, graph_id[drawn], ends, moved, num_nodes)
        pending = ~_connected(graph_id, np.stack([near, far]), num_graphs, num_nodes)
        pending[graph_id[drawn[left]]] = True
    return graph_id, np.stack([near, far])


def _move(
    stream: Stream,
    graph_id: Int[np.ndarray, " edges"],
    ends: Int[np.ndarray, "2 edges"],
    moved: Bool[np.ndarray, " edges"],
    num_nodes: int,
) -> tuple[Int[np.ndarray, " edges"], Int[np.ndarray, " left"]]:
    """Return the second ends, new ones where an edge is moved, and the edges without a place."""
    near, far = ends[0], ends[1].copy()
    left = np.flatnonzero(moved)
    for _ in range(MAX_ROUNDS):
        if not left.size:
            break
        far[left] = stream.integers(left.size, below=num_nodes)
        pair = (graph_id * num_nodes + np.minimum(near, far)) * num_nodes + np.maximum(near, far)
        # Edges that stay come first, then moved ones in the order of the ring: later pairs yield.
        order = np.lexsort((np.arange(len(pair)), moved, pair))
        repeated = np.zeros(len(pair), bool)
        repeated[order[1:]] = pair[order[1:]] == pair[order[:-1]]
        left = np.flatnonzero(moved & (repeated | (near == far)))
    return far, left


def _connected(
    graph_id: Int[np.ndarray, " edges"],
    ends: Int[np.ndarray, "2 edges"],
    num_graphs: int,
    num_nodes: int,
) -> Bool[np.ndarray, " graphs"]:
    """Return which graphs are connected."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    size, (first, second) = num_graphs * num_nodes, graph_id * num_nodes + ends
    joined = coo_array((np.ones(len(first), np.int8), (first, second)), (size, size))
    _, component = connected_components(joined, directed=False)
    component = component.reshape(num_graphs, num_nodes)
    return (component == component[:, :1]).all(axis=1)


def delaunay(stream: Stream, num_graphs: int, num_nodes: int, options: Options) -> Edges:
    """Sample Delaunay triangulations of points that are uniform in the unit square."""
    from scipy.spatial import Delaunay

    if num_nodes < 3:
        raise UserError(f"num_nodes is {num_nodes}; expected at least 3 for delaunay")
    check_size(num_graphs, num_nodes, 3 * num_nodes)
    graph_id, ends = [], []
    for graph, points in enumerate(stream.uniform(num_graphs, num_nodes, 2)):
        corners = Delaunay(points).simplices.astype(np.int64)
        pairs = np.sort(np.concatenate([corners[:, [0, 1]], corners[:, 1:], corners[:, [0, 2]]]))
        # Sorted, since the order of triangles may change with the release of Qhull.
        pair = np.unique(pairs @ [num_nodes, 1])
        graph_id.append(np.full(len(pair), graph))
        ends.append(np.stack([pair // num_nodes, pair % num_nodes]))
    return np.concatenate(graph_id), np.concatenate(ends, axis=1)
