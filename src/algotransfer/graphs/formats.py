"""Reading and writing people's own graphs; the suffix of a file's name tells its format."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path

from algotransfer.arguments import checked
from algotransfer.files import write_atomically
from algotransfer.graphs.edge_list import read_edge_list, write_edge_list
from algotransfer.graphs.graph import Graph
from algotransfer.graphs.graphml import read_graphml, write_graphml
from algotransfer.graphs.named import (
    Attributes,
    NamedGraph,
    check_attributes,
    check_names,
    check_single,
)


@dataclass(frozen=True)
class Format:
    """A way to read a file's content, and to make it of a graph, names and node attributes.

    **Arguments:**

    - `largest`: bytes that a file may have; reading takes up to 30 times as much memory.
    """

    read: Callable[[bytes, Hashable], NamedGraph]
    write: Callable[[Graph, Sequence[str], Attributes], bytes]
    largest: int


FORMATS = {
    ".csv": Format(read_edge_list, write_edge_list, largest=2**26),
    ".graphml": Format(read_graphml, write_graphml, largest=2**28),
}


@checked
def read_graph(path: str | os.PathLike[str], source: Hashable = None) -> NamedGraph:
    """Reads a weighted undirected graph from an edge list (`.csv`) or GraphML (`.graphml`).

    An edge list has a header, `source,target,weight` or `u,v,weight`, then an edge a line; other
    columns are passed over. Missing weights are 1. Edges may be listed in both directions if their
    weights agree; those of a directed GraphML file must be.

    **Arguments:**

    - `source`: the name of the node to start from or, as an integer and unless all names are whole
        numbers, its index; the first node by default.

    **Returns:** the single graph and the names of its nodes, `graph, names = read_graph(path)`.
    """
    path = Path(path)
    format = _format(path)
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}; check the path")
    if (size := path.stat().st_size) > format.largest:
        raise ValueError(
            f"{path} has {size:,} bytes; expected at most {format.largest:,} in a {path.suffix} "
            "file: take a part of the graph"
        )
    try:
        return format.read(path.read_bytes(), source)
    except ValueError as error:
        raise ValueError(f"cannot read {path}: {error}") from error


@checked
def write_graph(
    path: str | os.PathLike[str],
    graph: Graph,
    names: Sequence[Hashable] | None = None,
    node_attributes: Attributes | None = None,
) -> None:
    """Writes a single graph as an edge list (`.csv`) or GraphML (`.graphml`), whole or not at all.

    What is written reads back as the same graph; its source is not written.

    **Arguments:**

    - `names`: the names of the nodes; 0 … n − 1 by default.
    - `node_attributes`: by name, one value for each node (GraphML only).
    """
    format = _format(Path(path))
    check_single(graph)
    texts = [str(name) for name in check_names(names, graph.num_nodes)]
    check_names(texts, graph.num_nodes)  # 1 and "1" are different names, but not in a file
    attributes = check_attributes(node_attributes, graph.num_nodes)
    write_atomically(path, format.write(graph, texts, attributes))


def _format(path: Path) -> Format:
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise ValueError(
            f"{path} has the suffix {suffix!r:.80}; expected {' or '.join(FORMATS)}, which tells "
            "the format"
        )
    return FORMATS[suffix]
