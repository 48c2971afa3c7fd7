"""GraphML files, malicious ones included."""

import io
import time

import networkx as nx
import numpy as np
import pytest

from algotransfer.errors import UserError
from algotransfer.files import Notice
from algotransfer.graphs import from_networkx
from algotransfer.graphs.graphml import read_graphml, write_graphml

HEAD = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
KEY = '<key id="w" for="edge" attr.name="weight" attr.type="double"/>'
NODES = '<node id="a"/><node id="b"/>'


def read(inside, head=HEAD, **options):
    return read_graphml(f"{head}{inside}</graphml>".encode(), **options)


def graph(inside, key=KEY, kind="undirected"):
    return f'{key}<graph edgedefault="{kind}">{inside}</graph>'


EDGE = '<edge source="a" target="b"><data key="w">0.25</data></edge>'


@pytest.mark.parametrize("head", [HEAD, "<graphml>", '<?xml version="1.0"?>\n<graphml>'])
def test_nodes_and_weights(head):
    named = read(graph(f'<node id="c"/>{NODES}{EDGE}'), head, source="b")
    assert named.names == ("c", "a", "b")
    assert named.graph.source == 2
    assert named.graph.senders.tolist() == [1, 2]
    assert named.graph.weights.tolist() == [0.25, 0.25]


def test_edges_may_come_before_their_nodes():
    assert read(graph(EDGE + NODES)).graph.num_edges() == 1


@pytest.mark.parametrize(
    ("key", "weight"),
    [
        ("", 1),
        (KEY, 1),
        ('<key id="w" for="edge" attr.name="weight"><default>0.5</default></key>', 0.5),
        ('<key id="w" for="all" attr.name="weight"><default> 2 </default></key>', 2),
        ('<key id="w" for="node" attr.name="weight"><default>3</default></key>', 1),
        ('<key id="w" for="edge" attr.name="length"><default>3</default></key>', 1),
    ],
)
def test_weights_that_are_not_given(key, weight):
    named = read(graph(f'{NODES}<edge source="a" target="b"/>', key))
    assert named.graph.weights.tolist() == [weight, weight]


def test_distances_under_another_name_are_pointed_out():
    keys = '<key id="d" for="edge" attr.name="length"/><key id="n" for="edge" attr.name="name"/>'
    data = '<data key="d">12.5</data><data key="n">A1</data>'
    inside = graph(f'{NODES}<edge source="a" target="b">{data}</edge>', keys)
    with pytest.warns(Notice, match=r"numbers in 'length':.*rename the attribute to weight in the"):
        assert read(inside).graph.weights.tolist() == [1, 1]
    with pytest.warns(Notice, match="^1 of 2 edges have no weight; their weight is 1$"):
        read(graph(f'{NODES}<node id="c"/>{EDGE}<edge source="b" target="c"/>'))


def test_other_data_is_passed_over():
    inside = (
        '<desc>towns</desc><node id="a"><data key="w">7</data><data>x</data></node><node id="b"/>'
        '<edge source="a" target="b"><data key="w">0.5</data><data key="q">8</data><data>y</data>'
        '<y:node xmlns:y="urn:other" id="a"/></edge>'
    )
    assert read(graph(inside)).graph.weights.tolist() == [0.5, 0.5]
    assert read(graph(inside, key="")).graph.weights.tolist() == [1, 1]


def test_many_attributes_take_no_time():
    many = " ".join(f'a{number}="1"' for number in range(300_000))
    start = time.process_time()
    ends = f'<node id="a" {many}/><node id="b"/>'
    assert read(graph(f'{ends}<edge source="a" target="b" {many}/>')).names == ("a", "b")
    assert time.process_time() - start < 3


def test_directed_files():
    back = '<edge source="b" target="a"><data key="w">0.25</data></edge>'
    assert read(graph(NODES + EDGE + back, kind="directed")).graph.num_edges() == 1
    one_way = read(graph(NODES + EDGE, kind="directed")).graph
    assert one_way.directed
    assert one_way.senders.tolist() == [0]
    two = read(graph(NODES + EDGE + '<edge source="b" target="a"/>', kind="directed")).graph
    assert two.weights.tolist() == [0.25, 1]
    with pytest.raises(UserError, match=r"from 'a' to 'b' is listed with two weights, 0\.25 and 1"):
        read(graph(NODES + EDGE + EDGE.replace("0.25", "1"), kind="directed"))


def test_directed_and_undirected_edges_cannot_be_mixed():
    one_way = EDGE.replace("<edge", '<edge directed="true"')
    with pytest.raises(UserError, match="directed=true edge found in undirected graph"):
        read(graph(NODES + one_way))
    both_ways = EDGE.replace("<edge", '<edge directed="false"')
    with pytest.raises(UserError, match="directed=false edge found in directed graph"):
        read(graph(NODES + both_ways, kind="directed"))


def test_edges_with_equal_ids_are_not_merged():
    first = EDGE.replace("<edge", '<edge id="e"')
    with pytest.raises(UserError, match="listed with two weights, 0.25 and 3"):
        read(graph(NODES + first + first.replace("0.25", "3")))


