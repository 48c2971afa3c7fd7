"""Conversion of graphs from and to networkx and scipy, and from PyTorch Geometric."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from algotransfer.errors import UserError, shown
from algotransfer.graphs.graph import Graph, check_range
from algotransfer.graphs.named import (
    Attributes,
    NamedGraph,
    check_attributes,
    check_names,
    check_num_nodes,
    check_single,
    is_number,
    named_graph,
    notify_missing_weights,
    unique_edges,
)

if TYPE_CHECKING:
    import networkx
    import scipy.sparse

WEIGHTS = ("edge_weight", "edge_attr")  # attributes of a `Data`, in order of preference


def from_networkx(
    graph: networkx.Graph, source: Hashable = None, weight: str = "weight"
) -> NamedGraph:
    """Convert a networkx graph; the order and the names of its nodes are kept.

    A directed graph with equal weights in both directions of every edge becomes undirected.
    Parallel edges of a multigraph must have equal weights.

    **Arguments:**

    - `source`: a node or, unless all nodes are integers, an index (default: the first node).
    - `weight`: name of the edge attribute for the weight. Edges without it have weight 1, and a
        `Notice` says so if some edges have it, or other attributes with numbers. A name other than
        the default that no edge has is an error.
    """
    import networkx

    if not isinstance(graph, networkx.Graph):
        raise UserError(
            f"graph is {shown(graph)} (of type {type(graph).__name__}); expected a networkx graph"
        )
    check_num_nodes(len(graph))
    names = list(graph.nodes)
    index = {name: number for number, name in enumerate(names)}
    _check_attribute([data for *_, data in graph.edges(data=True)], weight)
    ends, weights = [], []
    for tail, head, value in graph.edges(data=weight, default=1):
        ends.append((index[tail], index[head]))
        try:
            weights.append(float(value))
        except (TypeError, ValueError):
            raise UserError(
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


def _check_attribute(edges: list[dict[str, Any]], weight: str) -> None:
    """Warn of edges without a weight; raise a `UserError` if a chosen attribute has no edge."""
    missing = sum(weight not in data for data in edges)
    if missing < len(edges) or not missing:
        notify_missing_weights(missing, len(edges), attribute=weight)
        return
    if weight != "weight":
        names = dict.fromkeys(name for data in edges for name in data)
        known = ", ".join(f"{name!r:.80}" for name in names)
        choice = f"choose one of {known}" if known else "its edges have none: leave weight out"
        raise UserError(f"no edge has the attribute {weight!r:.80}; {choice}")
    numeric = dict.fromkeys(
        name for data in edges for name, value in data.items() if is_number(value)
    )
    how = "convert the graph with from_networkx(graph, weight={name!r})"
    notify_missing_weights(missing, len(edges), [*numeric], how)


def to_networkx(
    graph: Graph, names: Sequence[Hashable] | None = None, node_attributes: Attributes | None = None
) -> networkx.Graph:
    """Convert to networkx: weights are the edge attribute `weight`, `source` a graph attribute.

    **Arguments:**

    - `names`: the nodes of the new graph (default: 0 … n − 1).
    - `node_attributes`: a sequence with one value per node, by attribute name.
    """
    import networkx

    check_single(graph)
    names = check_names(names, graph.num_nodes)
    attributes = check_attributes(node_attributes, graph.num_nodes)
    kind = networkx.DiGraph if graph.directed else networkx.Graph
    result = kind(source=names[int(graph.source)])
    result.add_nodes_from(names)
    for attribute, values in attributes.items():
        # Python values, since networkx cannot write NumPy ones to files.
        networkx.set_node_attributes(
            result, dict(zip(names, np.asarray(values).tolist(), strict=True)), attribute
        )
    result.add_weighted_edges_from(
        (names[tail], names[head], float(weight)) for tail, head, weight in unique_edges(graph)
    )
    return result


def from_scipy(matrix: Any, source: Hashable = None) -> NamedGraph:
    """Convert a scipy sparse matrix of weights; nodes are named by their index.

    As in `scipy.sparse.csgraph`, every stored entry [i, j] is an edge from i to j, even a stored
    zero. The graph of a symmetric matrix is undirected. The source is the first node by default.
    """
    import scipy.sparse

    if not scipy.sparse.issparse(matrix):
        raise UserError(
            f"matrix has type {type(matrix).__name__}; expected a scipy sparse matrix: convert a "
            "dense one with scipy.sparse.csr_array(matrix)"
        )
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise UserError(f"matrix has shape {matrix.shape}; expected a square matrix")
    check_num_nodes(matrix.shape[0])
    if matrix.dtype.kind not in "biuf":
        raise UserError(f"matrix has dtype {matrix.dtype}; expected real numbers")
    entries = scipy.sparse.coo_array(matrix, copy=True)
    entries.sum_duplicates()  # scipy defines duplicate entries as their sum
    return named_graph(
        range(matrix.shape[0]),
        np.stack(entries.coords).astype(np.int64),
        entries.data.astype(float),
        source,
        directed=True,
    )


def from_pyg(data: Any, source: Hashable = None) -> NamedGraph:
    """Convert a `Data` of PyTorch Geometric; nodes are named by their index.

    The graph is undirected if `edge_index` lists every edge in both directions with equal weights.
    The weight is `edge_weight` or `edge_attr` (one number per edge), otherwise 1, and a
    `Notice` says so if other attributes have a number per edge. torch is not imported.

    **Arguments:**

    - `source`: a node; by default `data.source`, which `to_pyg` writes, or else the first node.
    """
    num_graphs = getattr(data, "num_graphs", 1)
    if num_graphs != 1:
        raise UserError(
            f"data is a Batch of {num_graphs} graphs; expected one: convert each graph of "
            "data.to_data_list()"
        )
    ends = _array(data, "edge_index")
    if ends.ndim != 2 or len(ends) != 2 or ends.dtype.kind not in "iu":
        raise UserError(
            f"edge_index has shape {ends.shape} and type {ends.dtype}; expected [2, edges] integers"
        )
    weights = _edge_weights(data, ends.shape[1])
    num_nodes = getattr(data, "num_nodes", None)
    num_nodes = int(ends.max(initial=-1)) + 1 if num_nodes is None else int(num_nodes)
    check_num_nodes(num_nodes)
    check_range("edge_index", ends, num_nodes)
    if source is None and getattr(data, "source", None) is not None:
        stored = _array(data, "source")
        if stored.size != 1 or stored.dtype.kind not in "iu":
            raise UserError(
                f"data.source has shape {stored.shape} and type {stored.dtype}; expected one node: "
                "choose it with source"
            )
        source = stored.item()
    return named_graph(
        range(num_nodes), ends.astype(np.int64), weights.reshape(-1).astype(float), source, True
    )


def _edge_weights(data: Any, num_edges: int) -> np.ndarray:
    """Return the weights of a `Data`; warn if it has none but other attributes with numbers."""
    for name in WEIGHTS:
        if getattr(data, name, None) is None:
            continue
        weights = _array(data, name)
        if weights.size != num_edges or weights.dtype.kind not in "biuf":
            raise UserError(
                f"the graph has {num_edges} edges and weights of shape {weights.shape} and type "
                f"{weights.dtype}; expected one number per edge: set edge_weight"
            )
        return weights
    how = "set edge_weight, such as data.edge_weight = data.{name}"
    notify_missing_weights(num_edges, num_edges, _edge_numbers(data, num_edges), how)
    return np.ones(num_edges)


def _edge_numbers(data: Any, num_edges: int) -> list[str]:
    """Return the names of the attributes of a `Data` with one number per edge."""
    names = data.edge_attrs() if hasattr(data, "edge_attrs") else ()
    arrays = {name: _array(data, name) for name in names if name != "edge_index"}
    return [name for name, a in arrays.items() if a.size == num_edges and a.dtype.kind in "iuf"]


def _array(data: Any, name: str) -> np.ndarray:
    """Copy a tensor of any device to NumPy."""
    tensor: Any = getattr(data, name, None)
    try:
        return np.asarray(tensor.detach().cpu() if hasattr(tensor, "detach") else tensor)
    except TypeError as error:
        raise UserError(
            f"{name} cannot be converted to NumPy ({error}); expected a dense tensor of integers "
            "or float32"
        ) from None


def to_scipy(graph: Graph) -> scipy.sparse.csr_array:
    """Return the weight matrix of a single graph as a `csr_array`."""
    import scipy.sparse

    check_single(graph)
    edges = np.asarray(graph.edge_mask())
    entries = (np.asarray(leaf)[edges] for leaf in (graph.weights, graph.senders, graph.receivers))
    weights, senders, receivers = entries
    shape = (graph.num_nodes, graph.num_nodes)
    return scipy.sparse.csr_array((weights, (senders, receivers)), shape=shape)
