"""GraphML, and files that are made to harm."""

import io

import networkx as nx
import numpy as np
import pytest

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


def test_other_data_is_passed_over():
    inside = (
        '<desc>towns</desc><node id="a"><data key="w">7</data><data>x</data></node><node id="b"/>'
        '<edge source="a" target="b"><data key="w">0.5</data><data key="q">8</data><data>y</data>'
        '<y:node xmlns:y="urn:other" id="a"/></edge>'
    )
    assert read(graph(inside)).graph.weights.tolist() == [0.5, 0.5]
    assert read(graph(inside, key="")).graph.weights.tolist() == [1, 1]


def test_directed_files_need_both_directions():
    back = '<edge source="b" target="a"><data key="w">0.25</data></edge>'
    assert read(graph(NODES + EDGE + back, kind="directed")).graph.num_edges() == 1
    with pytest.raises(ValueError, match="the edge from 'a' to 'b' has no edge back"):
        read(graph(NODES + EDGE, kind="directed"))
    with pytest.raises(ValueError, match=r"with two weights, 0\.25 and 1; graphs are undirected"):
        read(graph(NODES + EDGE + '<edge source="b" target="a"/>', kind="directed"))


def test_an_edge_may_differ_from_the_default():
    one_way = EDGE.replace("<edge", '<edge directed="true"')
    with pytest.raises(ValueError, match="has no edge back"):
        read(graph(NODES + one_way))
    both_ways = EDGE.replace("<edge", '<edge directed="false"')
    assert read(graph(NODES + both_ways, kind="directed")).graph.num_edges() == 1


@pytest.mark.parametrize(
    ("inside", "message"),
    [
        ("", "it has no <graph> element; expected GraphML"),
        (graph(""), "the graph has no nodes"),
        (graph(NODES) * 2, "line 1: a second <key> for the edges' weight"),
        (graph(NODES) + graph("\n", key=""), "line 1: a second or nested <graph>"),
        (graph(NODES[:-2] + ">" + graph("", "") + "</node>"), "a second or nested <graph>"),
        (graph("\n<node/>"), "line 2: a <node> with the id None; every node needs an id of its"),
        (graph(NODES + NODES), "a <node> with the id 'a'; every node needs an id of its own"),
        (graph(NODES + '\n<edge source="a"/>'), "line 2: an <edge> without source or target"),
        (
            graph(f'{NODES}\n\n<edge source="a" target="z"/>'),
            "line 3: the edge ends at 'z', but no <node> has that id",
        ),
        (graph(NODES + "<hyperedge/>"), "a <hyperedge>; edges join two nodes here"),
        (graph(NODES + EDGE.replace("0.25", "heavy")), "line 1: weight 'heavy' is not a number"),
        (graph(NODES + EDGE.replace("0.25", "")), "weight '' is not a number"),
        (graph(NODES + EDGE.replace("0.25", "NaN")), "between 'a' and 'b' has weight nan"),
        (graph(NODES + EDGE.replace('"b"', '"a"')), "node 'a' has an edge to itself"),
        (graph(NODES + EDGE + EDGE.replace("0.25", "1")), "listed with two weights"),
        ("<graph>", "it is not well-formed XML: mismatched tag: line 1, column"),
    ],
)
def test_bad_files(inside, message):
    with pytest.raises(ValueError, match=message):
        read(inside)


@pytest.mark.parametrize("content", [b"", b"u,v\na,b\n", b"\x00\x01"])
def test_not_xml(content):
    with pytest.raises(ValueError, match="it is not well-formed XML"):
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
    with pytest.raises(ValueError, match=r"line 2: a document type \(<!DOCTYPE …>\) is not allow"):
        read_graphml(text.encode(encoding))


def test_the_word_doctype_is_allowed():
    inside = '<!-- <!DOCTYPE x> --><node id="&lt;!DOCTYPE&gt;"/><node id="b"/>'
    assert read(graph(inside)).names == ("<!DOCTYPE>", "b")


def test_an_undeclared_entity():
    with pytest.raises(ValueError, match="it is not well-formed XML: undefined entity"):
        read(graph('<node id="&secret;"/>'))


def test_networkx_reads_what_is_written():
    names = ['<a> & "b"', "line\nbreak\ttab\rreturn", " blank ", "é"]
    graph, _ = from_networkx(nx.path_graph(4))
    attributes = {
        "key": [0, np.inf, -np.inf, 0.5],
        "steps": np.arange(4),
        "visited": [True, False, True, True],
        "no<te": ["", "a & b", " c ", "d\re"],
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
    with pytest.raises(ValueError, match=r"XML cannot hold the control characters in 'a\\x00'"):
        write_graphml(graph, ["a\0", "b"], {})
    with pytest.raises(ValueError, match="XML cannot hold the control characters"):
        write_graphml(graph, ["a", "b"], {"note": ["\x1b", ""]})
    with pytest.raises(ValueError, match=r"node attribute 'z' holds complex128; GraphML has a"):
        write_graphml(graph, ["a", "b"], {"z": [1j, 2j]})
