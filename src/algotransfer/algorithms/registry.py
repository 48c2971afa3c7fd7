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
# Title, framework and weights of each algorithm, for `algotransfer list`.
_SUMMARIES = {
    "bfs": ("Breadth-first search", "parallel", "any"),
    "bellman_ford": ("Bellman-Ford", "parallel", "> 0"),
    "widest_par": ("Widest path (parallel)", "parallel", "> 0"),
    "reliable_par": ("Most reliable path (parallel)", "parallel", "> 0, ≤ 1"),
    "prim": ("Prim", "sequential", "> 0"),
    "dijkstra": ("Dijkstra", "sequential", "> 0"),
    "dfs": ("Depth-first search", "sequential", "any"),
    "widest_seq": ("Widest path (sequential)", "sequential", "> 0"),
    "reliable_seq": ("Most reliable path (sequential)", "sequential", "> 0, ≤ 1"),
    "minimax_par": ("Minimax path (parallel)", "parallel", "> 0"),
    "dag_shortest_paths": ("Shortest paths in a directed acyclic graph", "parallel", "> 0"),
}
ALGORITHMS: Registry[Algorithm] = Registry(
    "algorithm",
    {name: f"algotransfer.algorithms.definitions:{name}" for name in _SUMMARIES},
    _SUMMARIES,
    entry_type="algotransfer.algorithms.algorithm:Algorithm",
)


def get_algorithm(algorithm: str | Algorithm) -> Algorithm:
    """Return the algorithm of a name; pass an `Algorithm` through."""
    if not isinstance(algorithm, str):
        return algorithm
    found = ALGORITHMS[algorithm]
    if found.name != algorithm:
        raise UserError(f"ALGORITHMS[{algorithm!r}] has the name {found.name!r}; give it one name")
    return found
