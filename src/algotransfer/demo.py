"""A first look, on the CPU: `python -m algotransfer.demo` or `make demo`.

Each part below is a few calls that a user could make; what they write goes into one folder.
"""

from __future__ import annotations

import time
from pathlib import Path

from algotransfer.cli.console import next_step, output, wrote
from algotransfer.cli.data import Data
from algotransfer.names import FAMILY_NAMES


def data(folder: Path) -> None:
    """A small dataset: graphs of every family, the steps of all nine algorithms, statistics."""
    Data(graph=FAMILY_NAMES, num_graphs=100, num_nodes=20, out=folder / "data").run()


def picture(folder: Path) -> None:
    """A few steps of Dijkstra's algorithm on a small grid."""
    from algotransfer.datasets import make_dataset
    from algotransfer.draw import draw_trace, save_figure

    dataset = make_dataset("grid", num_graphs=4, num_nodes=12, shape="square")
    trace = dataset.trace("dijkstra")
    path = folder / "dijkstra.png"
    save_figure(draw_trace("dijkstra", dataset.graphs[3], trace[3]), path)
    wrote(path)


PARTS = {
    "A small dataset": data,
    "One execution as a picture": picture,
}


def main(folder: str | Path = "demo") -> None:
    """Runs all parts and says how long they took."""
    folder = Path(folder)
    folder.mkdir(exist_ok=True)
    start = time.perf_counter()
    for title, part in PARTS.items():
        output.rule(f"[bold]{title}", align="left")
        part(folder)
        output.print()
    output.print(f"The demo took {time.perf_counter() - start:.0f} s; its files are in {folder}/")
    next_step("algotransfer list")


if __name__ == "__main__":
    main()
