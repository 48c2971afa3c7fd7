"""`NamedGraph`: a single graph with node names, as the readers and converters return it."""

import math
import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from algotransfer.errors import UserError
from algotransfer.files import notify
from algotransfer.graphs.graph import Graph, check_graph, from_edges
from algotransfer.limits import MAX_NODES
from algotransfer.registry import nearest

MAX_NAME_LENGTH = 1000  # characters
MAX_SHOWN = 5  # names of attributes in a message
INTEGER = re.compile(r"-?\d{1,18}")
Attributes = Mapping[str, Sequence[Any] | np.ndarray]  # by name, one value per node


@dataclass(frozen=True, eq=False)
class NamedGraph:
    """A single graph and the names of its nodes; unpacks as `graph, names`."""

    graph: Graph
    names: tuple[Hashable, ...]

    def __iter__(self) -> Iterator[Graph | tuple[Hashable, ...]]:
        return iter((self.graph, self.names))


def check_num_nodes(num_nodes: int) -> None:
    """Raise a `UserError` unless a graph may have this number of nodes."""
    if num_nodes < 1:
        raise UserError("the graph has no nodes; it needs at least one")
    if num_nodes > MAX_NODES:
        raise UserError(
            f"the graph has {num_nodes:,} nodes; at most {MAX_NODES:,} are supported: use a part"
        )


def named_graph(
    names: Sequence[Hashable],
    ends: Int[np.ndarray, "2 pairs"],
    weights: Float[np.ndarray, " pairs"],
    source: Hashable = None,
    directed: bool = False,
) -> NamedGraph:
    """Check edges that come from the user and build a graph; `source` is as in `read_graph`.

    An edge may be listed more than once with equal weights, an undirected one in either direction.
    If every `directed` edge has one back with the same weight, the graph is undirected all the
    same.
    """
    check_num_nodes(len(names))
    _check_texts(names)
    _check_weights(names, ends, weights)
    loops = np.flatnonzero(ends[0] == ends[1])
    if loops.size:
        raise UserError(
            f"node {names[ends[0, loops[0]]]!r:.80} has an edge to itself; remove self-loops"
        )

    if directed:
        directed = not _is_symmetric(ends, weights, len(names))
    ordered = ends if directed else np.sort(ends, axis=0)
    _, first, pair = np.unique(
        ordered[0] * len(names) + ordered[1], return_index=True, return_inverse=True
    )
    different = np.flatnonzero(weights != weights[first][pair])
    if different.size:
        here, before = different[0], first[pair[different[0]]]
        tail, head = (names[end] for end in ends[:, here])
        edge = (
            f"from {tail!r:.80} to {head!r:.80}"
            if directed
            else f"between {tail!r:.80} and {head!r:.80}"
        )
        hint = "" if directed else "this graph is undirected: "
        raise UserError(
            f"the edge {edge} is listed with two weights, {weights[before]:g} and "
            f"{weights[here]:g}; {hint}give every edge one weight"
        )
    graph = from_edges(
        num_nodes=len(names),
        num_graphs=1,
        graph_id=np.zeros(len(first), np.int64),
        ends=ordered[:, first],
        weights=weights[first],
        source=np.array([find_node(source, names)]),
        directed=directed,
    )
    return NamedGraph(graph[0], tuple(names))


def is_number(value: Any) -> bool:
    """Whether the value of an edge attribute, which may be text, is a number."""
    try:
        return not isinstance(value, bool) and math.isfinite(float(value))
    except (TypeError, ValueError, OverflowError):
        return False


def notify_missing_weights(
    missing: int,
    num_edges: int,
    others: Sequence[Hashable] = (),
    how: str = "",
    attribute: str = "weight",
) -> None:
    """Warn of edges without a weight, unless the graph looks as if it were meant to have none.

    **Arguments:**

    - `others`: the attributes that have numbers instead, if no edge has a weight.
    - `how`: how to use one of them; `{name}` stands for it.
    - `attribute`: name of the attribute with the weight.
    """
    if 0 < missing < num_edges:
        notify(f"{missing:,} of {num_edges:,} edges have no {attribute:.80}; their weight is 1")
    elif missing and others:
        names = ", ".join(f"{name!r:.80}" for name in others[:MAX_SHOWN])
        more = ", …" if len(others) > MAX_SHOWN else ""
        notify(
            f"no edge has a weight, so all weights are 1; edges have numbers in {names}{more}: to "
            f"use one as the weight, {how.format(name=others[0])}"
        )