@pytest.mark.parametrize(
    ("inside", "message"),
    [
        ("", "0 <graph> elements; expected <graphml> with one <graph>"),
        (graph(""), "the graph has no nodes"),
        (KEY + graph(NODES), "it has 2 <key> elements for the weight of edges; keep one"),
        (graph(NODES) + graph("\n", key=""), "2 <graph> elements; expected <graphml> with one"),
        (graph(NODES[:-2] + ">" + graph("", "") + "</node>"), "2 <graph> elements; expected"),
        (graph("<node/>"), "a <node> has the id None; give every node an id of its own"),
        (graph(NODES + NODES), "a <node> has the id 'a'; give every node an id of its own"),
        (graph(NODES + '<edge source="a"/>'), "attributes {'source': 'a'}; give it source and"),
        (graph(f'{NODES}<edge source="a" target="z"/>'), "an <edge> ends at 'z'; add a <node>"),
        (graph(NODES + "<hyperedge/>"), "it has a <hyperedge>; replace it by edges"),
        (graph(NODES + EDGE.replace("0.25", "heavy")), "has weight 'heavy'; expected a number"),
        (graph(NODES + EDGE.replace("0.25", "")), "has weight ''; expected a number"),
        (graph(NODES + EDGE.replace("0.25", "NaN")), "between 'a' and 'b' has weight nan"),
        (graph(NODES + EDGE.replace('"b"', '"a"')), "node 'a' has an edge to itself"),
        (graph(NODES + EDGE + EDGE.replace("0.25", "1")), "listed with two weights"),
        (graph(NODES, kind="Directed"), "edgedefault is 'Directed'; expected 'directed' or 'undi"),
        (
            graph(NODES + EDGE.replace(">", ' directed="maybe">', 1)),
            "directed='maybe'; expected 't",
        ),
        (
            graph(NODES + EDGE.replace("</edge>", '<data key="w">3</data></edge>')),
            "the edge between 'a' and 'b' has 2 weights; keep one",
        ),
        ("<graph>", "it is not well-formed XML: mismatched tag: line 1, column"),
    ],
)
def test_bad_files(inside, message):
    with pytest.raises(UserError, match=message):
        read(inside)


@pytest.mark.parametrize(
    "content", [b"", b"u,v\na,b\n", b"\x00\x01", b'<?xml version="1.0" encoding="no"?><a/>']
)
def test_not_xml(content):
    with pytest.raises(UserError, match="it is not well-formed XML"):
        read_graphml(content)


LAUGHS = (
    '<!DOCTYPE lolz [<!ENTITY a "ha">'
    + "".join(
        f'<!ENTITY {x} "{f"&{y};" * 10}">' for y, x in zip("abcdefgh", "bcdefghi", strict=True)
    )
    + "]>"
)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize(
    "declaration",
    [
        LAUGHS,
        '<!DOCTYPE g [<!ENTITY i SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE g SYSTEM "http://localhost/graph.dtd">',
        '<!DOCTYPE g [<!ENTITY % i SYSTEM "file:///etc/passwd"> %i;]>',
        "<!DOCTYPE graphml>",
    ],
)
def test_no_entities(declaration, encoding):
    text = f'\n{declaration}<graphml><graph><node id="&i;"/></graph></graphml>'
    with pytest.raises(UserError, match=r"a document type \(<!DOCTYPE …>\) is not allow"):
        read_graphml(text.encode(encoding))


def test_the_word_doctype_is_allowed():
    inside = '<!-- <!DOCTYPE x> --><node id="&lt;!DOCTYPE&gt;"/><node id="b"/>'
    assert read(graph(inside)).names == ("<!DOCTYPE>", "b")


def test_an_undeclared_entity():
    with pytest.raises(UserError, match="it is not well-formed XML: undefined entity"):
        read(graph('<node id="&secret;"/>'))


def test_networkx_reads_what_is_written():
    names = ['<a> & "b"', "line\nbreak\ttab", " blank ", "é"]
    graph, _ = from_networkx(nx.path_graph(4))
    attributes = {
        "key": [0, np.inf, -np.inf, 0.5],
        "steps": np.arange(4),
        "visited": [True, False, True, True],
        "no<te": ["", "a & b", " c ", "d\ne"],
    }
    written = write_graphml(graph, names, attributes)
    theirs = nx.read_graphml(io.BytesIO(written))
    assert list(theirs) == names
    assert list(theirs.edges(data="weight")) == [(*names[i : i + 2], 1.0) for i in range(3)]
    for attribute, values in attributes.items():
        assert list(nx.get_node_attributes(theirs, attribute).values()) == list(values)
    assert read_graphml(written).names == tuple(names)


def test_we_read_what_networkx_writes():
    theirs = nx.random_geometric_graph(20, 0.4, seed=1)
    for number, (tail, head) in enumerate(theirs.edges):
        theirs.edges[tail, head]["weight"] = 0.5 + number
    for node in theirs:
        del theirs.nodes[node]["pos"]
    content = io.BytesIO()
    nx.write_graphml(theirs, content)
    ours = read_graphml(content.getvalue())
    assert ours.names == tuple(map(str, theirs))
    assert np.array_equal(ours.graph.weight_matrix(), nx.to_numpy_array(theirs))


def test_what_cannot_be_written():
    graph, _ = from_networkx(nx.path_graph(2))
    with pytest.raises(UserError, match=r"XML cannot hold the control characters in 'a\\x00'"):
        write_graphml(graph, ["a\0", "b"], {})
    with pytest.raises(UserError, match="XML cannot hold the control characters"):
        write_graphml(graph, ["a", "b"], {"note": ["\x1b", ""]})
    with pytest.raises(UserError, match="XML cannot hold the control characters"):
        write_graphml(graph, ["a\r", "b"], {})
    with pytest.raises(UserError, match=r"node attribute 'z' holds complex128; expected numbers"):
        write_graphml(graph, ["a", "b"], {"z": [1j, 2j]})
