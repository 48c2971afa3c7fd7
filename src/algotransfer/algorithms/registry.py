"""Algorithms by name. Importable without jax."""

from __future__ import annotations

from typing import TYPE_CHECKING

from algotransfer.errors import UserError
from algotransfer.registry import Registry

if TYPE_CHECKING:
    from algotransfer.algorithms.algorithm import Algorithm

PAPER_ALGORITHMS = (
    "bfs",
    "bellman_ford",
    "widest_par",
    "reliable_par",
    "prim",
    "dijkstra",
    "dfs",
    "widest_seq",
    "reliable_seq",
)
_NAMES = (*PAPER_ALGORITHMS, "minimax_par", "dag_shortest_paths")
ALGORITHMS: Registry[Algorithm] = Registry(
    "algorithm", {name: f"algotransfer.algorithms.definitions:{name}" for name in _NAMES}
)


def get_algorithm(algorithm: str | Algorithm) -> Algorithm:
    """Return the algorithm of a name; pass an `Algorithm` through."""
    if not isinstance(algorithm, str):
        return algorithm
    found = ALGORITHMS[algorithm]
    if found.name != algorithm:
        raise UserError(f"ALGORITHMS[{algorithm!r}] has the name {found.name!r}; give it one name")
    return found
