"""Edge lists in CSV files: columns `source,target,weight` (or `u,v,weight`), one edge per line.

With the columns `from,to,weight`, edges are directed.
Names are arbitrary text. A missing weight is 1. A line with a source alone declares a node. Lines
that start with # are comments. Other columns are ignored if the header has all three. Nodes are
numbered in order of appearance.
"""

import csv
import io
from collections.abc import Hashable, Sequence

import numpy as np

from algotransfer.errors import UserError
from algotransfer.graphs.graph import Graph
from algotransfer.graphs.named import (
    Attributes,
    NamedGraph,
    named_graph,
    notify_missing_weights,
    unique_edges,
)

COLUMNS = {"source": "source", "u": "source", "target": "target", "v": "target", "weight": "weight"}
HEADER = ("source", "target", "weight")
DIRECTED_HEADER = ("from", "to", "weight")


def read_edge_list(content: bytes, source: Hashable = None) -> NamedGraph:
    """Read an edge list; see `read_graph`."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"it is not UTF-8 text ({error.reason} at byte {error.start})") from None
    lines = io.StringIO(text, newline="")
    # Comments become empty lines, so that line numbers stay correct.
    rows = csv.reader(
        ("\n" if line.lstrip().startswith("#") else line for line in lines),
        skipinitialspace=True,
        strict=True,
    )
    columns, directed, index, ends, weights, missing = None, False, {}, [], [], 0
    try:
        for row in rows:
            row = [field.strip() for field in row]
            if not any(row):
                continue
            if columns is None:
                columns, directed = _columns(row)
                continue
            if len(row) > len(columns):
                raise UserError(
                    f"{len(row)} fields; the header has {len(columns)}: quote names with commas"
                )
            edge = dict(zip(columns, row, strict=False))
            tail, head, weight = (edge.get(column, "") for column in HEADER)
            if not tail:
                raise UserError("the source is missing; give the name of a node")
            pair = [index.setdefault(name, len(index)) for name in (tail, head) if name]
            if head:
                ends.append(pair)
                weights.append(_number(weight))
                missing += not weight
            elif weight:
                raise UserError(
                    f"weight {weight!r:.80}, but no target; give the edge both its ends"
                )
    except (ValueError, csv.Error) as error:
        raise UserError(f"line {rows.line_num}: {error}") from None
    if columns is None:
        raise UserError("it is empty; expected a header such as source,target,weight, then edges")
    notify_missing_weights(missing, len(ends))
    return named_graph(
        list(index),
        np.array(ends, np.int64).reshape(-1, 2).T,
        np.array(weights, float),
        source,
        directed,
    )


def _columns(header: list[str]) -> tuple[list[str], bool]:
    """Return the columns by the names of `HEADER`, and whether edges are directed."""
    lower = [field.lower() for field in header]
    directed = {"from", "to"} <= set(lower)
    names: dict[str, str] = COLUMNS
    if directed:
        names = dict(zip(DIRECTED_HEADER, HEADER, strict=True))
    columns = [names.get(name, field) for name, field in zip(lower, header, strict=True)]
    known = sorted(column for column in columns if column in HEADER)
    # Without a weight column, an unknown column may be a misspelt weight.
    if known != [*HEADER] and sorted(columns) != ["source", "target"]:
        raise UserError(
            f"the header is {','.join(header)!r:.80}; expected source,target,weight or u,v,weight, "
            "or from,to,weight for directed edges (other columns are ignored), or only the first "
            "two, separated by commas"
        )
    return columns, directed


def _number(weight: str) -> float:
    try:
        return float(weight or 1)
    except ValueError:
        raise UserError(f"the weight is {weight!r:.80}; expected a number") from None


def write_edge_list(graph: Graph, names: Sequence[str], node_attributes: Attributes) -> bytes:
    """Write an edge list that reads back as the same graph; see `write_graph`."""
    if node_attributes:
        raise UserError(
            f"got {len(node_attributes)} node attributes, which an edge list cannot hold; write a "
            ".graphml file instead"
        )
    for name in names:
        if not name or name != name.strip() or name.startswith("#") or len(name.splitlines()) > 1:
            raise UserError(
                f"the node name {name!r:.80} is empty, starts or ends with a space, starts with # "
                "or has several lines, which an edge list cannot hold; write a .graphml file "
                "instead"
            )
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(DIRECTED_HEADER if graph.directed else HEADER)
    seen = 0
    for tail, head, weight in unique_edges(graph):
        # Nodes are numbered by first appearance, so those that would appear too late or in the
        # wrong order get their own lines. An edge from node `seen` to the next one does not.
        last = max(tail, head)
        if (tail, head) != (seen, seen + 1):
            writer.writerows([name, "", ""] for name in names[seen:last])
        seen = max(seen, last + 1)
        writer.writerow([names[tail], names[head], weight])
    writer.writerows([name, "", ""] for name in names[seen:])
    return text.getvalue().encode()
