"""Edge lists as CSV: `source,target,weight` (or `u,v,weight`), one undirected edge a line.

The weight may be missing (1); beside all three, other columns are passed over. Lines that begin
with # are comments, and names are arbitrary text. A line without a target is a node on its own;
nodes are numbered in the order they appear.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Hashable, Sequence

import numpy as np

from algotransfer.graphs.graph import Graph
from algotransfer.graphs.named import Attributes, NamedGraph, named_graph, undirected_edges

COLUMNS = {"source": "source", "u": "source", "target": "target", "v": "target", "weight": "weight"}
HEADER = ("source", "target", "weight")


def read_edge_list(content: bytes, source: Hashable = None) -> NamedGraph:
    """Reads an edge list; see `read_graph`."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"it is not UTF-8 text ({error.reason} at byte {error.start})") from None
    lines = io.StringIO(text, newline="")
    # A comment becomes an empty line, which is passed over, so that line numbers stay right.
    rows = csv.reader(
        ("\n" if line.lstrip().startswith("#") else line for line in lines),
        skipinitialspace=True,
        strict=True,
    )
    columns, index, ends, weights = None, {}, [], []
    try:
        for row in rows:
            row = [field.strip() for field in row]
            if not any(row):
                continue
            if columns is None:
                columns = _columns(row)
                continue
            if len(row) > len(columns):
                raise ValueError(f"{len(row)} fields, but the header names {len(columns)}")
            edge = dict(zip(columns, row, strict=False))
            tail, head, weight = (edge.get(column, "") for column in HEADER)
            if not tail:
                raise ValueError("the edge has no source; give the name of a node")
            pair = [index.setdefault(name, len(index)) for name in (tail, head) if name]
            if head:
                ends.append(pair)
                weights.append(_number(weight))
            elif weight:
                raise ValueError(
                    f"weight {weight!r:.80}, but no target; give the edge both its ends"
                )
    except (ValueError, csv.Error) as error:
        raise ValueError(f"line {rows.line_num}: {error}") from None
    if columns is None:
        raise ValueError("it is empty; expected a header such as source,target,weight, then edges")
    return named_graph(
        list(index), np.array(ends, np.int64).reshape(-1, 2).T, np.array(weights, float), source
    )


def _columns(header: list[str]) -> list[str]:
    columns = [COLUMNS.get(field.lower(), field) for field in header]
    known = sorted(column for column in columns if column in HEADER)
    # Beside a weight, other columns are no matter; without one, any of them may be meant for it.
    if known != [*HEADER] and sorted(columns) != ["source", "target"]:
        raise ValueError(
            f"the header is {','.join(header)!r:.80}; expected source,target,weight or u,v,weight, "
            "perhaps with other columns, or source,target alone, separated by commas"
        )
    return columns


def _number(weight: str) -> float:
    try:
        return float(weight or 1)
    except ValueError:
        raise ValueError(f"weight {weight!r:.80} is not a number") from None


def write_edge_list(graph: Graph, names: Sequence[str], node_attributes: Attributes) -> bytes:
    """Writes an edge list that reads back as the same graph; see `write_graph`."""
    if node_attributes:
        raise ValueError(
            "an edge list has no place for node attributes; write a .graphml file instead"
        )
    for name in names:
        if not name or name != name.strip() or name.startswith("#") or len(name.splitlines()) > 1:
            raise ValueError(
                f"an edge list cannot hold the node name {name!r:.80} (empty, blank at an end, "
                "beginning with # or of several lines); write a .graphml file instead"
            )
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADER)
    seen = 0
    for tail, head, weight in undirected_edges(graph):
        # Nodes are numbered as they appear: those that would appear too late, or in the wrong
        # order, get lines of their own. An edge from the next node to the one after does not.
        if (tail, head) != (seen, seen + 1):
            writer.writerows([name, "", ""] for name in names[seen:head])
        seen = max(seen, head + 1)
        writer.writerow([names[tail], names[head], weight])
    writer.writerows([name, "", ""] for name in names[seen:])
    return text.getvalue().encode()
