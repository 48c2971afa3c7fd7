"""GraphML: nodes by their ids, and the edges' `weight` attribute.

The reader takes one element at a time and expands nothing: a file that declares a document type,
the only place for entities, is rejected at that line.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from algotransfer.graphs.graph import Graph
from algotransfer.graphs.named import Attributes, NamedGraph, named_graph, undirected_edges

NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
ATTRIBUTE_TYPES = {"b": "boolean", "i": "long", "u": "long", "f": "double", "U": "string"}
# What XML 1.0 cannot hold, not even as a character reference.
FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def read_graphml(content: bytes, source: Hashable = None) -> NamedGraph:
    """Reads GraphML; see `read_graph`."""
    reader = _Reader()
    try:
        reader.parser.Parse(content, True)
    except expat.ExpatError as error:
        raise ValueError(f"it is not well-formed XML: {error}") from None
    except ValueError as error:
        raise ValueError(f"line {reader.parser.CurrentLineNumber}: {error}") from None
    if not reader.graphs:
        raise ValueError("it has no <graph> element; expected GraphML")
    ends = reader.numbered_ends()
    return named_graph(
        list(reader.index),
        np.array(ends, np.int64).reshape(-1, 2).T,
        np.array([reader.default if e.weight is None else e.weight for e in reader.edges], float),
        source,
        np.array([edge.directed for edge in reader.edges], bool),
    )


@dataclass(slots=True)
class _Edge:
    ends: tuple[str, str]
    line: int
    directed: bool
    weight: float | None = None


class _Reader:
    """Collects nodes and edges while expat calls a method at the start and end of elements."""

    def __init__(self):
        self.graphs = 0
        self.index: dict[str, int] = {}
        self.edges: list[_Edge] = []
        self.default = 1.0  # the weight of edges that give none
        self._directed = False
        self._weight_key: str | None = None
        self._edge: _Edge | None = None  # the one being read
        self._in_weight_key = False
        self._text: list[str] | None = None  # of a weight being read

        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.StartDoctypeDeclHandler = self._doctype
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._characters

    def numbered_ends(self) -> list[list[int]]:
        """The edges' ends as indices; nodes may be declared after the edges that use them."""
        for edge in self.edges:
            for name in edge.ends:
                if name not in self.index:
                    raise ValueError(
                        f"line {edge.line}: the edge ends at {name!r:.80}, but no <node> has that "
                        "id"
                    )
        return [[self.index[name] for name in edge.ends] for edge in self.edges]

    def _doctype(self, *declaration):
        raise ValueError("a document type (<!DOCTYPE …>) is not allowed in a graph; delete it")

    def _start(self, tag: str, attributes: dict[str, str]):
        namespace, _, name = tag.rpartition(" ")
        if namespace in ("", NAMESPACE) and name in self._STARTS:
            self._STARTS[name](self, attributes)

    def _end(self, tag: str):
        namespace, _, name = tag.rpartition(" ")
        if namespace in ("", NAMESPACE) and name in self._ENDS:
            self._ENDS[name](self)

    def _characters(self, text: str):
        if self._text is not None:
            self._text.append(text)

    def _start_key(self, attributes):
        for_edges = attributes.get("for", "all") in ("edge", "all")
        if for_edges and attributes.get("attr.name") == "weight":
            if self._weight_key is not None:
                raise ValueError("a second <key> for the edges' weight; keep one")
            self._weight_key = attributes.get("id")
            self._in_weight_key = True

    def _end_key(self):
        self._in_weight_key = False

    def _start_default(self, attributes):
        if self._in_weight_key:
            self._text = []

    def _end_default(self):
        if self._text is not None:
            self.default = self._number()

    def _start_graph(self, attributes):
        self.graphs += 1
        if self.graphs > 1:
            raise ValueError("a second or nested <graph>; a file holds one graph here")
        self._directed = attributes.get("edgedefault") == "directed"

    def _start_node(self, attributes):
        name = attributes.get("id")
        if name is None or name in self.index:
            raise ValueError(
                f"a <node> with the id {name!r:.80}; every node needs an id of its own"
            )
        self.index[name] = len(self.index)

    def _start_edge(self, attributes):
        if "source" not in attributes or "target" not in attributes:
            raise ValueError("an <edge> without source or target; give both")
        directed = attributes.get("directed")
        self._edge = _Edge(
            ends=(attributes["source"], attributes["target"]),
            line=self.parser.CurrentLineNumber,
            directed=self._directed if directed is None else directed == "true",
        )
        self.edges.append(self._edge)

    def _end_edge(self):
        self._edge = None

    def _start_data(self, attributes):
        is_weight = "key" in attributes and attributes["key"] == self._weight_key
        if self._edge is not None and is_weight:
            self._text = []

    def _end_data(self):
        if self._edge is not None and self._text is not None:
            self._edge.weight = self._number()

    def _start_hyperedge(self, attributes):
        raise ValueError("a <hyperedge>; edges join two nodes here")

    def _number(self) -> float:
        text, self._text = "".join(self._text or ()).strip(), None
        try:
            return float(text)
        except ValueError:
            raise ValueError(f"weight {text!r:.80} is not a number") from None

    _STARTS: ClassVar = {
        "key": _start_key,
        "default": _start_default,
        "graph": _start_graph,
        "node": _start_node,
        "edge": _start_edge,
        "data": _start_data,
        "hyperedge": _start_hyperedge,
    }
    _ENDS: ClassVar = {
        "key": _end_key,
        "default": _end_default,
        "edge": _end_edge,
        "data": _end_data,
    }