def _is_symmetric(ends, weights, num_nodes: int) -> bool:
    """Whether every edge has one back, with equal weights."""
    there, back = (
        np.unique(np.stack([tail * num_nodes + head, weights]), axis=1)
        for tail, head in (ends, ends[::-1])
    )
    return np.array_equal(there, back)


def unique_edges(graph: Graph) -> Iterator[tuple[int, int, np.float32]]:
    """Return tail, head and weight of each edge of a single graph, an undirected edge once."""
    ends = np.stack([graph.senders, graph.receivers])
    once = ends[0] != ends[1] if graph.directed else ends[0] < ends[1]  # padding has equal ends
    return zip(*ends[:, once].tolist(), np.asarray(graph.weights)[once], strict=True)


def check_single(graph: Graph) -> None:
    """Raise a `UserError` unless `graph` is a single, consistent graph."""
    if graph.batch_shape:
        raise UserError(
            f"expected a single graph, not a batch of shape {graph.batch_shape}; "
            "select one, such as graphs[0]"
        )
    check_graph(graph)


def check_names(names: Sequence[Hashable] | None, num_nodes: int) -> Sequence[Hashable]:
    """Return the names, 0 … n − 1 if None; raise a `UserError` unless each node has its own."""
    if names is None:
        return range(num_nodes)
    different = len(set(names)) if len(names) == num_nodes else 0
    if different != num_nodes:
        count = f"{different} different" if different else f"{len(names):,}"
        raise UserError(
            f"got {count} names for {num_nodes} nodes; expected a different name for each node"
        )
    _check_texts(names)
    return names


def check_attributes(attributes: Attributes | None, num_nodes: int) -> Attributes:
    """Return the attributes; raise a `UserError` unless each has one value per node."""
    for name, values in (attributes or {}).items():
        if np.shape(values) != (num_nodes,):
            raise UserError(
                f"node attribute {name!r:.80} has shape {np.shape(values)}; expected one value for "
                f"each of the {num_nodes} nodes"
            )
    return attributes or {}


def _check_texts(names: Sequence[Hashable]) -> None:
    """Raise a `UserError` for names that data files cannot hold or that take long to print."""
    for name in names:
        if isinstance(name, str) and "\0" in name:
            raise UserError(f"the node name {name!r:.80} has a NUL character; remove it")
        if isinstance(name, str) and len(name) > MAX_NAME_LENGTH:
            raise UserError(
                f"the node name {name!r:.80}… has {len(name)} characters; expected at most "
                f"{MAX_NAME_LENGTH}: shorten it"
            )


def _check_weights(names, ends, weights) -> None:
    """Raise a `UserError` for weights that overflow, or underflow to zero, in float32."""
    with np.errstate(over="ignore", under="ignore"):
        stored = weights.astype(np.float32)
    bad = np.flatnonzero(~np.isfinite(stored) | ((stored == 0) & (weights != 0)))
    if bad.size:
        tail, head = names[ends[0, bad[0]]], names[ends[1, bad[0]]]
        raise UserError(
            f"the edge between {tail!r:.80} and {head!r:.80} has weight {weights[bad[0]]:g}; "
            "expected a number that float32 can hold (about 1e-45 to 3e38 in size, or 0)"
        )


def find_node(source: Hashable, names: Sequence[Hashable]) -> int:
    """Return the index of the source; an index may be given unless all names are integers."""
    if source is None:
        return 0
    if source in names:
        return names.index(source)
    texts = [str(name) for name in names]
    numbered = all(INTEGER.fullmatch(text) for text in texts)
    if isinstance(source, int | np.integer):
        if numbered and str(source) in texts:
            return texts.index(str(source))
        if not numbered and 0 <= source < len(names):
            return int(source)
    known = ", ".join(f"{name!r:.80}" for name in names[:5]) + (", …" if len(names) > 5 else "")
    raise UserError(
        f"no node is named {source!r:.80}{nearest(str(source), texts)}; choose one of {known}"
        + ("" if numbered else f", or an index in 0…{len(names) - 1}")
    )
