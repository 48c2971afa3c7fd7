"""Pages in a real browser: what they show is what was computed, whatever is pressed."""

import time
from pathlib import Path

import jax
import numpy as np
import pytest
from explorer.conftest import GRAPH, MODELS
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from algotransfer.algorithms import get_algorithm, run
from algotransfer.algorithms.registry import PAPER_ALGORITHMS
from algotransfer.evaluation.evaluation_batch import first_and_last
from algotransfer.evaluation.harness import FreeRun
from algotransfer.explorer import explore
from algotransfer.graphs import sample_graphs
from algotransfer.training import load_model
from algotransfer.training.examples import tasks_of

DOCS = Path(__file__).parents[2] / "docs"
RIGHT, LEFT = Keys.ARROW_RIGHT, Keys.ARROW_LEFT


def step_of(browser) -> int:
    words, slider = browser.js("[$('count').textContent, $('step').value]")
    assert words.split()[:2] == ["step", slider]  # step 7 of 50
    return int(slider)


def classes(browser, panel: int) -> list[set[str]]:
    return [set(one) for one in browser.js(f"panels[{panel}].nodes.map((n) => n.classes())")]


def table(browser) -> dict[str, list[str]]:
    rows = [row.text.split() for row in browser.all("#node tbody tr")]
    return {row[0]: row[1:] for row in rows}


def shown(value: float) -> str:
    """A number as the page writes it, for keys between 0.1 and 100."""
    return f"{round(value, 2):g}"


def test_every_step_shows_the_trace(browser, page):
    trace = run("dijkstra", GRAPH)
    key, visited = np.asarray(trace.key), np.asarray(trace.visited)
    browser.open(page)
    assert browser.text("h1") == "Dijkstra"
    assert browser.text("#subtitle") == f"a grid, from node {int(GRAPH.source)}"
    assert step_of(browser) == 0
    for step in range(1, 51):
        browser.press(RIGHT)
        assert step_of(browser) == step
        node = int(np.argmax(visited[step] & ~visited[step - 1]))
        if step > 1:
            assert f"visits {node}, key {shown(key[step, node])}" in browser.text("#truth .now")
        if step % 7:
            continue
        nodes = classes(browser, 0)
        assert [("visited" in one) for one in nodes] == visited[step].tolist()
        queued = np.isfinite(key[step]) & ~visited[step]
        assert [("reached" in one) for one in nodes] == queued.tolist()
        assert [("empty" in one) for one in nodes] == np.isinf(key[step]).tolist()
        assert [i for i, one in enumerate(nodes) if "now" in one] == [node]
    browser.press(RIGHT)
    assert step_of(browser) == 50
    browser.press(Keys.HOME)
    assert step_of(browser) == 0
    browser.press(Keys.END, LEFT)
    assert step_of(browser) == 49


def test_arrows_are_predecessors(browser, page):
    trace = run("dijkstra", GRAPH)
    browser.open(page, "#step=30")
    arrows = browser.js(
        "panels[0].edges.flatMap((e, i) => [...(e.hasClass('to') ? [[graph.edges[i][0], "
        "graph.edges[i][1]]] : []), ...(e.hasClass('from') ? [[graph.edges[i][1], "
        "graph.edges[i][0]]] : [])])"
    )
    pred = np.asarray(trace.pred)[30]
    wanted = [[v, int(u)] for v, u in enumerate(pred) if u >= 0 and u != v]
    assert sorted(arrows) == sorted(wanted)


def test_the_network_is_shown_with_its_probabilities(browser, page):
    model = load_model("ne-dijkstra-tf")
    networks = jax.tree.map(lambda leaf: leaf[:1], model.networks)
    batch, tasks = jax.tree.map(lambda leaf: leaf[None], GRAPH), tasks_of(model.experiment)
    ends = [first_and_last(task.algorithm, batch) for task in tasks]
    steps = FreeRun.told(networks, tasks, ends, "instance").run(batch, np.array([0]), "all")
    seen = jax.tree.map(lambda leaf: np.asarray(leaf)[0, 0], steps)
    browser.open(page)
    for step in (3, 20, 33):
        browser.driver.execute_script(f"go({step})")
        node, p = int(seen.chosen[step - 1]), float(seen.probability[step - 1].max())
        key = shown(float(seen.key[step - 1, node]))
        assert f"chooses {node} (p {p:.2f}), key {key}" in browser.text("#network .now")
        first, *_ = browser.all("#queue li")
        assert first.text.split()[:2] == [str(node), f"{p:.2f}"]
        nodes = classes(browser, 1)
        assert [("visited" in one) for one in nodes] == seen.visited[step - 1].tolist()
    assert browser.text("#queue h2") == "Probability of being next"


