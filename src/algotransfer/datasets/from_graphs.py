"""`from_graphs`: make a dataset from given graphs."""

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
    """Make a dataset from graphs with equal numbers of nodes.

    **Arguments:**

    - `graphs`: `Graph`s (single or batches), `NamedGraph`s, networkx graphs, scipy sparse matrices
        or paths of graph files. The source of the last three is their first node; convert them
        with `from_networkx`, `from_scipy` or `read_graph` to choose another.
    - `family`: a name for all graphs or one per item of `graphs`; results are grouped by it.
    """
    is_single = isinstance(graphs, str | NamedGraph)
    # `tocoo`: a scipy matrix; `adjacency`: a networkx graph
    if is_single or hasattr(graphs, "tocoo") or hasattr(graphs, "adjacency"):
        raise UserError(
            f"graphs is {shown(graphs)} (of type {type(graphs).__name__}); expected a list of "
            "graphs, such as [graph]"
        )
    parts = [_to_batch(item) for item in graphs]
    if not parts:
        raise UserError("graphs is empty; expected at least one graph")
    names = [family] * len(parts) if isinstance(family, str) else list(family)
    if len(names) != len(parts):
        raise UserError(f"got {len(names)} families for {len(parts)} graphs; give one per graph")

    batch = concatenate(parts)
    edges, source = to_ragged(batch), np.asarray(batch.source)
    check_edges(edges, batch.num_nodes, batch.directed)
    if np.any((source < 0) | (source >= batch.num_nodes)):
        raise UserError(
            f"source has values in {source.min()}…{source.max()}; expected 0…{batch.num_nodes - 1}"
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
            # Given graphs are identified by their content.
            "graphs_sha256": content_hash({**vars(edges), "source": source}, {}),
            **({"directed": True} if batch.directed else {}),
        },
    )


def _to_batch(item: Any) -> Graph:
    """Convert any description of a graph to a batch of NumPy arrays."""
    if isinstance(item, str | os.PathLike):
        item = read_graph(item)
    elif hasattr(item, "tocoo"):
        item = from_scipy(item)
    elif not isinstance(item, Graph | NamedGraph):
        item = from_networkx(item)
    graph = item.graph if isinstance(item, NamedGraph) else item
    graph = jax.tree.map(np.asarray, graph)
    return graph if graph.batch_shape else jax.tree.map(lambda leaf: leaf[None], graph)
