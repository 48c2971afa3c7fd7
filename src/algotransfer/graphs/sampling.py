"""`sample_graphs`: random graphs with permuted labels, weights and sources."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

from algotransfer.errors import UserError
from algotransfer.graphs.families import SHAPE_RULES, Options
from algotransfer.graphs.graph import MAX_NODES, Graph, from_edges
from algotransfer.graphs.registry import FAMILIES
from algotransfer.graphs.streams import Stream
from algotransfer.registry import check_name

LEAST_WEIGHT, GREATEST_WEIGHT = 0.2, 1.0

# Edges that are added: the graph of each, its two nodes, its weight.
Joints = tuple[
    Int[np.ndarray, " joints"], Int[np.ndarray, "2 joints"], Float[np.ndarray, " joints"]
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
    """Samples graphs of one family and size; equal arguments give equal bytes on every machine.

    Labels are permuted at random, weights are uniform on [0.2, 1.0], and the source is uniform
    over the nodes; a source without a neighbour is joined to a random node.

    **Arguments:**

    - `family`: `"er"` (Erdős–Rényi), `"ba"` (Barabási–Albert) or `"grid"`.
    - `split`: a name; samples with different names share no random numbers.
    - `attachments`: how many nodes a new node of `ba` joins; other families ignore it.
    - `shape`: `"any"` (default up to 100 nodes) or `"square"` (default above) for `grid`; other
        families ignore it.

    **Returns:** a batch of `num_graphs` graphs, as NumPy arrays on the host.
    """
    FAMILIES.check(family)
    if shape is not None:
        check_name("grid shape", shape, SHAPE_RULES)
    if not split:
        raise UserError(f"split must be a name such as 'train', not {split!r}")
    _check_least("num_graphs", num_graphs, 1)
    _check_least("num_nodes", num_nodes, 2)
    _check_least("seed", seed, 0)
    _check_least("attachments", attachments, 1)
    if num_nodes > MAX_NODES:
        raise UserError(f"num_nodes must be at most {MAX_NODES:,}, not {num_nodes:,}")

    def stream(purpose: str) -> Stream:
        return Stream(seed, split, family, num_nodes, purpose)

    options = Options(attachments=attachments, shape=shape)
    graph_id, ends = FAMILIES[family](stream("edges"), num_graphs, num_nodes, options)
    labels = stream("labels").permutations(num_graphs, num_nodes).ravel()
    ends = labels[graph_id * num_nodes + ends]
    weights = _weights(stream("weights").uniform(len(graph_id)))
    source, (joined, pairs, joint_weights) = _draw_source(
        stream("source"), num_graphs, num_nodes, graph_id, ends
    )
    return from_edges(
        num_nodes,
        num_graphs,
        graph_id=np.concatenate([graph_id, joined]),
        ends=np.concatenate([ends, pairs], axis=1),
        weights=np.concatenate([weights, joint_weights]),
        source=source,
    )


def _weights(uniform: Float[np.ndarray, " edges"]) -> Float[np.ndarray, " edges"]:
    return LEAST_WEIGHT + (GREATEST_WEIGHT - LEAST_WEIGHT) * uniform


def _draw_source(
    stream: Stream,
    num_graphs: int,
    num_nodes: int,
    graph_id: Int[np.ndarray, " pairs"],
    ends: Int[np.ndarray, "2 pairs"],
) -> tuple[Int[np.ndarray, " graphs"], Joints]:
    """Draws the sources, and an edge to a random other node for each one without a neighbour."""
    # Three numbers for every graph, used or not, so that no graph's depend on the graphs before.
    draws = stream.uniform(num_graphs, 3)
    source = (draws[:, 0] * num_nodes).astype(np.int64)
    other = (source + 1 + (draws[:, 1] * (num_nodes - 1)).astype(np.int64)) % num_nodes

    has_neighbour = np.zeros(num_graphs, bool)
    has_neighbour[graph_id[np.logical_or.reduce(ends == source[graph_id])]] = True
    alone = np.flatnonzero(~has_neighbour)
    return source, (alone, np.stack([source[alone], other[alone]]), _weights(draws[alone, 2]))


def _check_least(name: str, value: int, least: int) -> None:
    if value < least:
        raise UserError(f"{name} must be at least {least}, not {value}")
