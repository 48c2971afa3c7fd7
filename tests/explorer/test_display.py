"""Pages on any screen: sizes, dark mode, keyboard, colours, and names as plain text."""

import matplotlib.image
import numpy as np
import pytest
from selenium.webdriver.common.keys import Keys

from algotransfer.explorer import explore
from algotransfer.explorer.page import SCRIPTS
from algotransfer.graphs import sample_graphs


@pytest.mark.parametrize("size", [(1280, 800), (390, 844)])
@pytest.mark.parametrize("dark", [False, True])
def test_it_fits_the_screen_and_is_not_blank(browser, page, tmp_path, size, dark):
    browser.dark(dark)
    browser.open(page, "#step=20", size)
    assert browser.js("document.documentElement.scrollWidth") <= size[0]
    file = tmp_path / "screen.png"
    browser.driver.save_screenshot(str(file))
    picture = matplotlib.image.imread(file)[..., :3]
    assert picture.shape[:2] == (size[1], size[0])
    assert len(np.unique((picture * 255).astype(int).reshape(-1, 3), axis=0)) > 200
    assert (picture[2, 2].mean() < 0.2) == dark  # the paper around everything
    boxes = [figure.rect for figure in browser.all("#panels figure")]
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= size[0] for box in boxes)


def test_all_controls_have_names_and_can_be_reached_by_keyboard(browser, page):
    browser.open(page)
    nameless = browser.js(
        "[...document.querySelectorAll('button, input, select')].filter((e) => !e.hidden && "
        "!(e.getAttribute('aria-label') || e.labels?.[0]?.textContent || e.textContent.trim()))"
        ".map((e) => e.id)"
    )
    assert nameless == []
    reached = set()
    for _ in range(20):
        browser.press(Keys.TAB)
        reached.add(browser.js("document.activeElement.id"))
    assert {"go", "closer", "fit", "back", "play", "forward", "step", "speed", "who"} <= reached
    assert "Step 0. The algorithm starts at" in browser.js("$('status').textContent")


def test_colours_are_even_in_lightness(browser, page):
    browser.open(page)
    shades = browser.js("SHADES")
    red, green, blue = (np.array([int(s[i : i + 2], 16) for s in shades]) for i in (1, 3, 5))
    lightness = 0.3 * red + 0.59 * green + 0.11 * blue
    assert (np.diff(lightness) < -5).all()  # each shade darker than the one before, in any eye


def test_hostile_names_are_shown_as_text(browser, tmp_path):
    graph = sample_graphs("grid", 1, 6, seed=0)[0]
    long = "long " * 200
    names = [
        "<script>document.title = 'taken'</script>",
        "<img src=x onerror=\"document.title='taken'\">",
        "\"quotes' & ampersands",
        long,
        "\u2028line\u2029",
        "${1+1}</script>",
    ]
    viewer = explore(graph, {"<b>model</b>": "ne-dijkstra-tf"}, names=names, title="<i>title</i>")
    browser.open(viewer.save(tmp_path / "hostile.html"))
    assert browser.driver.title == "<i>title</i> · algotransfer"
    assert browser.js("document.scripts.length") == 1 + len(SCRIPTS)  # the page's own
    assert browser.all("#switch b, #subtitle i, main img, main script") == []
    assert browser.text("#subtitle").startswith("<i>title</i>")
    for node, name in enumerate(names):
        browser.driver.execute_script(f"pick({node})")
        full = browser.js("$('name').textContent || short[now.node]")
        assert full == name or (len(name) < 30 and full == " ".join(name.split()))
    browser.press(*[Keys.ARROW_RIGHT] * 3)
    assert browser.js("document.documentElement.scrollWidth") <= 1280
