"""Measure the page of `explore` in Chromium: bytes, seconds to write and to open, answers to edits.

python benchmarks/explore_page.py --out results/explore-page.json
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from algotransfer import explore, sample_graphs
from algotransfer.training.runs import environment, write_json

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).parents[1] / "docs"))

from browser.chromium import Browser  # pyright: ignore[reportMissingImports]
from live_page import live_page  # pyright: ignore[reportMissingImports]

MODELS = {
    "NE": "ne-dijkstra-na",
    "NE++": "ne++-dijkstra-na",
    "relax": "relax-dijkstra-na-4a6b0caf5adbc5a0",
}
SIZES = (20, 50, 100, 200)  # nodes
FRONT_PAGE = "front page"
COMMAND = ["explore", "ne-dijkstra-tf", "ne++-dijkstra-na", "--num-nodes", "50"]
EDIT = """
const done = arguments[0];
pickEdge(0);
const began = performance.now();
setWeight("WEIGHT");
const shown = Number(document.body.dataset.answered);
(function wait() {
  if (networks[0].running) setTimeout(wait);
  else done([shown, performance.now() - began]);
})();
"""


def write_seconds(folder: Path, repeats: int) -> dict[str, list[float]]:
    """Measure the whole command, from the start of Python to the finished file."""
    wall, processor = [], []
    for _ in range(repeats):
        command = [sys.executable, "-m", "algotransfer", *COMMAND, "--out", str(folder / "a.html")]
        began, before = time.perf_counter(), os.times()
        subprocess.run(command, check=True, capture_output=True)
        after = os.times()
        wall.append(round(time.perf_counter() - began, 2))
        user = after.children_user - before.children_user
        processor.append(round(user + after.children_system - before.children_system, 2))
    return {"wall": wall, "processor": processor}


def edit_milliseconds(browser: Browser, page: Path, repeats: int) -> dict[str, float]:
    """Measure edits of a weight: until the page shows something, and until the whole answer."""
    browser.open(page)
    browser.wait("networks[0].complete", 120)
    browser.command("Performance.enable")
    shown, whole, processor = [], [], []
    for repeat in range(repeats):
        weight = 0.3 + 0.01 * repeat
        script = EDIT.replace("WEIGHT", str(weight))
        before = thread_milliseconds(browser)
        first, last = browser.driver.execute_async_script(script)
        processor.append(thread_milliseconds(browser) - before)
        shown.append(first)
        whole.append(last)
        browser.wait("networks[0].complete", 120)
    return {
        "shown_median_ms": round(statistics.median(shown), 1),
        "whole_median_ms": round(statistics.median(whole), 1),
        "whole_min_ms": round(min(whole), 1),
        "processor_median_ms": round(statistics.median(processor), 1),
    }


def thread_milliseconds(browser: Browser) -> float:
    """Return the processor time of the page, which other programs do not make longer."""
    metrics = browser.command("Performance.getMetrics")["metrics"]
    return 1000 * next(one["value"] for one in metrics if one["name"] == "ThreadTime")


def main() -> None:
    """Measure everything and write one file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=9, help="edits per size and network")
    parser.add_argument("--out", type=Path, required=True, help="file to write (.json)")
    options = parser.parse_args()
    browser = Browser()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        seconds = write_seconds(folder, min(options.repeats, 5))
        graph = sample_graphs("er", 1, 50, seed=1, split="test")[0]
        pages = {"algorithm alone": (), "one model": ("ne++-dijkstra-na",), "three models": MODELS}
        sizes, viewers = {}, {label: explore(graph, models) for label, models in pages.items()}
        for label, viewer in {**viewers, FRONT_PAGE: live_page()}.items():
            path = viewer.save(folder / "size.html")
            browser.open(path)
            ready = float(browser.js("document.body.dataset.ready"))
            sizes[label] = {"bytes": path.stat().st_size, "ready_ms": ready}
        edits = {}
        for num_nodes in SIZES:
            graph = sample_graphs("er", 1, num_nodes, seed=1, split="test")[0]
            for label, model in MODELS.items():
                path = explore(graph, model).save(folder / "edit.html")
                row = edit_milliseconds(browser, path, options.repeats)
                edits[f"{label}, {num_nodes} nodes"] = row
                print(f"{label}, {num_nodes} nodes: {row}")
    content = {
        "command": ["algotransfer", *COMMAND],
        "write_seconds": seconds,
        "front_page": sizes.pop(FRONT_PAGE),  # of the documentation
        "pages_of_50_nodes": sizes,
        "edits": edits,
        "browser": browser.driver.capabilities["browserVersion"],
        "load_average": round(os.getloadavg()[0], 1),
        "cores": os.cpu_count(),
        "environment": environment(),
    }
    browser.driver.quit()
    write_json(options.out, content)
    print(f"wrote {options.out}")


if __name__ == "__main__":
    main()
