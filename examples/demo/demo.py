"""Demo on the CPU: `make demo`, or `python examples/demo/demo.py [FOLDER]`.

Two networks learn Dijkstra's algorithm from inputs and outputs alone, on graphs of 20 nodes. One
comes with the package: its error grows with the graphs. The other, `relax`, is trained here within
a minute: its error stays where it was.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.text import Text

from algotransfer.cli.console import next_step, output, wrote
from algotransfer.datasets.presets import PAPER_FAMILIES, Preset
from algotransfer.experiment import Experiment

if TYPE_CHECKING:
    import pandas

    from algotransfer.training import Model

COMMITTED = "ne++-dijkstra-na"  # trained on 15,000 graphs of 20 nodes, as in the paper
TRAINED = Experiment(
    model="relax",
    target="dijkstra",
    supervision="na",
    trajectories=1,
    learning_rate=2e-2,
    max_epochs=60,
    patience=30,
)
SEEDS = 3
TRAINING_GRAPHS = Preset(train=64, validation=32, test=1)
TEST_GRAPHS = {20: 32, 100: 8, 400: 2}  # number of graphs of each family, by number of nodes
PAGE_NODES = 64


def train_relax(folder: Path) -> Model:
    """Train the `relax` network on a few graphs of 20 nodes."""
    from algotransfer import make_splits, train

    splits = make_splits(TRAINING_GRAPHS)
    path, model = train(TRAINED, SEEDS, data=splits, folder=folder / "runs", device="cpu")
    assert model is not None  # only a deadline pauses a run
    wrote(path)
    return model


def measure(models: dict[str, Model]) -> pandas.DataFrame:
    """Return and print shares of wrong predecessors on test graphs of 20 to 400 nodes."""
    import pandas

    from algotransfer import evaluate, make_dataset
    from algotransfer.evaluation import per_seed
    from algotransfer.evaluation.result_tables import plain_table

    graphs = [
        make_dataset(PAPER_FAMILIES, count, num_nodes, split="test")
        for num_nodes, count in TEST_GRAPHS.items()
    ]
    frames = []
    for label, model in models.items():
        of_model: Any = per_seed(evaluate(model, graphs)).query("metric == 'pred'")
        frames.append(of_model[of_model["row"] == "network"].assign(model=label))
    chance = of_model[of_model["row"] == "random_neighbour"]  # the same for every model
    frames.append(chance.assign(model="random neighbour"))
    errors = pandas.concat(frames).rename(columns={"mean": "value"})
    table = plain_table(["network"], [f"{num_nodes} nodes" for num_nodes in TEST_GRAPHS])
    for label, rows in errors.groupby("model", sort=False):
        table.add_row(label, *median_and_range(rows))
    output.print("Share of wrong predecessors: median over seeds (number of seeds, range)")
    output.print(table)
    return errors


def median_and_range(errors: Any) -> list[str]:
    """Return the errors of one model for each number of nodes, as text."""
    cells = []
    for _, seeds in errors.groupby("num_nodes")["value"]:
        spread = f" ({len(seeds)}, {seeds.min():.2f}–{seeds.max():.2f})" if len(seeds) > 1 else ""
        cells.append(f"{seeds.median():.2f}{spread}")
    return cells


def draw(folder: Path, errors: pandas.DataFrame) -> None:
    """Draw the error against the number of nodes."""
    from algotransfer.draw import save_figure
    from algotransfer.report.compare import draw_panels

    figure = draw_panels([(errors, "num_nodes", "share of wrong predecessors", "nodes")])
    save_figure(figure, folder / "error_by_size.png")
    wrote(folder / "error_by_size.png")


def write_page(folder: Path, models: dict[str, Model]) -> None:
    """Write a page that shows both networks beside the algorithm, step by step."""
    from algotransfer import explore, sample_graphs

    graph = sample_graphs("grid", 1, PAGE_NODES, split="test", shape="square")[0]
    explore(graph, models, title=f"grid of {PAGE_NODES} nodes").save(folder / "explore.html")
    wrote(folder / "explore.html")


def main(folder: str | Path = "demo") -> None:
    """Run the demo; write its files into `folder`."""
    from algotransfer import load_model

    start = time.perf_counter()
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    heading("1. Train a relax network without the algorithm's steps, on graphs of 20 nodes")
    models = {"relax (trained)": train_relax(folder)}
    heading("2. Compare it with an NE++ network of the package on larger graphs")
    models = {"NE++ (package)": load_model(COMMITTED), **models}
    errors = measure(models)
    heading("3. Draw the errors, and write a page that shows where the networks go wrong")
    draw(folder, errors)
    write_page(folder, models)
    output.print(f"\nThe demo took {time.perf_counter() - start:.0f} s.")
    next_step(f"open {folder / 'error_by_size.png'} and {folder / 'explore.html'}")
    next_step("algotransfer list")


def heading(text: str) -> None:
    """Print the title of a part."""
    output.print()
    output.rule(Text(text, style="bold"), align="left")


if __name__ == "__main__":
    main(*sys.argv[1:])
