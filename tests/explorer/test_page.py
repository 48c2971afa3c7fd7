"""Pages are one file, hold what they are given as text, and refuse what they cannot show."""

import base64
import html
import json
import re
from dataclasses import replace

import jax.numpy as jnp
import networkx
import numpy as np
import pytest

import algotransfer
from algotransfer.algorithms import get_algorithm
from algotransfer.algorithms.expressions import NotExpressible, expression, number
from algotransfer.explorer import explore
from algotransfer.explorer.explore import model_label
from algotransfer.explorer.expressions import affine
from algotransfer.explorer.page import embedded
from algotransfer.graphs import from_networkx, read_graph, sample_graphs
from algotransfer.graphs.named import unique_edges
from algotransfer.training import load_model
from algotransfer.training.named_arrays import to_arrays

GRAPH = sample_graphs("er", 1, 8, seed=2)[0]
HOSTILE = ["</script><script>alert(1)</script>", "<!-- data -->", "\u2028\ud800&\"'", "a" * 1000]


def data_of(page: str):
    [text] = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    return json.loads(text)


def test_the_page_holds_graph_algorithm_and_weights():
    trained = load_model("ne-dijkstra-tf")
    data = data_of(explore(GRAPH, trained, seed=1).html())
    assert data["graph"]["edges"] == [[u, v, float(w)] for u, v, w in unique_edges(GRAPH)]
    [algorithm], [network] = data["algorithms"], data["models"]
    assert algorithm["relax"] == ["add", "key", "weight"]
    encoder = network["arrays"]["encoder"]
    numbers = np.frombuffer(base64.b64decode(encoder["data"]), "<f4").reshape(encoder["shape"])
    assert np.array_equal(numbers, to_arrays(trained.network(1))["encoder"])
    assert data["live"]


def test_algorithms_become_expressions():
    assert expression(lambda key, weight: jnp.where(key > weight, -key, 2 * weight**3)) == [
        "select",
        ["gt", "key", "weight"],
        ["mul", 2.0, ["pow", "weight", 3]],
        ["neg", "key"],
    ]
    with pytest.raises(NotExpressible, match="sin"):
        expression(lambda key, weight: key + jnp.sin(weight))
    with pytest.raises(NotExpressible):
        affine(lambda num_nodes: num_nodes**2.0)
    assert affine(lambda num_nodes: 2.0 * num_nodes - 1) == [-1.0, 2.0]


def test_what_only_python_can_run_is_recorded(own_model):
    data = data_of(explore(GRAPH, own_model).html())
    [recorded] = data["models"]
    assert not data["live"]
    assert "arrays" not in recorded
    steps = recorded["recorded"]["steps"]
    assert len(steps) == 8
    assert sorted(step["chosen"] for step in steps) == list(range(8))

    waves = replace(get_algorithm("bellman_ford"), relax=lambda k, w: k + w + jnp.sin(w))
    data = data_of(explore(GRAPH, algorithm=waves).html())
    trace = algotransfer.run(waves, GRAPH)
    assert not data["live"]
    pred = data["algorithms"][0]["trace"]["pred"]
    assert pred == np.asarray(trace.pred)[: int(trace.length) + 1].tolist()


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


def test_numbers_that_json_cannot_hold_are_text():
    assert [number(value) for value in (np.inf, -np.inf, np.nan)] == ["inf", "-inf", "nan"]


def test_a_notebook_shows_the_page_in_a_frame():
    viewer = explore(GRAPH)
    shown = viewer._repr_html_()
    assert shown.startswith("<iframe")
    [inside] = re.findall('srcdoc="([^"]*)"', shown)
    assert html.unescape(inside) == viewer.html()
    assert repr(viewer) == "<viewer of 8 nodes, 11 edges; .save(path) writes it>"


def test_directed_graphs():
    assert "directed" not in data_of(explore(GRAPH).html())["graph"]
    one_way = from_networkx(networkx.DiGraph([("a", "b"), ("c", "b")])).graph
    shown = data_of(explore(one_way, algorithm="dijkstra").html())["graph"]
    assert shown["directed"]
    assert [edge[:2] for edge in shown["edges"]] == [[0, 1], [2, 1]]
    with pytest.raises(ValueError, match="prim needs undirected graphs"):
        explore(one_way, algorithm="prim")


def test_names_come_with_graphs_that_were_read(tmp_path):
    path = tmp_path / "huts.csv"
    path.write_text("source,target,weight\nvalley,lake,0.5\nlake,hut,0.2\n")
    scene = explore(read_graph(path, source="lake"), algorithm=["bfs", "dfs"]).scene
    assert scene["graph"]["names"] == ["valley", "lake", "hut"]
    assert scene["graph"]["source"] == 1
    assert [algorithm["name"] for algorithm in scene["algorithms"]] == ["bfs", "dfs"]


def test_models_get_names_that_differ(model):
    both = model(method="multitask", base=("prim",))
    assert model_label(both) == "NE na, multitask (prim)"
    tf = model(supervision="tf")
    labels = [network["label"] for network in explore(GRAPH, [tf, tf]).scene["models"]]
    assert labels == ["NE tf", "NE tf (2)"]
    wide = model(supervision="tf", hidden=6)
    labels = [network["label"] for network in explore(GRAPH, [tf, wide]).scene["models"]]
    assert labels == ["NE tf, hidden=4", "NE tf, hidden=6"]


@pytest.mark.parametrize("setting", [{"blind": True}, {"halt": "told"}, {"seed": 1}])
def test_settings_of_networks_without_a_network_are_refused(setting):
    with pytest.raises(ValueError, match="name a trained model, or leave them out"):
        explore(GRAPH, **setting)


def test_what_cannot_be_shown_is_refused(model):
    with pytest.raises(ValueError, match="501 nodes; `explore` shows at most 500"):
        explore(sample_graphs("er", 1, 501)[0])
    with pytest.raises(ValueError, match="single graph"):
        explore(sample_graphs("er", 2, 8))
    with pytest.raises(ValueError, match="expected a different name for each node"):
        explore(GRAPH, names=["a"] * 8)
    with pytest.raises(ValueError, match="have learned different algorithms .*NE na: dijkstra"):
        explore(GRAPH, [model(), model(target="prim", supervision="tf")])
    with pytest.raises(ValueError, match="needs finite weights above 0"):
        explore(replace(GRAPH, weights=-np.asarray(GRAPH.weights)))
    with pytest.raises(ValueError, match="have learned dijkstra, not prim"):
        explore(GRAPH, model(), algorithm="prim")
