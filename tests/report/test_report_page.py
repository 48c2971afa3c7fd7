"""The report in a real browser: sorting, seeds behind numbers, links to live pages, any screen."""

import json
from dataclasses import replace

import numpy as np
import pytest
from report.cases import as_printed
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from algotransfer.graphs.named import unique_edges
from algotransfer.report.example_pages import example_graph, write_examples
from algotransfer.report.html import render_html
from algotransfer.report.report_data import make_report
from algotransfer.training import load_model

TABLE = "document.querySelector('section[aria-labelledby=seq-na] table')"
CELLS = "section[aria-labelledby=seq-na] td.n > button"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    models = {name: load_model(name) for name in ("ne-dijkstra", "ne++-dijkstra")}
    results = as_printed()
    hostile = results[results["model"] == "NE"].assign(model="<img src=x onerror=alert(1)>")
    examples = dict(write_examples(models, folder))
    report = replace(make_report(results), examples=examples)
    names = replace(make_report(hostile), examples={})
    (folder / "hostile.html").write_text(render_html(names), "utf-8")
    (folder / "report.html").write_text(render_html(report), "utf-8")
    return folder / "report.html"


def column(browser, place: int) -> list[str]:
    rows = f"[...{TABLE}.tBodies[0].rows]"
    return browser.js(f"{rows}.map((row) => row.cells[{place}].textContent.trim())")


def test_tables_are_sorted_and_restored(browser, page):
    browser.open(page, "#seq-na")
    head = browser.all("section[aria-labelledby=seq-na] thead th")[5]
    before, numbers = column(browser, 1), column(browser, 5)
    assert "" in numbers
    head.find_element(By.TAG_NAME, "button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    seeds = browser.js(
        f"[...{TABLE}.tBodies[0].rows].map((row) => row.cells[5].dataset.seeds ?? null)"
    )
    known = [np.mean([float(x) for x in each.split()]) for each in seeds if each]
    assert known == sorted(known)
    assert seeds == [s for s in seeds if s] + [None] * seeds.count(None)
    head.find_element(By.TAG_NAME, "button").send_keys(Keys.ENTER)
    assert head.get_attribute("aria-sort") == "descending"
    assert column(browser, 5) != numbers
    assert "descending" in browser.js("document.getElementById('status').textContent")
    head.find_element(By.TAG_NAME, "button").click()
    assert column(browser, 1) == before
    assert head.get_attribute("aria-sort") is None


def test_a_cell_opens_its_seeds_beside_the_papers_number(browser, page):
    browser.open(page, "#seq-na")
    first, second = browser.all(CELLS)[:2]
    first.click()
    seeds = browser.js("document.querySelector('#seeds').parentElement.dataset.seeds").split()
    assert len(browser.all("#seeds circle")) == len(seeds) == 3
    assert len(browser.all("#seeds path")) == 1
    title = browser.text("#seeds strong")
    assert title.startswith("dijkstra, NE: key, 20 nodes")
    assert "3 seeds:" in browser.text("#seeds")
    assert "The paper: " in browser.text("#seeds")
    assert first.get_attribute("aria-expanded") == "true"
    browser.press(Keys.ARROW_RIGHT)  # the next cell, while the box is open
    assert browser.text("#seeds strong").startswith("dijkstra, NE: key, 50 nodes")
    assert browser.driver.switch_to.active_element == second
    browser.press(Keys.ESCAPE)
    assert browser.all("#seeds") == []
    assert browser.driver.switch_to.active_element == second
    stops = browser.js(f"{TABLE}.querySelectorAll('td.n > button[tabindex=\"0\"]').length")
    assert stops == 1


def test_links_open_the_network_on_a_graph(browser, page):
    browser.open(page, "#seq-na")
    rows = browser.all("section[aria-labelledby=seq-na] > .wide tr[data-live]")
    assert [row.get_attribute("data-live") for row in rows] == [
        "examples/ne-dijkstra-na.html#choice=0",
        "examples/ne++-dijkstra-na.html#choice=0",
    ]
    rows[1].find_element(By.CSS_SELECTOR, "td.n > button").click()
    links = browser.all("#seeds a")
    assert [link.text for link in links] == ["20 nodes", "50 nodes", "100 nodes"]
    links[1].click()
    browser.wait("document.body.dataset.ready")
    assert browser.js("models[now.choice].experiment") == "ne++-dijkstra-na"
    graph = example_graph(50)
    edges = [[u, v, float(w)] for u, v, w in unique_edges(graph)]
    assert browser.js("graph.edges") == edges
    assert browser.js("graph.source") == int(graph.source)


@pytest.mark.parametrize("size", [(1280, 800), (390, 844)])
@pytest.mark.parametrize("dark", [False, True])
def test_it_fits_the_screen(browser, page, size, dark):
    browser.dark(dark)
    browser.open(page, "#seq-na", size)
    assert browser.js("document.documentElement.scrollWidth") <= size[0]
    browser.all(CELLS)[0].click()
    box = browser.find("#seeds").rect
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= size[0]
    assert box["height"] < size[1]
    browser.wait("document.querySelector('nav a[aria-current]')?.hash === '#seq-na'")
    nav = browser.find("nav[aria-label=Contents]").rect
    assert browser.js(f"{nav['y']} - scrollY") <= 16.5  # it stays at the top
    background = json.loads(
        browser.js("'[' + getComputedStyle(document.body).backgroundColor.slice(4, -1) + ']'")
    )
    assert (sum(background) < 300) == dark


def test_names_of_runs_are_shown_as_text(browser, page):
    browser.open(page.with_name("hostile.html"), "#seq-na")
    browser.driver.execute_script(
        "[...document.querySelectorAll('td.n > button')].find((b) => "
        "b.closest('tr').textContent.includes('onerror')).click()"
    )
    assert "<img src=x onerror=alert(1)>" in browser.text("#seeds strong")
    assert browser.all("main img") == []
    assert "algotransfer report --examples" in browser.text("#seeds")
