"""`sample_graphs`: random graphs with permuted labels, random weights and sources."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

from algotransfer.errors import UserError
from algotransfer.graphs.families import SHAPE_RULES, Options
from algotransfer.graphs.graph import Graph, from_edges
from algotransfer.graphs.registry import FAMILIES
from algotransfer.graphs.streams import Stream
from algotransfer.limits import MAX_NODES
from algotransfer.registry import check_name

MIN_WEIGHT, MAX_WEIGHT = 0.2, 1.0

# Additional edges: the graph, the two nodes and the weight of each.
AddedEdges = tuple[
    Int[np.ndarray, " added"], Int[np.ndarray, "2 added"], Float[np.ndarray, " added"]
]


def sample_graphs(
    family: str,
    num_graphs: int,
    num_nodes: int,
    seed: int = 0,
    *,
    split: str = "train",
    attachments: int = 4,
    shape: str | None = None,
) -> Graph:
    """Sample graphs of one family and size; equal arguments give equal bytes on every machine.

    Labels are permuted at random, weights are uniform on [0.2, 1.0], and the source is uniform
    over the nodes. A source without a neighbour gets an edge to a random node.

    **Arguments:**

    - `family`: `"er"` (Erdős–Rényi), `"ba"` (Barabási–Albert), `"grid"`, `"ws"` (Watts–Strogatz)
        or `"delaunay"`.
    - `split`: name of the split; different splits share no random numbers.
    - `attachments`: edges of each new node of `ba`.
    - `shape`: shape of `grid`, `"any"` (default up to 100 nodes) or `"square"` (default above).

    **Returns:** a batch of `num_graphs` graphs as NumPy arrays.
    """
    FAMILIES.check(family)
    if shape is not None:
        check_name("grid shape", shape, SHAPE_RULES)
    if not split:
        raise UserError(f"split is {split!r}; expected a name such as 'train'")
    _check_least("num_graphs", num_graphs, 1)
    _check_least("num_nodes", num_nodes, 2)
    _check_least("seed", seed, 0)
    _check_least("attachments", attachments, 1)
    if num_nodes > MAX_NODES:
        raise UserError(f"num_nodes is {num_nodes:,}; expected at most {MAX_NODES:,}")

    def stream(purpose: str) -> Stream:
        return Stream(seed, split, family, num_nodes, purpose)

    options = Options(attachments=attachments, shape=shape)
    graph_id, ends = FAMILIES[family](stream("edges"), num_graphs, num_nodes, options)
    labels = stream("labels").permutations(num_graphs, num_nodes).ravel()
    ends = labels[graph_id * num_nodes + ends]
    weights = _weights(stream("weights").uniform(len(graph_id)))
    source, (added_id, added_ends, added_weights) = _sample_source(
        stream("source"), num_graphs, num_nodes, graph_id, ends
    )
    return from_edges(
        num_nodes,
        num_graphs,
        graph_id=np.concatenate([graph_id, added_id]),
        ends=np.concatenate([ends, added_ends], axis=1),
        weights=np.concatenate([weights, added_weights]),
        source=source,
    )


def _weights(uniform: Float[np.ndarray, " edges"]) -> Float[np.ndarray, " edges"]:
    return MIN_WEIGHT + (MAX_WEIGHT - MIN_WEIGHT) * uniform


def _sample_source(
    stream: Stream,
    num_graphs: int,
    num_nodes: int,
    graph_id: Int[np.ndarray, " pairs"],
    ends: Int[np.ndarray, "2 pairs"],
) -> tuple[Int[np.ndarray, " graphs"], AddedEdges]:
    """Sample sources, and an edge to a random node for each source without a neighbour."""
    # Three numbers per graph, used or not, so that a graph does not depend on those before it.
    draws = stream.uniform(num_graphs, 3)
    source = (draws[:, 0] * num_nodes).astype(np.int64)
    other = (source + 1 + (draws[:, 1] * (num_nodes - 1)).astype(np.int64)) % num_nodes

    has_neighbour = np.zeros(num_graphs, bool)
    has_neighbour[graph_id[np.logical_or.reduce(ends == source[graph_id])]] = True
    isolated = np.flatnonzero(~has_neighbour)
    added_ends = np.stack([source[isolated], other[isolated]]).astype(ends.dtype)
    return source, (isolated, added_ends, _weights(draws[isolated, 2]))


def _check_least(name: str, value: int, least: int) -> None:
    if value < least:
        raise UserError(f"{name} is {value}; expected at least {least}")
