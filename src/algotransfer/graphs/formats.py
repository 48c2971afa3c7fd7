"""Read and write graph files; the suffix of the file name selects the format."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path

from algotransfer.errors import UserError
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
    """Reader (content, source) and writer (graph, names, node attributes) of a file format."""

    read: Callable[[bytes, Hashable], NamedGraph]
    write: Callable[[Graph, Sequence[str], Attributes], bytes]


FORMATS = {
    ".csv": Format(read_edge_list, write_edge_list),
    ".graphml": Format(read_graphml, write_graphml),
}
MAX_BYTES = 2**26  # of a file; reading takes up to 30 times as much memory


def read_graph(path: str | os.PathLike[str], source: Hashable = None) -> NamedGraph:
    """Read a weighted graph from an edge list (`.csv`) or GraphML (`.graphml`).

    An edge list has a header, `source,target,weight` or `u,v,weight`, then one edge per line; other
    columns are ignored. Missing weights are 1. Edges may be listed in both directions if their
    weights agree. With the header `from,to,weight`, and in a directed GraphML file, edges are
    directed, unless each has one back with the same weight.

    **Arguments:**

    - `source`: name of the source node or, unless all names are integers, its index (default: the
        first node).

    **Returns:** the single graph and the names of its nodes: `graph, names = read_graph(path)`.
    """
    path = Path(path)
    if path.suffix.lower() == ".npz":
        raise UserError(
            f"{path} is a data file of several graphs; evaluate a model on it with `algotransfer "
            f"evaluate MODEL --data {path}`, or in Python take one graph of it with "
            "load_dataset(path).named_graph(0)"
        )
    format = _format(path)
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}; check the path")
    if (size := path.stat().st_size) > MAX_BYTES:
        raise UserError(
            f"{path} has {size:,} bytes; expected at most {MAX_BYTES:,} in a {path.suffix} "
            "file: read a part of the graph"
        )
    try:
        return format.read(path.read_bytes(), source)
    except ValueError as error:
        raise UserError(f"cannot read {path}: {error}") from error


def write_graph(
    path: str | os.PathLike[str],
    graph: Graph,
    names: Sequence[Hashable] | None = None,
    node_attributes: Attributes | None = None,
) -> None:
    """Write a single graph atomically, as an edge list (`.csv`) or GraphML (`.graphml`).

    The file reads back as the same graph, except that the source is not stored.

    **Arguments:**

    - `names`: the names of the nodes (default: 0 … n − 1).
    - `node_attributes`: a sequence with one value per node, by attribute name (GraphML only).
    """
    format = _format(Path(path))
    check_single(graph)
    texts = [str(name) for name in check_names(names, graph.num_nodes)]
    check_names(texts, graph.num_nodes)  # 1 and "1" differ, but not in a file
    attributes = check_attributes(node_attributes, graph.num_nodes)
    write_atomically(path, format.write(graph, texts, attributes))


def _format(path: Path) -> Format:
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise UserError(
            f"{path} has the suffix {suffix!r:.80}; expected {' or '.join(FORMATS)}: rename or "
            "convert the file"
        )
    return FORMATS[suffix]
