"""`from_graphs`: make a dataset from given graphs."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

import jax
import numpy as np

from algotransfer.datasets.dataset import Dataset, describe_graphs
from algotransfer.datasets.ragged import check_edges, to_ragged
from algotransfer.errors import UserError, shown
from algotransfer.graphs import Graph, GraphLike, NamedGraph, concatenate, to_named_graph
from algotransfer.graphs.graph import check_range, resize_graphs


def from_graphs(graphs: Iterable[GraphLike], family: str | Sequence[str] = "own") -> Dataset:
    """Make a dataset from graphs; smaller ones are padded with isolated nodes to the largest.

    Padding nodes have no names and are no part of `named_graph`. Algorithms do not reach them, and
    metrics of reached nodes do not count them.

    **Arguments:**

    - `graphs`: `Graph`s (single or batches), networkx graphs, scipy sparse matrices, `Data` of
        PyTorch Geometric, or paths of graph files. The source is that of the graph, or the first
        node; convert a graph with `from_networkx`, `from_scipy`, `from_pyg` or `read_graph` to
        choose another. Names of nodes are kept as `names` of the dataset.
    - `family`: a name for all graphs or one per item of `graphs`; results are grouped by it.
    """
    single = ("tocoo", "adjacency", "edge_index")  # scipy, networkx, PyTorch Geometric
    is_single = isinstance(graphs, str | NamedGraph) or getattr(graphs, "ndim", 1) == 0
    if is_single or any(hasattr(graphs, attribute) for attribute in single):
        raise UserError(
            f"graphs is {shown(graphs)} (of type {type(graphs).__name__}); expected a list of "
            "graphs, such as [graph]"
        )
    named = [_to_batch(item) for item in graphs]
    if not named:
        raise UserError("graphs is empty; expected at least one graph")
    parts = [part for part, _ in named]
    families = [family] * len(parts) if isinstance(family, str) else list(family)
    if len(families) != len(parts):
        raise UserError(f"got {len(families)} families for {len(parts)} graphs; give one per graph")

    for part in parts:
        check_edges(to_ragged(part), part.num_nodes, part.directed)
        check_range("source", np.asarray(part.source), part.num_nodes)
    largest = max(part.num_nodes for part in parts)
    batch = concatenate([resize_graphs(part, largest) for part in parts])
    numbers = tuple(range(largest))
    names = tuple(
        names or numbers[: part.num_nodes] for part, names in named for _ in range(len(part))
    )
    each = np.repeat(families, [len(part) for part in parts])
    return Dataset(
        graphs=batch,
        family=each,
        arguments=describe_graphs(batch, each, min(part.num_nodes for part in parts)),
        names=None if all(own == numbers for own in names) else names,
    )


def _to_batch(item: GraphLike) -> tuple[Graph, tuple[Hashable, ...] | None]:
    """Convert a graph to a batch of NumPy arrays, and return the names of its nodes, if any."""
    names = None
    if not isinstance(item, Graph):
        named = to_named_graph(item)
        item, names = named.graph, named.names
    graph = jax.tree.map(np.asarray, item)
    return (graph if graph.batch_shape else graph[None]), names
