"""Load the user's graph and resolve `--source`."""

from pathlib import Path

from algotransfer.graphs import NamedGraph, read_graph


def read_user_graph(path: Path, source: str | None) -> NamedGraph:
    """Read a graph; `source` is the name or the index of a node, as text (see `read_graph`)."""
    read = read_graph(path)
    if source is None:
        return read
    is_name = source in read.names or not source.isdecimal()  # names come before indices
    return read_graph(path, source if is_name else int(source))
