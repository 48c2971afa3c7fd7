"""Editing by mouse, dropped files, and downloads."""

import time

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from algotransfer.explorer import explore
from algotransfer.graphs import read_graph, sample_graphs
from algotransfer.graphs.named import unique_edges

GRAPH = sample_graphs("er", 1, 16, seed=8, split="test")[0]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    return explore(GRAPH, "ne-dijkstra-tf").save(tmp_path_factory.mktemp("pages") / "page.html")


def hand(browser, place: str) -> ActionChains:
    """A hand over a place of the algorithm's panel, an expression for its pixels."""
    canvas = browser.find("#truth .canvas")
    x, y = (browser.js(f"{place}.{axis}") for axis in "xy")
    offset = (x - canvas.size["width"] / 2, y - canvas.size["height"] / 2)
    return ActionChains(browser.driver).move_to_element_with_offset(canvas, *offset)


def node(v: int) -> str:
    return f"panels[0].nodes[{v}].renderedPosition()"


def test_a_double_click_adds_a_node_and_shift_connects_it(browser, page):
    browser.open(page)
    hand(browser, "({ x: 12, y: 12 })").double_click().perform()
    browser.wait("graph.names.length === 17")
    assert browser.js("now.node") == 16
    before = len(browser.js("graph.edges"))
    shift = hand(browser, node(3)).key_down(Keys.SHIFT).click().key_up(Keys.SHIFT)
    shift.perform()
    browser.wait(f"graph.edges.length === {before + 1}")
    assert browser.js("findEdge(graph, 3, 16)") >= 0
    browser.find("h1").click()
    browser.press(Keys.DELETE)  # the new edge is selected
    assert len(browser.js("graph.edges")) == before


def test_a_click_on_an_edge_selects_its_weight(browser, page):
    browser.open(page)
    u, v, weight = browser.js("graph.edges[0]")
    middle = f"({{ x: ({node(u)}.x + {node(v)}.x) / 2, y: ({node(u)}.y + {node(v)}.y) / 2 }})"
    hand(browser, middle).click().perform()
    browser.wait("now.edge")
    u, v = browser.js("now.edge")
    assert browser.js(f"graph.edges[findEdge(graph, {u}, {v})][2]") == pytest.approx(
        float(browser.find("#weight").get_attribute("value")), rel=1e-6
    )
    assert weight > 0


def test_a_dropped_file_is_opened(browser, page):
    browser.open(page)
    browser.driver.execute_script(
        """const data = new DataTransfer();
        data.items.add(new File(["source,target,weight\\na,b,0.5\\nb,c,0.25\\n"], "mine.csv"));
        document.querySelector("#truth .canvas").dispatchEvent(
          new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));"""
    )
    browser.wait("graph.names.length === 3")
    assert browser.js("graph.edges") == [[0, 1, 0.5], [1, 2, 0.25]]
    assert browser.text("#subtitle") == "mine.csv, from node a"


@pytest.mark.parametrize("suffix", ["csv", "graphml"])
def test_a_downloaded_file_is_the_graph(browser, page, tmp_path, suffix):
    browser.command("Page.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    browser.open(page)
    browser.find(f"#{suffix}").click()
    file = tmp_path / f"graph.{suffix}"
    deadline = time.monotonic() + 20
    while not file.exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    found = read_graph(file, source=str(int(GRAPH.source)))
    index = [int(name) for name in found.names]
    edges = {frozenset((index[u], index[v])): w for u, v, w in unique_edges(found.graph)}
    assert edges == {frozenset((u, v)): w for u, v, w in unique_edges(GRAPH)}
