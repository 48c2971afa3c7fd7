"""Somebody's own graph, with the source that the command line names."""

from __future__ import annotations

from pathlib import Path

from algotransfer.graphs import NamedGraph, read_graph


def read_own(path: Path, source: str | None) -> NamedGraph:
    """Reads a graph; its source is a node's name or index (see `read_graph`), as text."""
    read = read_graph(path)
    if source is None:
        return read
    # An index is a number too, so names come first.
    known = source in read.names or not source.isdecimal()
    return read_graph(path, source if known else int(source))
