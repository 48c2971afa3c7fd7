"""Algorithms by name."""

from algotransfer.algorithms.algorithm import Algorithm
from algotransfer.algorithms.definitions import (
    bellman_ford,
    bfs,
    dfs,
    dijkstra,
    prim,
    reliable_par,
    reliable_seq,
    widest_par,
    widest_seq,
)
from algotransfer.errors import UserError
from algotransfer.names import check_name

ALGORITHMS: dict[str, Algorithm] = {
    algorithm.name: algorithm
    for algorithm in (
        bfs,
        bellman_ford,
        widest_par,
        reliable_par,
        prim,
        dijkstra,
        dfs,
        widest_seq,
        reliable_seq,
    )
}


def get_algorithm(algorithm: str | Algorithm) -> Algorithm:
    """Looks an algorithm up by name; an `Algorithm` is passed through."""
    if isinstance(algorithm, Algorithm):
        return algorithm
    check_name("algorithm", algorithm, ALGORITHMS)
    found = ALGORITHMS[algorithm]
    if found.name != algorithm:
        raise UserError(f"ALGORITHMS[{algorithm!r}] has the name {found.name!r}; give it one name")
    return found
