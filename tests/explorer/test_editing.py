"""Graphs are edited in the page: algorithm and network answer, and files come and go."""

import json

import jax
import numpy as np
import pytest
from selenium.common.exceptions import JavascriptException
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from algotransfer.algorithms import run
from algotransfer.errors import UserError
from algotransfer.evaluation.evaluation_batch import first_and_last
from algotransfer.evaluation.harness import FreeRun
from algotransfer.explorer import explore
from algotransfer.graphs import read_graph, sample_graphs
from algotransfer.graphs.graph import from_edges
from algotransfer.graphs.named import unique_edges
from algotransfer.training import load_model
from algotransfer.training.examples import tasks_of

GRAPH = sample_graphs("er", 1, 16, seed=8, split="test")[0]
MODEL = "ne++-dijkstra-na"
FORMATS = (("csv", "writeCsv", "parseCsv"), ("graphml", "writeGraphml", "parseGraphml"))
UNDO, REDO = (Keys.CONTROL, "z"), (Keys.CONTROL, "y")


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    path = tmp_path_factory.mktemp("pages") / "edit.html"
    return explore(GRAPH, [MODEL, "ne-dijkstra-tf"]).save(path)


def graph_of(browser):
    """The graph of the page, as Python has it."""
    data = browser.js("({ ...graph })")
    u, v, w = zip(*data["edges"], strict=True)
    ends = (len(data["names"]), 1, np.zeros(len(u), int), np.array([u, v]), np.array(w))
    return from_edges(*ends, np.array([data["source"]]))


def shortcut(browser, control, letter):
    ActionChains(browser.driver).key_down(control).send_keys(letter).key_up(control).perform()


def check_answers(browser):
    """Algorithm and network of the page are those of Python on the page's graph."""
    browser.wait("!networks[0].running")
    graphs = graph_of(browser)
    trace = run("dijkstra", graphs[0])
    assert browser.js("[...truths[0].pred.at(-1)]") == np.asarray(trace.final_pred).tolist()
    model = load_model(MODEL)
    networks = jax.tree.map(lambda leaf: leaf[:1], model.networks)
    tasks = tasks_of(model.experiment)
    ends = [first_and_last(task.algorithm, graphs) for task in tasks]
    last = FreeRun.told(networks, tasks, ends, "instance").run(graphs, np.array([0]), "last")
    end = int(trace.length)
    assert browser.js(f"[...networks[0].pred[{end}]]") == np.asarray(last.pointer)[0, 0, 0].tolist()
    key = np.asarray(last.key)[0, 0, 0]
    assert np.allclose(browser.js(f"networks[0].key[{end}]"), key, rtol=1e-4, atol=1e-4)


def test_edits_are_answered_undone_and_shared(browser, page):
    browser.open(page)
    before = browser.js("JSON.stringify(graph)")
    edge = browser.js("graph.edges[2]")
    browser.driver.execute_script("pickEdge(2)")
    field = browser.find("#weight")
    assert float(field.get_attribute("value")) == pytest.approx(edge[2], rel=1e-6)
    field.clear()
    field.send_keys("0.95", Keys.ENTER)
    assert browser.js("graph.edges[2][2]") == np.float32(0.95)
    check_answers(browser)

    browser.find("h1").click()
    browser.driver.execute_script("pick(3)")
    browser.press("a")  # a node beside it, with an edge
    assert browser.js("graph.names.length") == 17
    check_answers(browser)
    browser.press("n")
    browser.press("s")
    assert browser.js("graph.source") == 4
    browser.driver.execute_script("pick(9)")
    browser.find("#delete-node").click()
    assert browser.js("graph.names.length") == 16
    check_answers(browser)
    after = browser.js("JSON.stringify(graph)")

    browser.find("#link").click()
    browser.wait("location.hash.includes('graph=')")
    link = browser.js("location.hash")
    for _ in range(4):
        shortcut(browser, *UNDO)
    assert browser.js("JSON.stringify(graph)") == before
    assert not browser.find("#undo").is_enabled()
    for _ in range(4):
        shortcut(browser, *REDO)
    assert browser.js("JSON.stringify(graph)") == after

    answer = browser.text("#answer")
    browser.open(page, link)
    kept = json.loads(after)
    assert browser.js("[graph.names, graph.edges, graph.source]") == [
        kept["names"],
        kept["edges"],
        kept["source"],
    ]
    assert browser.text("#answer") == answer
    check_answers(browser)


