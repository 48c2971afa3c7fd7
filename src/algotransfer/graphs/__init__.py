"""Graphs: the `Graph` pytree, the random families, and people's own graphs.

As in the package itself, a name loads its module when first used: the names of the families can
be listed without importing jax.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from algotransfer.graphs.convert import from_networkx, from_scipy, to_networkx, to_scipy
    from algotransfer.graphs.families import FAMILIES
    from algotransfer.graphs.formats import read_graph, write_graph
    from algotransfer.graphs.graph import Graph, concatenate, from_edges
    from algotransfer.graphs.named import NamedGraph
    from algotransfer.graphs.sampling import sample_graphs

__all__ = [
    "FAMILIES",
    "Graph",
    "NamedGraph",
    "concatenate",
    "from_edges",
    "from_networkx",
    "from_scipy",
    "read_graph",
    "sample_graphs",
    "to_networkx",
    "to_scipy",
    "write_graph",
]

_MODULE_OF = {
    "FAMILIES": "families",
    "Graph": "graph",
    "NamedGraph": "named",
    "concatenate": "graph",
    "from_edges": "graph",
    "from_networkx": "convert",
    "from_scipy": "convert",
    "read_graph": "formats",
    "sample_graphs": "sampling",
    "to_networkx": "convert",
    "to_scipy": "convert",
    "write_graph": "formats",
}


def __getattr__(name: str):
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
