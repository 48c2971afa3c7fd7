"""`from_graphs`: a dataset of somebody's own graphs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

import jax
import numpy as np

from algotransfer.array_files import content_hash
from algotransfer.datasets.dataset import Dataset
from algotransfer.datasets.ragged import check_edges, to_ragged
from algotransfer.errors import UserError, shown
from algotransfer.graphs import (
    Graph,
    NamedGraph,
    concatenate,
    from_networkx,
    from_scipy,
    read_graph,
)


def from_graphs(graphs: Iterable[Any], family: str | Sequence[str] = "own") -> Dataset:
    """Makes a dataset of graphs that were not sampled here; all must have the same size.

    **Arguments:**

    - `graphs`: `Graph`s (single or batches), what `read_graph` and the other readers return,
        networkx graphs, sparse matrices of scipy, or paths of files; the last three start from
        their first node: read them with `from_networkx`, `from_scipy` or `read_graph` to choose
        the source.
    - `family`: a name for all, or one for each, by which statistics and results are grouped.
    """
    one = isinstance(graphs, str | NamedGraph)
    if one or hasattr(graphs, "tocoo") or hasattr(graphs, "adjacency"):  # of scipy, of networkx
        raise TypeError(
            f"from_graphs: graphs is {shown(graphs)} (of type {type(graphs).__name__}); expected a "
            "list of graphs, such as [graph]"
        )
    parts = [_batch(item) for item in graphs]
    if not parts:
        raise UserError("a dataset needs at least one graph, got none")
    names = [family] * len(parts) if isinstance(family, str) else list(family)
    if len(names) != len(parts):
        raise UserError(f"{len(names)} family names for {len(parts)} graphs; give one for each")

    batch = concatenate(parts)
    edges, source = to_ragged(batch), np.asarray(batch.source)
    check_edges(edges, batch.num_nodes)
    if np.any((source < 0) | (source >= batch.num_nodes)):
        raise UserError(
            f"a source lies outside its graph: got {source.min()}…{source.max()}, "
            f"expected 0…{batch.num_nodes - 1}"
        )
    runs = [
        (name, sum(len(part) for _, part in run))
        for name, run in groupby(zip(names, parts, strict=True), key=lambda pair: pair[0])
    ]
    return Dataset(
        graphs=batch,
        family=np.repeat([name for name, _ in runs], [count for _, count in runs]),
        arguments={
            "graph": [name for name, _ in runs],
            "num_graphs": [count for _, count in runs],
            "num_nodes": batch.num_nodes,
            # No arguments determine somebody's own graphs, so their content stands in.
            "graphs_sha256": content_hash({**vars(edges), "source": source}, {}),
        },
    )


def _batch(item: Any) -> Graph:
    """Whatever describes a graph, as a batch on the host."""
    if isinstance(item, str | os.PathLike):
        item = read_graph(item)
    elif hasattr(item, "tocoo"):
        item = from_scipy(item)
    elif not isinstance(item, Graph | NamedGraph):
        item = from_networkx(item)
    graph = item.graph if isinstance(item, NamedGraph) else item
    graph = jax.tree.map(np.asarray, graph)
    return graph if graph.batch_shape else jax.tree.map(lambda leaf: leaf[None], graph)
