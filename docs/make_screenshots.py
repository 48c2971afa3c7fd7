"""Take the pictures of the live page: `python docs/make_screenshots.py`, or `make pictures`.

Needs Chromium, which `make browser` installs; it is driven as in the tests. Nothing is trained:
the weights come with the package.
"""

from __future__ import annotations

import io
import sys
import tempfile
import time
from pathlib import Path

from PIL import Image

from algotransfer import explore, sample_graphs
from algotransfer.explorer import Viewer

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from browser.chromium import Browser
from live_page import NETWORKS

IMAGES = Path(__file__).parent / "images"
EDGE, WEIGHTS = (14, 17), (0.65, 0.55, 0.45, 0.35, 0.25, 0.2)  # it is 0.73 before
WINDOW, WIDTH = (1200, 850), 840  # pixels of the animation before and after scaling


def trace() -> Viewer:
    """Return a page of Dijkstra's algorithm alone, on a graph of sixteen nodes."""
    graph = sample_graphs("er", 1, 16, seed=8, split="test")[0]
    title = "er graph of 16 nodes, seed 8"
    return explore(graph, algorithm=("dijkstra", "prim", "bellman_ford"), title=title)


def wrong_turn() -> Viewer:
    """Return four networks on a grid of 50 nodes; all were trained on graphs of 20."""
    graph = sample_graphs("grid", 1, 50, seed=1, split="test")[0]
    models = ("ne-dijkstra-tf", "ne++-dijkstra-tf", "ne-dijkstra-na", "ne++-dijkstra-na")
    return explore(graph, models, title="grid graph of 50 nodes, seed 1")


def photograph(browser: Browser, viewer: Viewer, anchor: str, path: Path) -> None:
    """Write a picture of a page at a step, in a window of 1280 × 800."""
    with tempfile.TemporaryDirectory() as folder:
        browser.open(viewer.save(Path(folder) / "page.html"), anchor)
        browser.wait("networks.every((network) => network?.complete)")
        time.sleep(1)  # the canvas is painted a frame or two later
        shot = Image.open(io.BytesIO(browser.driver.get_screenshot_as_png()))
    # A palette: pictures of flat areas need no more colours, and a third of the bytes.
    shot.convert("RGB").quantize(256).save(path, optimize=True)


def animate(browser: Browser, path: Path) -> None:
    """Write an animation of an edge that becomes shorter, of the answers, and of the steps.

    The graph was chosen so that the change makes a network err.
    """
    graph = sample_graphs("grid", 1, 24, seed=3, split="test")[0]
    frames: list[Image.Image] = []
    durations: list[int] = []

    def film(script: str, milliseconds: int) -> None:
        browser.driver.execute_script(script)
        browser.wait("networks.every((network) => network?.complete)")
        time.sleep(0.3)
        shot = Image.open(io.BytesIO(browser.driver.get_screenshot_as_png())).convert("RGB")
        frames.append(
            shot.resize((WIDTH, WIDTH * shot.height // shot.width), Image.Resampling.LANCZOS)
        )
        durations.append(milliseconds)

    with tempfile.TemporaryDirectory() as folder:
        viewer = explore(graph, NETWORKS, title="grid graph of 24 nodes, seed 3")
        browser.open(viewer.save(Path(folder) / "page.html"), "#step=24&choice=2&node=14", WINDOW)
        film("", 1500)
        film(f"pickEdge(findEdge(graph, {EDGE[0]}, {EDGE[1]}))", 900)
        for weight in WEIGHTS:
            film(f"setWeight('{weight}', false)", 250)
        film(f"setWeight('{WEIGHTS[-1]}')", 2000)
        for step in range(25):
            film(f"go({step})", 320)
    durations[-1] = 3000
    more = {"append_images": frames[1:], "duration": durations, "loop": 0}
    frames[0].save(path, save_all=True, quality=80, method=6, **more)


def main() -> None:
    """Write all of them to `docs/images/`."""
    browser, grid = Browser(), wrong_turn()
    animate(browser, IMAGES / "explore.webp")
    photograph(browser, trace(), "#step=6&node=6", IMAGES / "explore_dijkstra.png")
    photograph(browser, grid, "#step=20", IMAGES / "explore_choice.png")
    photograph(browser, grid, "#step=42&choice=1&node=37", IMAGES / "explore_grid.png")
    browser.driver.quit()


if __name__ == "__main__":
    main()
