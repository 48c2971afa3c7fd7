"""Node positions for pictures and pages: grids as grids, other graphs by distance."""

from itertools import combinations

import networkx
import numpy as np
from jaxtyping import Float, Int
from scipy.sparse.csgraph import connected_components, dijkstra

from algotransfer.graphs import Graph, to_networkx, to_scipy
from algotransfer.graphs.named import unique_edges

KAMADA_KAWAI_MAX_NODES = 100  # above it, the spring layout is much faster
SPRING_ITERATIONS = 60
MIN_DISTANCE = 0.5  # between two nodes; the median edge has length 1
SEPARATION_STEPS = 40
ASPECT_RATIO = 1.5  # width by height to which graphs other than grids are stretched

Positions = Float[np.ndarray, "nodes 2"]


def place_nodes(graph: Graph) -> Positions:
    """Return positions of the nodes of a single graph; equal graphs have equal positions.

    The longer side is horizontal. The y axis points down, and the source lies in the upper left
    quarter, so that an execution is read like text.
    """
    grid = grid_positions(graph)
    if grid is not None:
        return _orient(grid, int(graph.source))
    positions = _orient(_component_positions(graph), int(graph.source))
    width, height = np.ptp(positions, axis=0)
    return positions * (max(1.0, ASPECT_RATIO * height / max(width, 1e-9)), 1.0)


def grid_positions(graph: Graph) -> Positions | None:
    """Return column and row of each node of a grid of at least 2 × 2, None for other graphs."""
    edges = np.array([(u, v) for u, v, _ in unique_edges(graph)], int).reshape(-1, 2).T
    degree = np.bincount(edges.ravel(), minlength=graph.num_nodes)
    corners = np.flatnonzero(degree == 2)
    if len(corners) != 4:
        return None
    hops = dijkstra(to_scipy(graph), indices=corners, unweighted=True)  # corners × nodes
    if not np.isfinite(hops).all():
        return None
    for first, second in combinations(range(4), 2):
        # Sum and difference of the distances to two corners on one side of a grid are twice the
        # row and twice the column, up to the length of that side.
        side = hops[first][corners[second]]
        column = hops[first] - hops[second] + side
        row = hops[first] + hops[second] - side
        positions = np.stack([column, row], axis=1) / 2
        if _is_grid(positions, edges):
            return positions
    return None


def _is_grid(positions: Positions, edges: Int[np.ndarray, "2 pairs"]) -> bool:
    """Return whether nodes fill a rectangle and the edges are exactly those of a grid."""
    columns, rows = positions.max(axis=0) + 1
    steps = np.abs(positions[edges[0]] - positions[edges[1]]).sum(axis=1)
    return bool(
        ((positions >= 0) & (positions % 1 == 0)).all()
        and len(np.unique(positions, axis=0)) == len(positions) == rows * columns
        and edges.shape[1] == rows * (columns - 1) + columns * (rows - 1)
        and (steps == 1).all()
    )


def _component_positions(graph: Graph) -> Positions:
    """Place each connected component by itself: the largest on top, the others in a row below."""
    network = to_networkx(graph)
    _, component = connected_components(to_scipy(graph), directed=False)
    positions, left, top = np.zeros((graph.num_nodes, 2)), 0.0, 0.0
    for label in np.argsort(-np.bincount(component), kind="stable"):
        members = np.flatnonzero(component == label)
        part = _place_component(network.subgraph(members.tolist()), members)
        if top == 0.0:
            top = float(part[:, 1].max()) + 1
        else:
            part += (left, top)
            left = float(part[:, 0].max()) + 1
        positions[members] = part
    return positions


def _place_component(network: networkx.Graph, members: Int[np.ndarray, " members"]) -> Positions:
    if len(members) <= KAMADA_KAWAI_MAX_NODES:
        placed = networkx.kamada_kawai_layout(network, weight=None)
    else:
        placed = networkx.spring_layout(network, iterations=SPRING_ITERATIONS, weight=None, seed=0)
    positions = np.array([placed[node] for node in members.tolist()])
    lengths = [np.linalg.norm(placed[u] - placed[v]) for u, v in network.edges] or [1.0]
    centred = positions - positions.mean(axis=0)
    _, _, axes = np.linalg.svd(centred.T @ centred)
    positions = _separate(positions @ axes.T / max(float(np.median(lengths)), 1e-9))
    return positions - positions.min(axis=0)


def _separate(positions: Positions) -> Positions:
    """Push nodes that would overlap away from each other."""
    for _ in range(SEPARATION_STEPS):
        away = positions[:, None] - positions[None]  # [v, u]: from u to v
        distance = np.linalg.norm(away, axis=-1) + np.eye(len(positions)) * MIN_DISTANCE
        push = np.clip(MIN_DISTANCE - distance, 0, None) / np.maximum(distance, 1e-6)
        positions = positions + 0.4 * np.einsum("vu,vud->vd", push, away)
    return positions


def _orient(positions: Positions, source: int) -> Positions:
    """Centre the positions, turn the longer side horizontal and the source to the upper left."""
    positions = positions - (positions.min(axis=0) + positions.max(axis=0)) / 2
    width, height = np.ptp(positions, axis=0)
    if height > width:
        positions = positions[:, ::-1]
    return positions * np.where(positions[source] > 0, -1.0, 1.0)
