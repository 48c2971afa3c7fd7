"""The live page of the documentation's front page, in the frame that the site puts it into."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from algotransfer.algorithms import run
from algotransfer.explorer.page import link_graph
from algotransfer.graphs import sample_graphs
from algotransfer.graphs.named import unique_edges

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder with the page and a page around it, as in the built site."""
    modules = []
    for name in ("live_page", "hooks"):
        spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        modules.append(importlib.util.module_from_spec(spec))
        spec.loader.exec_module(modules[-1])
    live_page, hooks = modules
    folder = tmp_path_factory.mktemp("site")
    live_page.live_page().save(folder / "live.html")
    frame = hooks.FRAME.split("\n\n")[0]
    head = '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">'
    (folder / "index.html").write_text(head + frame, "utf-8")
    return folder


def test_it_is_small_and_every_network_answers_an_edit(browser, site):
    assert (site / "live.html").stat().st_size < 4_000_000
    browser.open(site / "index.html")
    browser.driver.switch_to.frame(browser.find("iframe"))
    browser.wait("networks.length === 5 && networks.every((network) => network?.complete)", 60)
    before = [label.text for label in browser.all("#switch label")]
    assert any("wrong" in label for label in before)
    assert "relax" in before[-1]
    assert "all right" in before[-1]
    browser.driver.execute_script("pickEdge(0); setWeight('0.21')")
    browser.wait("networks.every((network) => network?.complete)", 60)
    graph = sample_graphs("grid", 1, 49, seed=2, split="test")[0]
    edges = [[u, v, float(w)] for u, v, w in unique_edges(graph)]
    assert browser.js("graph.edges[0][2]") == np.float32(0.21)
    assert browser.js("graph.edges.slice(1)") == edges[1:]
    assert browser.js("performance.getEntriesByType('resource').length") == 0
    browser.driver.switch_to.default_content()


def test_a_graph_of_python_opens_by_a_link(browser, site):
    graph = sample_graphs("er", 1, 15, seed=7, split="test")[0]
    browser.open(site / "live.html", f"#step=3&choice=4&graph={link_graph(graph)}")
    assert browser.js("[now.step, now.choice]") == [3, 4]
    assert browser.js("graph.edges") == [[u, v, float(w)] for u, v, w in unique_edges(graph)]
    pred = np.asarray(run("dijkstra", graph).final_pred)
    assert browser.js("[...truths[0].pred.at(-1)]") == pred.tolist()
