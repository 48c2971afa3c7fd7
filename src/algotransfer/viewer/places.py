"""Where nodes are drawn: grids as grids, other graphs such that neighbours lie close together."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from jaxtyping import Float, Int

from algotransfer.draw import arrange
from algotransfer.graphs import Graph, to_networkx

DISTANCES_UP_TO = 100  # nodes; above it, springs are much faster than distances of all pairs
ITERATIONS = 60
ASPECT = 1.5  # width by height to which graphs that are no grids are stretched: so are screens

Places = Float[np.ndarray, "nodes 2"]


def place_nodes(graph: Graph) -> Places:
    """Places such that the longer side lies flat; equal graphs have equal places."""
    grid = grid_places(graph)
    if grid is not None:
        return _turned(grid, int(graph.source))
    near = graph.num_nodes <= DISTANCES_UP_TO
    places = _turned(arrange(graph) if near else spring_places(graph), int(graph.source))
    width, height = np.ptp(places, axis=0)
    return places * (max(1.0, ASPECT * height / max(width, 1e-9)), 1.0)


def grid_places(graph: Graph) -> Places | None:
    """Rows and columns of a grid with at least two of each, or None for any other graph."""
    edges = _edges(graph)
    degree = np.bincount(edges.ravel(), minlength=graph.num_nodes)
    corners = np.flatnonzero(degree == 2)
    if len(corners) != 4:
        return None
    hops = {corner: _hops(graph.num_nodes, edges, corner) for corner in corners.tolist()}
    for first, second in combinations(hops, 2):
        # In a grid the sums and differences of these hops are twice the row and the column.
        row = hops[first] + hops[second] - hops[first][second]
        column = hops[first] - hops[second] + hops[first][second]
        places = np.stack([column, row], axis=1) / 2
        if _is_grid(places, edges):
            return places
    return None


def spring_places(graph: Graph) -> Places:
    """Neighbours pull, others push; each connected part on its own, small ones below the first."""
    import networkx

    network = to_networkx(graph)
    parts = sorted(networkx.connected_components(network), key=len, reverse=True)
    places, left, top = np.zeros((graph.num_nodes, 2)), 0.0, 0.0
    for part in parts:
        members = sorted(part)
        drawn = networkx.spring_layout(
            network.subgraph(members), iterations=ITERATIONS, weight=None, seed=0
        )
        spot = np.array([drawn[node] for node in members])
        spot = spot / max(float(np.ptp(spot)), 1e-9) * np.sqrt(len(members) / graph.num_nodes)
        spot -= spot.min(axis=0)
        if part is parts[0]:
            top = float(spot[:, 1].max()) + 0.08
        else:
            spot += (left, top)
            left = float(spot[:, 0].max()) + 0.08
        places[members] = spot
    return places


def _edges(graph: Graph) -> Int[np.ndarray, "2 pairs"]:
    once = np.asarray(graph.senders) < np.asarray(graph.receivers)
    return np.stack([np.asarray(graph.senders)[once], np.asarray(graph.receivers)[once]])


def _hops(num_nodes: int, edges: np.ndarray, start: int) -> np.ndarray:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import dijkstra

    matrix = coo_array((np.ones(edges.shape[1]), tuple(edges)), shape=(num_nodes, num_nodes))
    hops = dijkstra(matrix.tocsr(), directed=False, indices=start, unweighted=True)
    return np.nan_to_num(hops, posinf=-1).astype(int)


def _is_grid(places: np.ndarray, edges: np.ndarray) -> bool:
    """Whether every cell of a rectangle is taken once and every edge joins two neighbouring."""
    if (places != np.round(places)).any() or (places < 0).any():
        return False
    columns, rows = places.max(axis=0).astype(int) + 1
    cells = {(x, y) for x, y in places.tolist()}
    steps = np.abs(places[edges[0]] - places[edges[1]]).sum(axis=1)
    complete = edges.shape[1] == rows * (columns - 1) + columns * (rows - 1)
    full = len(cells) == len(places) == rows * columns
    return bool(complete and full and (steps == 1).all())


def _turned(places: np.ndarray, source: int) -> Places:
    """Lies flat, with the source in the upper left quarter: executions read like text."""
    places = places - (places.min(axis=0) + places.max(axis=0)) / 2
    width, height = np.ptp(places, axis=0)
    if height > width:
        places = places[:, ::-1]
    return places * np.where(places[source] > 0, -1.0, 1.0)
