"""`NamedGraph`: one graph of somebody's own, with the names of its nodes."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from algotransfer.graphs.graph import MAX_NODES, Graph, check_graph, from_edges
from algotransfer.names import nearest

LONGEST_NAME = 1000  # characters
WHOLE_NUMBER = re.compile(r"-?\d{1,18}")
Attributes = Mapping[str, Sequence[Any] | np.ndarray]  # by name, one value for each node


@dataclass(frozen=True, eq=False)
class NamedGraph:
    """A single graph, and the name of each of its nodes; unpacks as `graph, names`."""

    graph: Graph
    names: tuple[Hashable, ...]

    def __iter__(self) -> Iterator[Graph | tuple[Hashable, ...]]:
        return iter((self.graph, self.names))


def check_num_nodes(num_nodes: int) -> None:
    """A graph has at least one node, and not more than a program here could take."""
    if num_nodes < 1:
        raise ValueError("the graph has no nodes; it needs at least one")
    if num_nodes > MAX_NODES:
        raise ValueError(
            f"the graph has {num_nodes} nodes; at most {MAX_NODES} are supported: take a part of it"
        )


def named_graph(
    names: Sequence[Hashable],
    ends: Int[np.ndarray, "2 pairs"],
    weights: Float[np.ndarray, " pairs"],
    source: Hashable = None,
    directed: bool | Bool[np.ndarray, " pairs"] = False,
) -> NamedGraph:
    """Checks somebody's edges and makes a graph of them.

    An edge may be listed more than once, in either direction, if the weights agree.

    **Arguments:**

    - `source`: a node's name or, unless all names are whole numbers, its index; the first node by
        default.
    - `directed`: which edges need their reverse to be listed too, with the same weight.
    """
    check_num_nodes(len(names))
    _check_lengths(names)
    _check_weights(names, ends, weights)
    loops = np.flatnonzero(ends[0] == ends[1])
    if loops.size:
        raise ValueError(
            f"node {names[ends[0, loops[0]]]!r:.80} has an edge to itself; remove self-loops"
        )

    low, high = ends.min(axis=0), ends.max(axis=0)
    _, first, pair = np.unique(low * len(names) + high, return_index=True, return_inverse=True)

    other = np.flatnonzero(weights != weights[first][pair])
    if other.size:
        here, before = other[0], first[pair[other[0]]]
        tail, head = (names[end] for end in ends[:, here])
        raise ValueError(
            f"the edge between {tail!r:.80} and {head!r:.80} is listed "
            f"with two weights, {weights[before]:g} and {weights[here]:g}; graphs are undirected: "
            "give every edge one weight"
        )
    directed = np.broadcast_to(directed, len(pair))
    forth = np.isin(np.arange(len(first)), pair[~directed | (ends[0] < ends[1])])
    back = np.isin(np.arange(len(first)), pair[~directed | (ends[0] > ends[1])])
    one_way = first[~(forth & back)]
    if one_way.size:
        tail, head = (names[end] for end in ends[:, one_way[0]])
        raise ValueError(
            f"the edge from {tail!r:.80} to {head!r:.80} has "
            "no edge back; graphs are undirected: add the reverse edges or declare the graph "
            "undirected"
        )

    graph = from_edges(
        num_nodes=len(names),
        num_graphs=1,
        graph_id=np.zeros(len(first), np.int64),
        ends=np.stack([low[first], high[first]]),
        weights=weights[first],
        source=np.array([_find(source, names)]),
    )
    return NamedGraph(graph[0], tuple(names))


def undirected_edges(graph: Graph) -> Iterator[tuple[int, int, str]]:
    """Each edge of a single graph once, its weight in as few digits as float32 needs."""
    once = np.asarray(graph.senders) < np.asarray(graph.receivers)  # padding is never less
    weights = map(str, np.asarray(graph.weights)[once])
    tails, heads = (np.asarray(ends)[once].tolist() for ends in (graph.senders, graph.receivers))
    return zip(tails, heads, weights, strict=True)


def check_single(graph: Graph) -> None:
    """What is written or converted is one graph, not a batch."""
    if graph.batch_shape:
        raise ValueError(
            f"expected a single graph, not a batch of shape {graph.batch_shape}; "
            "choose one of it, such as graphs[0]"
        )
    check_graph(graph)


def check_names(names: Sequence[Hashable] | None, num_nodes: int) -> Sequence[Hashable]:
    """One name for each node, no two alike; the nodes' numbers if none are given."""
    if names is None:
        return range(num_nodes)
    different = len(set(names)) if len(names) == num_nodes else None
    if different != num_nodes:
        counted = "" if different is None else f" ({different} different ones)"
        raise ValueError(
            f"got {len(names)} names{counted} for {num_nodes} nodes; every node needs a name of "
            "its own"
        )
    _check_lengths(names)
    return names


def check_attributes(attributes: Attributes | None, num_nodes: int) -> Attributes:
    """One value for each node in every attribute."""
    for name, values in (attributes or {}).items():
        if np.shape(values) != (num_nodes,):
            raise ValueError(
                f"node attribute {name!r:.80} has shape {np.shape(values)}; expected one value for "
                f"each of the {num_nodes} nodes"
            )
    return attributes or {}


def _check_lengths(names: Sequence[Hashable]) -> None:
    """Names are shown, compared and written: each must have a length for which that is quick."""
    for name in names:
        if isinstance(name, str) and len(name) > LONGEST_NAME:
            raise ValueError(
                f"the node name {name!r:.80}… has {len(name)} characters; expected at most "
                f"{LONGEST_NAME}: shorten it"
            )


def _check_weights(names, ends, weights) -> None:
    """Weights are stored as float32: each must be finite there, and zero only if it was zero."""
    with np.errstate(over="ignore", under="ignore"):
        stored = weights.astype(np.float32)
    bad = np.flatnonzero(~np.isfinite(stored) | ((stored == 0) & (weights != 0)))
    if bad.size:
        tail, head = names[ends[0, bad[0]]], names[ends[1, bad[0]]]
        raise ValueError(
            f"the edge between {tail!r:.80} and {head!r:.80} has weight {weights[bad[0]]:g}; "
            "expected a number that float32 can hold (about 1e-45 to 3e38 in size, or 0)"
        )


def _find(source: Hashable, names: Sequence[Hashable]) -> int:
    if source is None:
        return 0
    if source in names:
        return names.index(source)
    numbered = all(WHOLE_NUMBER.fullmatch(str(name)) for name in names)
    whole = isinstance(source, int | np.integer)
    if whole and numbered:
        return _find_number(int(source), names)
    if whole:
        if 0 <= source < len(names):
            return int(source)
        raise ValueError(
            f"source {source} is neither a node's name nor an index in 0…{len(names) - 1}"
        )
    known = ", ".join(f"{name!r:.80}" for name in names[:5]) + (", …" if len(names) > 5 else "")
    raise ValueError(
        f"no node is named {source!r:.80}{nearest(str(source), map(str, names))}; choose "
        f"one of {known}" + ("" if numbered else ", or an index as a whole number")
    )


def _find_number(source: int, names: Sequence[Hashable]) -> int:
    """Among names that are whole numbers: an index would look like one of them."""
    for index, name in enumerate(names):
        if str(name) == str(source):
            return index
    close = nsmallest(5, names, key=lambda name: abs(int(str(name)) - source))
    raise ValueError(f"no node is named {source}; the nearest are {', '.join(map(str, close))}")
