"""Accept graphs of several libraries where a `Graph` is expected."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Hashable
from typing import Any

import numpy as np

from algotransfer.errors import UserError, shown
from algotransfer.graphs.convert import from_networkx, from_pyg, from_scipy
from algotransfer.graphs.formats import read_graph
from algotransfer.graphs.graph import Graph
from algotransfer.graphs.named import NamedGraph, check_single, find_node

# For annotations: what `to_named_graph` converts. The libraries are not imported to check it.
GraphLike = Any


def to_named_graph(graph: GraphLike, source: Hashable = None) -> NamedGraph:
    """Convert a single graph of any library.

    **Arguments:**

    - `graph`: a `Graph`, a `NamedGraph`, a networkx graph, a scipy sparse matrix, a `Data` of
        PyTorch Geometric, or the path of a graph file.
    - `source`: a node or its index, as in `read_graph`; by default the source that the graph has,
        or the first node.
    """
    if isinstance(graph, Graph):
        graph = NamedGraph(graph, tuple(range(graph.num_nodes)))
    if isinstance(graph, NamedGraph):
        check_single(graph.graph)
        if source is None:
            return graph
        index = np.asarray(find_node(source, graph.names), np.int32)
        return NamedGraph(dataclasses.replace(graph.graph, source=index), graph.names)
    if isinstance(graph, str | os.PathLike):
        return read_graph(graph, source)
    if hasattr(graph, "tocoo"):
        return from_scipy(graph, source)
    if hasattr(graph, "edge_index"):
        return from_pyg(graph, source)
    if hasattr(graph, "adjacency"):
        return from_networkx(graph, source)
    raise UserError(
        f"the graph is {shown(graph)} (of type {type(graph).__name__}); expected a Graph, a "
        "networkx graph, a scipy sparse matrix, a Data of PyTorch Geometric, or the path of a "
        f"graph file{f'; {hint}' if (hint := Graph.conversion_hint(graph)) else ''}"
    )


def to_graph(graph: GraphLike, source: Hashable = None) -> Graph:
    """Convert a graph as `to_named_graph` does; a batch of graphs passes through."""
    if not isinstance(graph, Graph) or (source is not None and not graph.batch_shape):
        return to_named_graph(graph, source).graph
    if source is not None:
        raise UserError(
            f"source={shown(source)} with a batch of {len(graph)} graphs, which have sources of "
            "their own; leave it out, or select one graph, such as graphs[0]"
        )
    return graph