def test_edges_are_added_and_deleted(browser, page):
    browser.open(page, f"#node={int(GRAPH.source)}")
    missing = browser.js(
        "graph.names.findIndex((_, v) => v !== now.node && findEdge(graph, now.node, v) < 0)"
    )
    Select(browser.find("#other")).select_by_value(str(missing))
    browser.find("#join").click()
    count = len(browser.js("graph.edges"))
    assert browser.js(f"findEdge(graph, now.node, {missing})") >= 0
    check_answers(browser)
    browser.find("#slide").send_keys(Keys.ARROW_LEFT, Keys.ARROW_LEFT)
    assert browser.js("graph.edges[findEdge(graph, ...now.edge)][2]") == np.float32(0.58)
    check_answers(browser)
    browser.find("#cut").click()
    assert len(browser.js("graph.edges")) == count - 1


def test_nodes_are_dragged_in_both_panels(browser, page):
    browser.open(page)
    x, y = browser.js("Object.values(panels[0].nodes[5].renderedPosition())")
    canvas = browser.find("#truth .canvas")
    dx, dy = x - canvas.size["width"] / 2, y - canvas.size["height"] / 2
    hand = ActionChains(browser.driver).move_to_element_with_offset(canvas, dx, dy)
    hand.click_and_hold().move_by_offset(30, 20).move_by_offset(5, 5).release().perform()
    places = browser.js("panels.map((panel) => panel.nodes[5].position())")
    assert places[0] == places[1]
    assert browser.js("graph.places[5]") == [places[0]["x"], places[0]["y"]]
    assert browser.js("past.length") == 1


@pytest.mark.parametrize(("family", "count"), [("er", 30), ("ba", 25), ("grid", 24)])
def test_graphs_are_sampled(browser, page, family, count):
    browser.open(page)
    Select(browser.find("#family")).select_by_value(family)
    browser.driver.execute_script(f"$('size').value = {count}")
    browser.find("#sample").click()
    graph = graph_of(browser)[0]
    edges = int(graph.num_edges())
    assert graph.num_nodes == count
    assert {"er": 30 < edges < 120, "ba": edges == 84, "grid": edges in (34, 37, 38)}[family]
    weights = np.asarray(graph.weights)[np.asarray(graph.edge_mask())]
    assert np.all((weights >= 0.2) & (weights <= 1))
    gaps = browser.js("gaps(graph.places)")
    assert gaps[0] > 10  # pixels between the centres of nodes
    if family == "grid":
        check_answers(browser)


def test_files_are_written_and_read_back(browser, page, tmp_path):
    browser.open(page)
    names = ["a, b", 'say "c"', "<b>d</b>", *map(str, range(13))]
    browser.driver.execute_script(f"graph = {{ ...graph, names: {json.dumps(names)} }}; answer()")
    edges, source = browser.js("[graph.edges, graph.source]")
    for suffix, write, read in FORMATS:
        text = browser.js(f"{write}(graph)")
        path = tmp_path / f"graph.{suffix}"
        path.write_text(text, encoding="utf-8")
        found = read_graph(path, source=names[source])
        assert list(found.names) == names
        weights = np.asarray(found.graph.weights)
        assert sorted({float(w) for w in weights}) == sorted({w for *_, w in edges})
        assert browser.js(f"{read}({write}(graph)).edges") == edges
        assert browser.js(f"{read}({write}(graph)).names") == names


