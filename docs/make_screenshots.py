"""Takes the pictures of the viewer: `python docs/make_screenshots.py`, or `make pictures`.

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

IMAGES = Path(__file__).parent / "images"


def trace() -> Viewer:
    """Dijkstra's algorithm alone, on a graph of sixteen nodes."""
    graph = sample_graphs("er", 1, 16, seed=8, split="test")[0]
    title = "er graph of 16 nodes, seed 8"
    return explore(graph, algorithm=("dijkstra", "prim", "bellman_ford"), title=title)


def wrong_turn() -> Viewer:
    """Four networks on a grid of 50 nodes; all were trained on graphs of 20."""
    graph = sample_graphs("grid", 1, 50, seed=1, split="test")[0]
    models = ("ne-dijkstra-tf", "ne++-dijkstra-tf", "ne-dijkstra-na", "ne++-dijkstra-na")
    return explore(graph, models, title="grid graph of 50 nodes, seed 1")


def photograph(browser: Browser, viewer: Viewer, anchor: str, path: Path) -> None:
    """Opens a page at some step and writes what a window of 1280 × 800 shows of it."""
    with tempfile.TemporaryDirectory() as folder:
        browser.open(viewer.save(Path(folder) / "page.html"), anchor)
        time.sleep(1)  # the canvas is painted a frame or two later
        shot = Image.open(io.BytesIO(browser.driver.get_screenshot_as_png()))
    # A palette: pictures of flat areas need no more colours, and a third of the bytes.
    shot.convert("RGB").quantize(256).save(path, optimize=True)


def main() -> None:
    """Takes all of them into `docs/images/`."""
    browser, grid = Browser(), wrong_turn()
    photograph(browser, trace(), "#step=6&node=6", IMAGES / "explore_dijkstra.png")
    photograph(browser, grid, "#step=20", IMAGES / "explore_choice.png")
    photograph(browser, grid, "#step=42&choice=1&node=37", IMAGES / "explore_grid.png")
    browser.driver.quit()


if __name__ == "__main__":
    main()
