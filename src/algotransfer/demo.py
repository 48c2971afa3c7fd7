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


def transfer(folder: Path) -> None:
    """The paper's question at small scale: Bellman-Ford from inputs and outputs alone.

    Once on its own, once beside breadth-first search, whose steps are shown.
    """
    from algotransfer.datasets import make_splits
    from algotransfer.draw import save_figure
    from algotransfer.evaluation import beside_paper_table, evaluate
    from algotransfer.experiment import Experiment
    from algotransfer.report.figures import draw_generalisation
    from algotransfer.training import train

    alone = Experiment(target="bellman_ford", max_epochs=EPOCHS)
    together = Experiment(
        target="bellman_ford", method="multitask", base=("bfs",), max_epochs=EPOCHS
    )
    splits = make_splits("small")
    results = {}
    for label, experiment in {"alone": alone, "with BFS": together}.items():
        path, model = train(experiment, seeds=2, data=splits, folder=folder / "runs")
        frame = evaluate(model or path, splits.test)
        output.print(f"[bold]Bellman-Ford {label}[/], {len(splits.train)} graphs (paper: 15,000)")
        output.print(beside_paper_table(frame, experiment, graph="mean"))
        wrote(path)
        results[label] = experiment, frame
    path = folder / "generalisation.png"
    save_figure(draw_generalisation(results), path)
    wrote(path)


PARTS = {
    "A small dataset": data,
    "One execution as a picture": picture,
    "Learning an algorithm without its steps": transfer,
}
EPOCHS = 30  # enough to see the point; the paper's trainings go on for hundreds


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