def test_directed_graphs_stay_directed(browser, page, tmp_path):
    path = tmp_path / "oneway.csv"
    path.write_text("from,to,weight\na,b,0.5\nb,a,0.9\nb,c,0.4\nd,c,0.3\n")
    browser.open(page)
    browser.find("#file").send_keys(str(path))
    browser.wait("graph.names.length === 4")
    assert browser.js("[...truths[0].pred.at(-1)]") == [0, 0, 1, -1]
    assert browser.js("decodeGraph(encodeGraph(graph)).directed")
    for suffix, write, read in FORMATS:
        assert browser.js(f"{read}({write}(graph)).edges") == browser.js("graph.edges")
        copy = tmp_path / f"copy.{suffix}"
        copy.write_text(browser.js(f"{write}(graph)"))
        assert read_graph(copy).graph.directed
    browser.driver.execute_script("pick(3)")
    Select(browser.find("#other")).select_by_value("0")
    browser.find("#join").click()
    assert [3, 0] in [edge[:2] for edge in browser.js("graph.edges")]


EDGE_LISTS = [
    "from,to,weight\na,b,0.5\nb,a,0.5\n",  # undirected
    "from,to,weight\na,b,0.5\nb,a,0.25\n",
    "SOURCE,From,To,Weight\nx,a,b,1\n",
    "from,to,source,target,weight\na,b,c,d,1\n",
    "from,v,weight\na,b,1\n",
    "u,v,weight,Weight\na,b,1,2\n",
    "\nu,v\ra,b\r\nb,c",
    '# towns\nu,v\n#a,b\n"#a","b ""c"""\n',
    "u,v,weight\na,,2\n",
    "u,v,weight\na,b,0x10\n",
    'u,v\n"a"b,c\n',
    'u,v\n"a,c\n',
    "u,v\na\0,b\n",
]


@pytest.mark.parametrize("text", EDGE_LISTS)
def test_edge_lists_are_read_as_in_python(browser, page, tmp_path, text):
    browser.open(page)
    (tmp_path / "edges.csv").write_bytes(text.encode())
    try:
        named = read_graph(tmp_path / "edges.csv")
    except UserError:
        with pytest.raises(JavascriptException):
            browser.js(f"parseCsv({json.dumps(text)})")
    else:
        theirs = browser.js(f"parseCsv({json.dumps(text)})")
        assert theirs["names"] == list(named.names)
        assert theirs["edges"] == [list(edge) for edge in unique_edges(named.graph)]
        assert theirs.get("directed", False) == named.graph.directed


HEADER = "source,target,weight\n"
ONE_NODE = "<graph><node id='a'/><edge source='a' target='b'/></graph>"
LENGTH = "<key id='d0' for='edge' attr.name='length' attr.type='double'/>"
WEIGHT = "<key id='w' for='edge' attr.name='weight' attr.type='double'/>"
NODES = "<node id='a'/><node id='b'/>"
TWICE = "<data key='w'>1</data><data key='w'>2</data>"
HOSTILE = {
    "a.csv": (f"{HEADER}<img src=x onerror=alert(1)>,b,-1\n", "weights above 0"),
    "b.csv": (f"{HEADER}a,b,many\n", "expected a number"),
    "c.csv": ("", "is empty"),
    "d.csv": (HEADER + "".join(f"{i},{i + 1},1\n" for i in range(600)), "601 nodes"),
    "h.csv": ("source,target,length\na,b,3\n", "expected source,target,weight"),
    "i.csv": (f"{HEADER}a, b,c,0.5\n", "4 fields, the header 3"),
    "e.graphml": ('<!DOCTYPE x [<!ENTITY a "b">]><graphml/>', "document type"),
    "f.graphml": ("<svg onload='alert(1)'/>", "not GraphML"),
    "g.graphml": (f"<graphml>{ONE_NODE}</graphml>", "two different nodes"),
    "k.graphml": ("<graphml><graph edgedefault='Directed'/></graphml>", "edgedefault is Directed"),
    "l.graphml": (
        f"<graphml><graph>{NODES}<edge source='a' target='b' directed='true'/></graph></graphml>",
        "directed=true in a graph that is undirected",
    ),
    "m.graphml": (
        f"<graphml>{WEIGHT}<graph>{NODES}<edge source='a' target='b'>{TWICE}</edge></graph>"
        "</graphml>",
        "two weights; keep one",
    ),
    "j.graphml": (f"<graphml>{LENGTH}{ONE_NODE}</graphml>", "but length; rename it to weight"),
}


