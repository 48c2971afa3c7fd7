"""Edge lists as CSV."""

import numpy as np
import pytest

from algotransfer.files import Notice
from algotransfer.graphs.edge_list import read_edge_list, write_edge_list


def read(text, **options):
    return read_edge_list(text.encode(), **options)


def edges(named):
    graph, names = named
    matrix = np.asarray(graph.weight_matrix())
    return {(names[i], names[j]): matrix[i, j] for i, j in np.argwhere(np.triu(matrix)).tolist()}


@pytest.mark.parametrize(
    "text",
    [
        "source,target,weight\nBern,Basel,0.5\nBasel,Chur,2\n",
        "u,v,weight\r\nBern,Basel,0.5\r\nBasel,Chur,2\r\n",
        "\ufeffSource,Target,Weight\nBern,Basel,0.5\nBasel,Chur,2",
        "# towns\n\nsource, target, weight\n  # two edges\nBern, Basel, 0.5\n\nBasel , Chur,2",
        'weight,v,u\n0.5,"Basel",Bern\n2,Chur,"Basel"\n',
        "id,u,v,label,weight,\n1,Bern,Basel,fast,0.5,0\n2,Basel,Chur,,2\n",
        "u,v,weight\nBern,Basel,0.5\nBasel,Bern,0.5\nBasel,Chur,2\n",
    ],
)
def test_ways_to_write_two_edges(text):
    named = read(text)
    assert named.names == ("Bern", "Basel", "Chur")
    assert edges(named) == {("Bern", "Basel"): 0.5, ("Basel", "Chur"): 2}


@pytest.mark.parametrize("text", ["u,v\na,b\n", "u,v,weight\na,b\n", "u,v,weight\na,b,\n"])
def test_a_missing_weight_is_one(text):
    assert edges(read(text)) == {("a", "b"): 1}


def test_some_missing_weights_are_counted():
    with pytest.warns(Notice, match="^2 of 3 edges have no weight; their weight is 1$"):
        read("u,v,weight\na,b,\nb,c,0.5\nc,d\n")


@pytest.mark.parametrize("text", ["u,v\nb\na,b\n", "u,v,weight\nb,,\na,b,1\n"])
def test_a_line_without_a_target_is_a_node(text):
    named = read(text, source="a")
    assert named.names == ("b", "a")
    assert named.graph.source == 1


def test_names_are_arbitrary_text():
    named = read('u,v\n"one, two","a ""b"""\nα/β,3.0\n')
    assert named.names == ("one, two", 'a "b"', "α/β", "3.0")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it is empty; expected a header such as source,target,weight, then edges"),
        ("# nothing\n\n", "it is empty"),
        ("source,target\n", "the graph has no nodes"),
        ("a,b,0.5\n", "line 1: the header is 'a,b,0.5'; expected source,target,weight or u,v,weig"),
        ("\nu;v;weight\na;b;1\n", "line 2: the header is 'u;v;weight'; .* separated by commas"),
        ("u,v,wieght\n", "the header is 'u,v,wieght'"),
        ("u,v,label\na,b,3\n", "the header is 'u,v,label'; .*other columns are ignored"),
        ("u,v,weight,Weight\n", "the header is 'u,v,weight,Weight'"),
        ("u,weight\n", "the header is 'u,weight'"),
        ("u,u,v\n", "the header is 'u,u,v'"),
        ("source,u,v\n", "the header is 'source,u,v'"),
        ("u,v\na,a\0\n", r"the node name 'a\\x00' has a NUL character; remove it"),
        ("u,v\na,b,1\n", "line 2: 3 fields; the header has 2"),
        ("u,v,weight\n#\na,b,heavy\n", "line 3: the weight is 'heavy'; expected a number"),
        ("u,v,weight\na,b,nan\n", "between 'a' and 'b' has weight nan"),
        ("u,v,weight\na,b,inf\n", "between 'a' and 'b' has weight inf"),
        ("u,v,weight\na,,1\n", "line 2: weight '1', but no target; give the edge both its ends"),
        ("u,v,weight\n,b,1\n", "line 2: the source is missing; give the name of a node"),
        ("u,v,weight\na,a,1\n", "node 'a' has an edge to itself"),
        ("u,v,weight\na,b,1\nb,a,2\n", "listed with two weights, 1 and 2"),
        ('u,v\n"a,b\n', "line 2: unexpected end of data"),
        ('u,v\n"a"b,c\n', "line 2: ',' expected after '\"'"),
    ],
)
def test_bad_files(text, message):
    with pytest.raises(ValueError, match=message):
        read(text)


def test_not_text():
    with pytest.raises(ValueError, match=r"it is not UTF-8 text \(invalid start byte at byte 0\)"):
        read_edge_list(b"\xff\xfeu,v")


def test_what_is_written():
    graph, names = read("u,v,weight\na,b,0.3\nb,d,1\nc\ne")
    assert names == ("a", "b", "d", "c", "e")
    written = write_edge_list(graph, names, {}).decode()
    assert written == "source,target,weight\na,b,0.3\nb,d,1.0\nc,,\ne,,\n"


def test_nodes_are_written_in_order():
    graph, names = read("u,v\na\nb\nc\nd\na,c\nc,d\na,b")
    assert names == tuple("abcd")
    written = write_edge_list(graph, names, {}).decode().split()
    assert written[1:] == ["a,b,1.0", "a,c,1.0", "c,d,1.0"]
    graph, names = read("u,v\na\nb\nc\nd\na,c\nb,d")
    written = write_edge_list(graph, names, {}).decode().split()
    assert written[1:] == ["a,,", "b,,", "a,c,1.0", "b,d,1.0"]


@pytest.mark.parametrize("name", ["", " a", "a\t", "#a", "a\nb", "a\rb", "a\u2028b"])
def test_names_that_would_not_read_back(name):
    graph, _ = read("u,v\na,b")
    with pytest.raises(ValueError, match=r"node name .* an edge list cannot hold; write a \.graph"):
        write_edge_list(graph, [name, "b"], {})


def test_no_place_for_attributes():
    graph, names = read("u,v\na,b")
    with pytest.raises(ValueError, match=r"1 node attributes, which an edge list cannot hold"):
        write_edge_list(graph, names, {"key": [1, 2]})
