"""GraphML files: node ids are names, and edges have a `weight` attribute.

networkx reads and writes them. Before it reads, documents with entities are refused, and so is
everything that networkx would merge or skip without a word, such as two nodes with the same id.
"""

import io
import re
from collections.abc import Hashable, Sequence
from typing import Any
from xml.etree import ElementTree

import numpy as np

from algotransfer.errors import UserError
from algotransfer.graphs.convert import from_networkx
from algotransfer.graphs.graph import Graph
from algotransfer.graphs.named import (
    Attributes,
    NamedGraph,
    is_number,
    notify_missing_weights,
    unique_edges,
)

NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
EDGE = ("source", "target", "directed")  # attributes that are read
RENAME = (
    "rename the attribute to weight in the file, or in Python convert the graph with "
    "from_networkx(networkx.read_graphml(path), weight={name!r})"
)
# Characters that XML 1.0 cannot hold, and the carriage return, which networkx does not escape.
FORBIDDEN = re.compile("[^\t\n\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def read_graphml(content: bytes, source: Hashable = None) -> NamedGraph:
    """Read GraphML; see `read_graph`."""
    import networkx

    try:
        root = ElementTree.fromstring(content, ElementTree.XMLParser(target=_GuardedBuilder()))
    except (ElementTree.ParseError, LookupError) as error:  # LookupError: unknown encoding
        raise UserError(f"it is not well-formed XML: {error}") from None
    default_weight, numeric = _reduce(root)
    text = ElementTree.tostring(root, "unicode")
    try:
        network = networkx.parse_graphml(text, force_multigraph=True)
    except networkx.NetworkXError as error:
        raise UserError(f"networkx cannot read it as GraphML: {error!s:.80}") from None
    edges = [data for *_, data in network.edges(data=True)]
    missing = 0 if default_weight else sum("weight" not in data for data in edges)
    notify_missing_weights(missing, len(edges), numeric, RENAME)
    for data in edges:
        data.setdefault("weight", default_weight or "1")
    return from_networkx(network, source)


class _GuardedBuilder(ElementTree.TreeBuilder):
    """A tree builder that refuses document types: only they can declare entities."""

    def doctype(self, name: str, pubid: str | None, system: str | None) -> None:
        """Expat calls this before it reads any declaration."""
        raise UserError("a document type (<!DOCTYPE …>) is not allowed in a graph; delete it")


def _reduce(root: ElementTree.Element) -> tuple[str | None, list[str]]:
    """Check a document, and reduce it to nodes, edges and weights, in place.

    **Returns:** the weight that the file gives to edges without one, as text, and the names of
    other edge attributes that have numbers.
    """
    for element in root.iter():
        element.tag = element.tag.removeprefix(f"{{{NAMESPACE}}}")
    graphs = list(root.iter("graph"))
    if root.tag != "graphml" or len(graphs) != 1:
        raise UserError(
            f"it has the root <{root.tag:.80}> and {len(graphs)} <graph> elements; expected "
            "<graphml> with one <graph>, and none nested in it"
        )
    graph = graphs[0]
    nodes, edges = graph.findall("node"), graph.findall("edge")
    _check_ends(nodes, edges)
    _check_directions(graph, edges)
    if graph.find("hyperedge") is not None:
        raise UserError("it has a <hyperedge>; replace it by edges between two nodes")
    of_edges = [key for key in root.iter("key") if key.get("for", "all") in ("edge", "all")]
    keys = [key for key in of_edges if key.get("attr.name") == "weight"]
    if len(keys) > 1:
        raise UserError(f"it has {len(keys)} <key> elements for the weight of edges; keep one")

    numeric = _numeric_attributes([key for key in of_edges if key not in keys], edges)
    default_weight = None
    for key in keys:
        default_weight = key.findtext("default", default_weight)
        # Text, so that `from_networkx` names the edge whose weight is not a number.
        key.attrib = {"id": key.get("id", ""), "attr.name": "weight", "attr.type": "string"}
        del key[:]
    weight_ids = [key.get("id") for key in keys]
    # Other attributes take long to copy; by its id, networkx would merge an edge with another.
    for edge in edges:
        edge.attrib = {name: edge.attrib[name] for name in EDGE if name in edge.attrib}
        edge[:] = [data for data in edge.iterfind("data") if data.get("key") in weight_ids]
        if len(edge) > 1:
            ends = f"{edge.get('source')!r:.80} and {edge.get('target')!r:.80}"
            raise UserError(f"the edge between {ends} has {len(edge)} weights; keep one")
        for data in edge:
            del data[:]
    for node in nodes:
        node.attrib = {"id": node.attrib["id"]}
        del node[:]
    graph.attrib = {"edgedefault": graph.get("edgedefault", "undirected")}
    graph[:] = nodes + edges
    root[:] = [*keys, graph]
    root.attrib = {"xmlns": NAMESPACE}
    return default_weight, numeric


def _numeric_attributes(
    keys: list[ElementTree.Element], edges: list[ElementTree.Element]
) -> list[str]:
    """Return the names of the attributes with a number for some edge."""
    with_numbers = {
        data.get("key") for edge in edges for data in edge.iterfind("data") if is_number(data.text)
    }
    numeric = [key for key in keys if key.get("id") in with_numbers]
    return [key.get("attr.name") or key.get("id", "") for key in numeric]


def _check_ends(nodes: list[ElementTree.Element], edges: list[ElementTree.Element]) -> None:
    names = set()
    for node in nodes:
        name = node.get("id")
        if name is None or name in names:
            raise UserError(f"a <node> has the id {name!r:.80}; give every node an id of its own")
        names.add(name)
    for edge in edges:
        for end in (edge.get("source"), edge.get("target")):
            if end is None:
                raise UserError(
                    f"an <edge> has the attributes {edge.attrib!s:.80}; give it source and target"
                )
            if end not in names:
                raise UserError(f"an <edge> ends at {end!r:.80}; add a <node> with that id")


def _check_directions(graph: ElementTree.Element, edges: list[ElementTree.Element]) -> None:
    default = graph.get("edgedefault", "undirected")
    if default not in ("directed", "undirected"):
        raise UserError(f"edgedefault is {default!r:.80}; expected 'directed' or 'undirected'")
    for edge in edges:
        directed = edge.get("directed", "true")
        if directed not in ("true", "false"):
            raise UserError(f"an <edge> has directed={directed!r:.80}; expected 'true' or 'false'")


def write_graphml(graph: Graph, names: Sequence[str], node_attributes: Attributes) -> bytes:
    """Write GraphML that reads back as the same graph; see `write_graph`."""
    import networkx

    network = networkx.DiGraph() if graph.directed else networkx.Graph()
    network.add_nodes_from(_checked(name) for name in names)
    for attribute, values in node_attributes.items():
        plain = _plain_values(_checked(attribute), values)
        networkx.set_node_attributes(network, dict(zip(names, plain, strict=True)), attribute)
    network.add_weighted_edges_from(
        (names[tail], names[head], _shortest(weight)) for tail, head, weight in unique_edges(graph)
    )
    file = io.BytesIO()
    networkx.write_graphml_xml(network, file)
    return file.getvalue()


def _plain_values(attribute: str, values: Sequence[Any] | np.ndarray) -> list[Any]:
    """Return the values of a node attribute as Python objects."""
    array = np.asarray(values)
    if array.dtype.kind not in "biufU":
        raise UserError(
            f"node attribute {attribute!r:.80} holds {array.dtype}; expected numbers, booleans or "
            "text: convert it"
        )
    if array.dtype.kind == "f":
        return [_shortest(value) for value in array]
    return [_checked(value) if isinstance(value, str) else value for value in array.tolist()]


def _shortest(value: np.floating) -> float:
    """Return the float with the fewest digits that reads back as `value`: 0.1 for float32(0.1)."""
    return float(str(value))


def _checked(text: str) -> str:
    if FORBIDDEN.search(text):
        raise UserError(f"XML cannot hold the control characters in {text!r:.80}; remove them")
    return text
