"""Pages are one file, hold what they are given as text, and refuse what they cannot show."""

import html
import json
import re

import networkx
import numpy as np
import pytest

import algotransfer
from algotransfer.explorer import explore, write_example
from algotransfer.explorer.explore import model_label
from algotransfer.explorer.page import embedded
from algotransfer.explorer.scene import number, shortened
from algotransfer.graphs import from_networkx, read_graph, sample_graphs

GRAPH = sample_graphs("er", 1, 8, seed=2)[0]
HOSTILE = ["</script><script>alert(1)</script>", "<!-- data -->", "\u2028\ud800&\"'", "a" * 1000]


def data_of(page: str):
    [text] = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    return json.loads(text)


def test_the_page_holds_the_trace():
    viewer = explore(GRAPH, algorithm="prim")
    trace = algotransfer.run("prim", GRAPH)
    [truth] = data_of(viewer.html())["truths"]
    assert truth["title"] == "Prim"
    assert truth["pred"] == np.asarray(trace.pred)[: int(trace.length) + 1].tolist()
    for row, keys in zip(truth["key"], np.asarray(trace.key), strict=False):
        assert [key is None for key in row] == np.isinf(keys).tolist()
        given = [key for key in row if key is not None]
        assert given == pytest.approx(keys[np.isfinite(keys)].tolist(), rel=1e-4)
    assert viewer.scene["networks"] == []


def test_directed_graphs():
    assert "directed" not in data_of(explore(GRAPH).html())["graph"]
    one_way = from_networkx(networkx.DiGraph([("a", "b"), ("c", "b")])).graph
    shown = data_of(explore(one_way, algorithm="dijkstra").html())["graph"]
    assert shown["directed"]
    assert [edge[:2] for edge in shown["edges"]] == [[0, 1], [2, 1]]
    with pytest.raises(ValueError, match="prim needs undirected graphs"):
        explore(one_way, algorithm="prim")


def test_the_page_needs_nothing_else():
    page = explore(GRAPH).html()
    tags = re.sub(r"<script>.*?</script>", "", page, flags=re.S)
    assert not re.search(r"""(src|href)=["'](?!data:)""", tags)
    assert "default-src 'none'" in page
    assert "The Cytoscape Consortium" in page  # its licence travels with it
    assert "url(http" not in page


def test_hostile_names_stay_names():
    names = [*HOSTILE, *range(4)]
    page = explore(GRAPH, names=names).html()
    assert data_of(page)["graph"]["names"] == [str(name) for name in names]
    assert page.count("</script>") == explore(GRAPH).html().count("</script>")
    page.encode()  # even half a character


def test_embedded_json_cannot_end_a_script():
    text = embedded({"<a>": "</script>&\u2028\u2029"})
    assert not re.search("[<>&\u2028\u2029]", text)
    assert json.loads(text) == {"<a>": "</script>&\u2028\u2029"}


def test_numbers_and_names_in_short():
    assert number(1.234567) == 1.2346
    assert [number(value) for value in (np.inf, -np.inf, np.nan)] == ["inf", "-inf", "nan"]
    assert shortened(" two\nlines ") == "two lines"
    assert shortened("x" * 30) == "x" * 23 + "…"
    assert shortened("  ") == "·"


def test_a_notebook_shows_the_page_in_a_frame():
    viewer = explore(GRAPH)
    shown = viewer._repr_html_()
    assert shown.startswith("<iframe")
    [inside] = re.findall('srcdoc="([^"]*)"', shown)
    assert html.unescape(inside) == viewer.html()
    assert repr(viewer) == "<viewer of 8 nodes, 11 edges; .save(path) writes it>"


def test_names_come_with_graphs_that_were_read(tmp_path):
    path = tmp_path / "huts.csv"
    path.write_text("source,target,weight\nvalley,lake,0.5\nlake,hut,0.2\n")
    scene = explore(read_graph(path, source="lake"), algorithm=["bfs", "dfs"]).scene
    assert scene["graph"]["names"] == ["valley", "lake", "hut"]
    assert scene["graph"]["source"] == 1
    assert [truth["name"] for truth in scene["truths"]] == ["bfs", "dfs"]


def test_models_get_names_that_differ(model):
    both = model(method="multitask", base=("prim",))
    assert model_label(both) == "NE na, multitask (prim)"
    tf = model(supervision="tf")
    labels = [network["label"] for network in explore(GRAPH, [tf, tf]).scene["networks"]]
    assert labels == ["NE tf", "NE tf (2)"]


def test_an_example_is_one_call(model, tmp_path):
    path = write_example(model(), tmp_path / "a.html", family="grid", num_nodes=6)
    data = data_of(path.read_text(encoding="utf-8"))
    assert data["title"] == "grid graph of 6 nodes, seed 0"


def test_what_cannot_be_shown_is_refused(model):
    with pytest.raises(ValueError, match="501 nodes; `explore` shows at most 500"):
        explore(sample_graphs("er", 1, 501)[0])
    with pytest.raises(ValueError, match="single graph"):
        explore(sample_graphs("er", 2, 8))
    with pytest.raises(ValueError, match="expected a different name for each node"):
        explore(GRAPH, names=["a"] * 8)
    with pytest.raises(ValueError, match="have learned different algorithms .*NE na: dijkstra"):
        explore(GRAPH, [model(), model(target="prim", supervision="tf")])
    with pytest.raises(ValueError, match="have learned dijkstra, not prim"):
        explore(GRAPH, model(), algorithm="prim")
