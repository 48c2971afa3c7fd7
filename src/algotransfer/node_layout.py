"""Where nodes are drawn: grids as grids, other graphs such that neighbours lie close together."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from jaxtyping import Float, Int

from algotransfer.graphs import Graph, to_networkx

DISTANCES_UP_TO = 100  # nodes; above it, springs are much faster than distances of all pairs
ITERATIONS = 60
ROOM, PUSHES = 0.5, 40  # distance that nodes keep, in edges, and how patiently it is made
ASPECT = 1.5  # width by height to which graphs that are no grids are stretched: so are screens

Places = Float[np.ndarray, "nodes 2"]


def place_nodes(graph: Graph) -> Places:
    """Places such that the longer side lies flat; equal graphs have equal places."""
    grid = grid_places(graph)
    if grid is not None:
        return _turned(grid, int(graph.source))
    places = _turned(part_places(graph), int(graph.source))
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


def part_places(graph: Graph) -> Places:
    """Each connected part on its own, with edges of length one; small parts below the first."""
    import networkx

    network = to_networkx(graph)
    places, left, top = np.zeros((graph.num_nodes, 2)), 0.0, 0.0
    for part in sorted(networkx.connected_components(network), key=len, reverse=True):
        members = sorted(part)
        spot = _place_part(network.subgraph(members), members)
        if left == top == 0.0:
            top = float(spot[:, 1].max()) + 1
        else:
            spot = spot + np.array([left, top])
            left = float(spot[:, 0].max()) + 1
        places[members] = spot
    return places


def _place_part(part, members: list[int]) -> np.ndarray:
    import networkx

    if len(members) <= DISTANCES_UP_TO:
        drawn = networkx.kamada_kawai_layout(part, weight=None)
    else:
        drawn = networkx.spring_layout(part, iterations=ITERATIONS, weight=None, seed=0)
    spot = np.array([drawn[node] for node in members])
    ends = [np.linalg.norm(drawn[u] - drawn[v]) for u, v in part.edges]
    _, _, axes = np.linalg.svd((spot - spot.mean(axis=0)).T @ (spot - spot.mean(axis=0)))
    spot = _apart(spot @ axes.T / max(float(np.median(ends)) if ends else 1.0, 1e-9))
    return spot - spot.min(axis=0)


def _apart(places: np.ndarray) -> np.ndarray:
    """Pushes nodes that would overlap away from each other, a little at a time."""
    for _ in range(PUSHES):
        away = places[:, None] - places[None]  # [v, u]: from u to v
        distance = np.linalg.norm(away, axis=-1) + np.eye(len(places)) * ROOM
        push = np.clip(ROOM - distance, 0, None) / np.maximum(distance, 1e-6)
        places = places + 0.4 * np.einsum("vu,vud->vd", push, away)
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