def test_where_they_part_is_marked_and_explained(browser, page):
    browser.open(page)
    divergence = browser.js("networks[0].divergence")
    assert browser.text("#sentence") == divergence["sentence"]
    assert " instead of " in divergence["sentence"]
    mark, slider = browser.find("#marks .part"), browser.find("#step")
    assert mark.get_attribute("title") == divergence["sentence"]
    middle = mark.rect["x"] + mark.rect["width"] / 2 - slider.rect["x"]
    share = (middle - 8) / (slider.rect["width"] - 16)
    assert share == pytest.approx(divergence["step"] / 50, abs=0.01)
    browser.press("d")
    assert step_of(browser) == divergence["step"]
    assert Select(browser.find("#who")).first_selected_option.text == str(divergence["node"])
    assert "wrong" in classes(browser, 1)[divergence["node"]]
    assert "wrong" in browser.find("#network .now").get_attribute("class")
    browser.press(Keys.HOME)
    browser.find("#go").click()
    assert step_of(browser) == divergence["step"]


def test_the_documentation_describes_the_page(browser, page):
    """Other weights would need other words there, and `make pictures`."""
    browser.open(page)
    first = browser.text("#sentence")
    text = (DOCS / "how-to" / "explore.md").read_text()
    assert first in text
    assert first == "step 20: chose 25 (p 1.00) instead of 18 (p 0.00)"
    pictures = (DOCS / "pictures.md").read_text()
    assert "For 19 steps it agrees with the algorithm." in pictures
    assert "distances, 2.70 and 2.73" in pictures
    assert browser.text("#answer") == "In the end 1 of 50 predecessors differ, 1 of them worse."


def test_the_slider_moves_the_steps(browser, page):
    browser.open(page)
    slider = browser.find("#step")
    ActionChains(browser.driver).move_to_element(slider).click().perform()
    assert step_of(browser) == 25  # its middle
    slider.send_keys(RIGHT, RIGHT, LEFT)  # its own arrow keys: one step each
    assert step_of(browser) == 26
    slider.send_keys(Keys.END)
    assert step_of(browser) == 50


def test_the_table_follows_the_selected_node(browser, page):
    trace = run("dijkstra", GRAPH)
    browser.open(page, "#step=50&node=7")
    key, pred = browser.js("[networks[0].key[50], [...networks[0].pred[50]]]")
    for node in (7, 8, 9):
        assert Select(browser.find("#who")).first_selected_option.text == str(node)
        rows = table(browser)
        assert rows["Key"][0] == shown(float(trace.final_key[node]))
        assert rows["Key"][1] == shown(key[node])
        assert rows["Predecessor"] == [str(trace.final_pred[node]), str(pred[node])]
        assert rows["State"] == ["visited", "visited"]
        browser.press("n")
    Select(browser.find("#who")).select_by_visible_text("3")
    assert table(browser)["Key"][0] == shown(float(trace.final_key[3]))
    where = browser.js("panels[0].nodes[12].renderedPosition()")
    canvas = browser.find("#truth .canvas")
    x, y = (where[k] - canvas.size[k2] / 2 for k, k2 in (("x", "width"), ("y", "height")))
    ActionChains(browser.driver).move_to_element_with_offset(canvas, x, y).click().perform()
    assert Select(browser.find("#who")).first_selected_option.text == "12"


def test_models_are_switched_on_the_same_graph(browser, page):
    browser.open(page, "#step=9")
    first = browser.text("#sentence")
    browser.wait("networks.every((network) => network && !network.running)")
    worse = browser.js("networks.map((network) => network.answers.worse)")
    assert [label.text.split("\n") for label in browser.all("#switch label")] == [
        [name, f"{count} wrong" if count else "all right"]
        for name, count in zip(MODELS, worse, strict=True)
    ]
    browser.press("m")
    assert browser.text("#sentence") == browser.js("networks[1].divergence.sentence") != first
    assert step_of(browser) == 9
    browser.all("#switch label")[0].click()
    assert browser.text("#sentence") == first
    assert "told the stand-in for ∞" in browser.text("#told")


def test_it_plays_at_the_chosen_speed(browser, page):
    browser.open(page)
    Select(browser.find("#speed")).select_by_visible_text("8×")
    browser.find("h1").click()
    browser.press(" ")
    deadline = time.monotonic() + 20
    while step_of(browser) < 3 and time.monotonic() < deadline:
        time.sleep(0.05)
    browser.press(" ")
    stopped = step_of(browser)
    assert stopped >= 3
    time.sleep(0.5)
    assert step_of(browser) == stopped
    assert browser.find("#play").get_attribute("aria-label") == "Play"