def test_bad_files_are_refused_with_a_sentence(browser, page, tmp_path):
    browser.open(page)
    before = browser.js("JSON.stringify(graph)")
    for name, (text, said) in HOSTILE.items():
        path = tmp_path / name
        path.write_text(text)
        browser.driver.execute_script("notify('')")
        browser.find("#file").send_keys(str(path))
        browser.wait("$('notice').textContent")
        assert said in browser.text("#notice")
        assert browser.js("JSON.stringify(graph)") == before
    assert browser.all("#notice *, main img") == []


def test_a_file_with_hostile_names_is_shown_as_text(browser, page, tmp_path):
    path = tmp_path / "names.csv"
    path.write_text("source,target,weight\n<img src=x onerror=alert(1)>,b,3\nb,c,5.5\n")
    browser.open(page)
    browser.find("#file").send_keys(str(path))
    browser.wait("graph.names.length === 3")
    assert browser.text("#subtitle") == "names.csv, from node <img src=x onerror=aler…"
    assert "Weights are multiplied by 0.125 for it" in browser.text("#told")
    assert browser.all("main img") == []


@pytest.mark.parametrize(
    "link", ["graph=AAAA", "graph=W10", "graph=WzMsMCxbMCwxLC0xXSxbXV0", "graph=%00"]
)
def test_bad_links_are_refused(browser, page, link):
    browser.open(page, f"#{link}")
    assert browser.text("#notice")
    assert browser.js("graph.names.length") == 16


def test_a_hard_graph_is_found_and_undone(browser, tmp_path):
    graph = sample_graphs("grid", 1, 20, seed=3, split="test")[0]
    browser.open(explore(graph, "ne-dijkstra-tf").save(tmp_path / "hard.html"))
    before, already = browser.js("[JSON.stringify(graph), networks[0].answers.worse]")
    browser.find("#hard").click()
    browser.wait("!$('hard').disabled", 60)
    if "Found after" in browser.text("#notice"):
        assert browser.js("networks[0].answers.worse") > already
        browser.find("#undo").click()
    else:
        assert "None of 200 graphs" in browser.text("#notice")
    assert browser.js("JSON.stringify(graph)") == before


def test_hard_graphs_are_judged_by_the_chosen_halting_rule(browser, tmp_path):
    graph = sample_graphs("grid", 1, 49, seed=2, split="test")[0]
    browser.open(explore(graph, MODEL).save(tmp_path / "rules.html"))
    worse = {}
    for rule in ("told", "horizon", "settled"):
        browser.driver.execute_script(f"now.halt = '{rule}'; answer()")
        browser.wait("!networks[0].running")
        worse[rule], judged = browser.js("[networks[0].answers.worse, mistakes(models[0], graph)]")
        assert judged == worse[rule]
    assert worse["told"] > worse["horizon"]


def test_recorded_pages_cannot_be_edited(browser, tmp_path, own_model):
    browser.open(explore(GRAPH, own_model).save(tmp_path / "recorded.html"))
    assert not browser.find("#edit").is_displayed()
    browser.press(Keys.ARROW_RIGHT, "a", Keys.DELETE)
    assert browser.js("[graph.names.length, now.step]") == [16, 1]
    assert "chooses" in browser.text("#network .now")


def test_two_hundred_nodes_are_interactive(browser, tmp_path, record_property):
    for count, limit in ((50, 0.5), (200, 3)):
        graph = sample_graphs("er", 1, count, seed=1, split="test")[0]
        browser.open(explore(graph, MODEL).save(tmp_path / f"{count}.html"))
        browser.wait("networks[0].complete", 60)
        times = []
        for weight in (0.3, 0.4, 0.5):
            browser.driver.execute_script(
                f"now.edge = graph.edges[0].slice(0, 2); setWeight('{weight}')"
            )
            times.append(float(browser.js("document.body.dataset.answered")) / 1000)
        browser.wait("!networks[0].running", 60)
        assert browser.text("#answer").startswith("In the end ")
        record_property(f"seconds of an edit at {count} nodes", min(times))
        assert min(times) < limit