def write_graphml(graph: Graph, names: Sequence[str], node_attributes: Attributes) -> bytes:
    """Writes GraphML that reads back as the same graph; see `write_graph`."""
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        f'<graphml xmlns="{NAMESPACE}">',
        '<key id="weight" for="edge" attr.name="weight" attr.type="double"/>',
    ]
    data = [""] * graph.num_nodes  # the attributes of each node
    for number, (name, values) in enumerate(node_attributes.items()):
        type, texts = _attribute(name, values)
        key = f"node{number}"
        lines.append(f'<key id="{key}" for="node" attr.name={_quoted(name)} attr.type="{type}"/>')
        data = [
            f'{before}<data key="{key}">{text}</data>'
            for before, text in zip(data, texts, strict=True)
        ]
    lines.append('<graph edgedefault="undirected">')
    ids = [_quoted(name) for name in names]
    lines += [f"<node id={id}>{inside}</node>" for id, inside in zip(ids, data, strict=True)]
    lines += [
        f'<edge source={ids[tail]} target={ids[head]}><data key="weight">{weight}</data></edge>'
        for tail, head, weight in undirected_edges(graph)
    ]
    lines.append("</graph>\n</graphml>\n")
    return "\n".join(lines).encode()


def _attribute(name: str, values: Sequence[Any] | np.ndarray) -> tuple[str, list[str]]:
    """A node attribute's type in GraphML, and the text of each value."""
    array = np.asarray(values)
    if array.dtype.kind not in ATTRIBUTE_TYPES:
        raise ValueError(
            f"node attribute {name!r:.80} holds {array.dtype}; GraphML has a type for numbers, "
            "booleans and text: convert it to one of these"
        )
    return ATTRIBUTE_TYPES[array.dtype.kind], [_text(value) for value in array]


def _text(value: np.generic) -> str:
    if isinstance(value, np.bool_):
        return str(value).lower()
    if isinstance(value, np.floating) and not np.isfinite(value):
        return str(value).replace("inf", "INF").replace("nan", "NaN")
    return escape(_checked(str(value)), {"\r": "&#13;"})


def _quoted(name: str) -> str:
    return quoteattr(_checked(name))


def _checked(text: str) -> str:
    if FORBIDDEN.search(text):
        raise ValueError(f"XML cannot hold the control characters in {text!r:.80}; remove them")
    return text
