"""What can be asked for by name, and the sentence for a name that nobody knows.

This module imports nothing heavy, so that the command line can show choices and refuse a wrong
one at once. The tests compare the lists with the registries they describe.
"""

from collections.abc import Iterable
from difflib import get_close_matches

ALGORITHM_NAMES = (
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
MODEL_NAMES = ("ne", "ne++", "relax")  # of networks
FAMILY_NAMES = ("er", "ba", "grid")
SHAPE_NAMES = ("any", "square")


def check_name(kind: str, name: str, known: Iterable[str]) -> None:
    """Raises a `ValueError` with the nearest match if `name` is not among the `known` ones."""
    known = tuple(known)
    if name not in known:
        raise ValueError(
            f"unknown {kind} {name!r:.80}{nearest(name, known)}; choose one of {', '.join(known)}"
        )


def nearest(name: str, known: Iterable[str], most: int = 1) -> str:
    """The known names that `name` may stand for, as a question to follow it; or nothing."""
    close = get_close_matches(name, list(known), n=most)
    return f" (did you mean {' or '.join(f'{name!r:.80}' for name in close)}?)" if close else ""
