"""The paper in small, on the CPU: `python -m algotransfer.demo` or `make demo`.

Each part below is a few calls that a user could make; what they write goes into one folder.
"""

from __future__ import annotations

import dataclasses
import time
from pathlib import Path
from typing import Any

from rich.text import Text

from algotransfer.cli.console import errors, next_step, output, wrote
from algotransfer.cli.data import Data
from algotransfer.datasets.presets import Preset
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
    """The paper in small: Dijkstra from inputs and outputs alone, with Prim's steps as a guide.

    Once on its own, once with a processor that Prim's algorithm has shaped, once beside Prim's.
    """
    from algotransfer.draw import save_figure
    from algotransfer.evaluation.evaluate import read_evaluation
    from algotransfer.evaluation.result_tables import methods_table
    from algotransfer.experiment import Experiment
    from algotransfer.report.figures import draw_generalisation
    from algotransfer.reproduce.estimates import Estimates
    from algotransfer.reproduce.executors import ThreadExecutor
    from algotransfer.reproduce.progress_view import ProgressView
    from algotransfer.reproduce.runner import run_steps
    from algotransfer.reproduce.steps import EvaluateStep, TrainStep, step_graph

    alone = Experiment(target=TARGET, **SETTINGS)
    experiments = {"none": alone}
    for method in ("two_processor", "multitask"):
        experiments[method] = dataclasses.replace(alone, method=method, base=(BASE,))
    steps = {
        label: EvaluateStep(TrainStep(experiment, SEEDS, GRAPHS))
        for label, experiment in experiments.items()
    }
    runs = folder / "runs"
    everything = list(step_graph(steps.values()))
    estimates = Estimates.read(runs, "cpu")
    with (
        ThreadExecutor("cpu", JOBS) as executor,
        ProgressView(everything, runs, estimates, errors) as view,
    ):
        results = run_steps(everything, runs, executor=executor, view=view)
    for result in results:
        if result.state in ("failed", "blocked"):
            raise RuntimeError(f"{result.step.name} {result.state}: {result.reason}")

    tables = {}
    for label, step in steps.items():
        path = step.train.path(runs)
        tables[label] = step.train.experiment, read_evaluation(path)
        wrote(path)
    title = f"\n{TARGET} without its steps, with those of {BASE}"
    words = (
        f": {3 * GRAPHS.train} graphs, {SETTINGS['max_epochs']} epochs; in brackets the paper's, "
        "with 15,000 graphs and up to 500 epochs"
    )
    output.print(Text.assemble((title, "bold"), words))
    for metric in ("pred", "key"):
        output.print(methods_table(tables, (metric,)))
    figure = folder / "generalisation.png"
    save_figure(draw_generalisation(tables), figure)
    wrote(figure)


PARTS = {
    "A small dataset": data,
    "One execution as a picture": picture,
    "The paper in small: learning an algorithm without its steps": transfer,
}
# Enough to see the point in a few minutes on two cores; the paper's trainings are far longer.
TARGET, BASE = "dijkstra", "prim"
GRAPHS = Preset(train=128, validation=32, test=16)
SETTINGS: dict[str, Any] = {"trajectories": 4, "max_epochs": 16, "learning_rate": 3e-3}
SEEDS = (0, 1)
JOBS = 2  # compiling uses one core


def main(folder: str | Path = "demo") -> None:
    """Runs all parts and says how long they took."""
    folder = Path(folder)
    folder.mkdir(exist_ok=True)
    start = time.perf_counter()
    for title, part in PARTS.items():
        output.rule(Text(title, style="bold"), align="left")
        part(folder)
        output.print()
    output.print(f"The demo took {time.perf_counter() - start:.0f} s; its files are in {folder}/")
    next_step("algotransfer list")


if __name__ == "__main__":
    main()