def test_curves_run_past_the_end(browser, page):
    browser.open(page, "#step=50")
    browser.wait("networks.every((network) => network?.complete)")
    titles = [figure.text.split("\n")[0] for figure in browser.all(".charts figcaption")]
    assert titles == ["Key, squared error", "Wrong predecessors", "Wrong choices"]
    assert len(browser.all(".charts polyline")) == 6  # three charts of two networks
    points = browser.find(".charts polyline").get_attribute("points").split()
    assert len(points) == 100
    assert step_of(browser) == 50
    browser.press(Keys.END, "p", Keys.END)
    assert step_of(browser) == 100
    assert browser.text("#network .now") == "has visited all nodes"
    browser.press("p")
    assert step_of(browser) == 50


def test_halting_rules_and_told_numbers_are_switched(browser, page):
    def told():
        browser.wait("!networks[1].running")  # it may run in slices on a busy machine
        return browser.text("#told")

    browser.open(page, "#choice=1")
    rule = Select(browser.find("#halt"))
    assert [option.text for option in rule.options] == [
        "the algorithm's steps",
        "the longest training",
        "once predecessors settle",
    ]
    assert "told the stand-in for ∞" in told()
    assert "read after step 50" in told()
    rule.select_by_index(1)
    assert "read after step 20" in told()
    rule.select_by_index(2)
    told()
    settled = browser.js("networks[1].end")
    assert settled < 50
    assert f"read after step {settled}" in told()
    browser.find("#blind").click()
    assert "told nothing of the answer" in told()
    assert rule.first_selected_option.text == "once predecessors settle"
    assert rule.options[0].text == "a step for each node"


def test_all_nine_algorithms_alone(browser, tmp_path):
    graph = sample_graphs("er", 1, 12, seed=4)[0]
    browser.open(explore(graph, algorithm=list(PAPER_ALGORITHMS)).save(tmp_path / "nine.html"))
    assert len(browser.all("#switch label")) == 9
    assert not browser.find("#network").is_displayed()
    for algorithm in map(get_algorithm, PAPER_ALGORITHMS):
        assert browser.text("h1") == algorithm.title
        trace = run(algorithm, graph)
        browser.press(Keys.END)
        assert step_of(browser) == int(trace.length)
        reached = np.asarray(trace.final_key) != algorithm.unreached_key
        assert ["empty" not in one for one in classes(browser, 0)] == reached.tolist()
        last = "The queue is empty" if algorithm.sequential else "None: the algorithm ends."
        assert last in browser.text("#queue")
        browser.press("m")


def test_parallel_networks_have_no_next_node(browser, tmp_path, model):
    graph = sample_graphs("er", 1, 9, seed=4)[0]
    network = model(target="bellman_ford", supervision="tf")
    browser.open(explore(graph, network).save(tmp_path / "parallel.html"))
    browser.press(RIGHT, RIGHT)
    assert "unlike the algorithm's" in browser.text("#network .now")
    assert browser.text("#queue h2") == "Keys that change in this step"
    assert len(browser.all(".charts figure")) == 2
    browser.press("d", "l", Keys.END)


def test_notebooks_show_the_page_in_a_frame(browser, viewer, tmp_path):
    path = tmp_path / "notebook.html"
    path.write_text(f"<!doctype html><meta charset=utf-8>{viewer._repr_html_()}", "utf-8")
    browser.open(path)
    browser.driver.switch_to.frame(browser.find("iframe"))
    browser.find("h1").click()
    browser.press(RIGHT)
    assert step_of(browser) == 1
    browser.driver.execute_script("$('link').click()")
    assert browser.text("#notice").startswith("In a notebook the page has no address")
    browser.driver.switch_to.default_content()


def test_a_hundred_nodes_and_three_models_are_small_and_quick(browser, tmp_path, record_property):
    graph = sample_graphs("er", 1, 100, seed=1, split="test")[0]
    models = {"a": "ne-dijkstra-tf", "b": load_model("ne-dijkstra-tf"), "c": "ne-dijkstra-tf"}
    path = explore(graph, models).save(tmp_path / "hundred.html")
    assert path.stat().st_size < 3_000_000
    browser.command("Performance.enable")
    browser.open(path)
    metrics = browser.command("Performance.getMetrics")["metrics"]
    used = next(one["value"] for one in metrics if one["name"] == "ThreadTime")
    record_property("seconds until ready", float(browser.js("document.body.dataset.ready")) / 1000)
    record_property("seconds of the processor", used)
    # Time of the processor since the page began to load. The steps of two networks may be in it,
    # which run after the page is ready, if other programs make the browser wait.
    assert 0 < used < 3
    assert browser.js("performance.getEntriesByType('resource').length") == 0
    browser.press(RIGHT)
    assert step_of(browser) == 1
