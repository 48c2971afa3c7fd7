"""Write the live page of the front page: `python docs/live_page.py --out live.html`.

`mkdocs build` makes it too, so that the site always has the present page. Nothing is trained: the
weights come with the package.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from algotransfer import explore, sample_graphs
from algotransfer.explorer import Viewer

NETWORKS = {
    "NE++, answers only": "ne++-dijkstra",
    "NE++, random extra steps": "ne++-dijkstra-extra10",
    "NE++, every step": "ne++-dijkstra-tf",
    "NE, answers only": "ne-dijkstra",
    "relax": "relax-dijkstra",
}


def live_page() -> Viewer:
    """Return five networks on a grid of 49 nodes; all were trained on graphs of 20."""
    graph = sample_graphs("grid", 1, 49, seed=2, split="test")[0]
    return explore(graph, NETWORKS, title="grid graph of 49 nodes, seed 2")


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="file to write (.html)")
    path = live_page().save(parser.parse_args().out)
    print(f"wrote {path}, {path.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
