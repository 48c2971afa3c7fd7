"""Algorithms by name."""

from difflib import get_close_matches

from algotransfer.algorithms.base import Algorithm
from algotransfer.algorithms.parallel import bellman_ford, bfs, reliable_par, widest_par
from algotransfer.algorithms.sequential import dfs, dijkstra, prim, reliable_seq, widest_seq
from algotransfer.arguments import checked

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


@checked
def get_algorithm(algorithm: str | Algorithm) -> Algorithm:
    """Looks an algorithm up by name; an `Algorithm` is passed through."""
    if isinstance(algorithm, Algorithm):
        return algorithm
    if algorithm not in ALGORITHMS:
        close = get_close_matches(str(algorithm), ALGORITHMS, n=1)
        hint = f" (did you mean {close[0]!r}?)" if close else ""
        raise ValueError(
            f"unknown algorithm {algorithm!r}{hint}; choose one of {', '.join(ALGORITHMS)}"
        )
    return ALGORITHMS[algorithm]
