"""Graphs to and from networkx objects and scipy's sparse matrices."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from algotransfer.arguments import checked, shown
from algotransfer.graphs.graph import Graph
from algotransfer.graphs.named import (
    Attributes,
    NamedGraph,
    check_attributes,
    check_names,
    check_num_nodes,
    check_single,
    named_graph,
)

if TYPE_CHECKING:
    import networkx
    import scipy.sparse


@checked
def from_networkx(
    graph: networkx.Graph, source: Hashable = None, weight: str = "weight"
) -> NamedGraph:
    """Takes over a networkx graph; nodes are numbered in its order and named as there.

    A directed graph needs every edge in both directions, with equal weights; parallel edges of a
    multigraph need equal weights too.

    **Arguments:**

    - `source`: a node or, unless all nodes are whole numbers, an index; the first node by default.
    - `weight`: the edge attribute that holds the weight; edges without it have weight 1.
    """
    import networkx

    if not isinstance(graph, networkx.Graph):
        raise TypeError(f"expected a networkx graph, not {shown(graph)} ({type(graph).__name__})")
    check_num_nodes(len(graph))
    names = list(graph.nodes)
    index = {name: number for number, name in enumerate(names)}
    ends, weights = [], []
    for tail, head, value in graph.edges(data=weight, default=1):
        ends.append((index[tail], index[head]))
        try:
            weights.append(float(value))
        except (TypeError, ValueError):
            raise ValueError(
                f"the edge between {tail!r:.80} and {head!r:.80} has weight {value!r:.80}; "
                "expected a number"
            ) from None
    return named_graph(
        names,
        np.array(ends, np.int64).reshape(-1, 2).T,
        np.array(weights, float),
        source,
        graph.is_directed(),
    )


@checked
def to_networkx(
    graph: Graph,
    names: Sequence[Hashable] | None = None,
    node_attributes: Attributes | None = None,
) -> networkx.Graph:
    """Makes a networkx graph with `weight` on its edges and `source` among its own attributes.

    **Arguments:**

    - `names`: the nodes of the new graph; 0 … n − 1 by default.
    - `node_attributes`: by name, one value for each node.
    """
    import networkx

    check_single(graph)
    names = check_names(names, graph.num_nodes)
    attributes = check_attributes(node_attributes, graph.num_nodes)
    result = networkx.Graph(source=names[int(graph.source)])
    result.add_nodes_from(names)
    for attribute, values in attributes.items():
        # Plain Python values: networkx writes no others to its files.
        networkx.set_node_attributes(
            result, dict(zip(names, np.asarray(values).tolist(), strict=True)), attribute
        )
    once = np.asarray(graph.senders) < np.asarray(graph.receivers)
    tails, heads, weights = (
        np.asarray(leaf)[once].tolist() for leaf in (graph.senders, graph.receivers, graph.weights)
    )
    result.add_weighted_edges_from(
        (names[tail], names[head], weight)
        for tail, head, weight in zip(tails, heads, weights, strict=True)
    )
    return result


@checked
def from_scipy(matrix: Any, source: int = 0) -> NamedGraph:
    """Takes over a symmetric sparse matrix of weights; its nodes are named by their numbers.

    As in `scipy.sparse.csgraph`, every stored entry is an edge, even one that is zero.

    **Arguments:**

    - `matrix`: of any of scipy's sparse formats, `csr_array` for instance.
    - `source`: the index of the node to start from.
    """
    import scipy.sparse

    if not scipy.sparse.issparse(matrix):
        raise TypeError(
            f"expected a scipy sparse matrix, not {type(matrix).__name__}; "
            "scipy.sparse.csr_array(…) makes one of a dense matrix"
        )
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"a matrix of shape {matrix.shape} is not a graph; it must be square")
    check_num_nodes(matrix.shape[0])
    if matrix.dtype.kind not in "biuf":
        raise ValueError(f"the matrix holds {matrix.dtype}; weights must be real numbers")
    entries = scipy.sparse.coo_array(matrix, copy=True)
    entries.sum_duplicates()  # scipy's meaning of an entry that is stored twice
    return named_graph(
        range(matrix.shape[0]),
        np.stack(entries.coords).astype(np.int64),
        entries.data.astype(float),
        source,
        directed=True,
    )


@checked
def to_scipy(graph: Graph) -> scipy.sparse.csr_array:
    """The symmetric matrix of a single graph's weights, in compressed rows."""
    import scipy.sparse

    check_single(graph)
    edges = np.asarray(graph.edge_mask())
    entries = (np.asarray(leaf)[edges] for leaf in (graph.weights, graph.senders, graph.receivers))
    weights, senders, receivers = entries
    shape = (graph.num_nodes, graph.num_nodes)
    return scipy.sparse.csr_array((weights, (senders, receivers)), shape=shape)
