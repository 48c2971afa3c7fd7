"""Training throughput of our networks side by side: no algorithm, 20 nodes, batch 64, one seed.

    python benchmarks/train_networks.py

Whole epochs as `train` runs them, validation included; compiling is not counted. The networks take
turns, and rates are by processor time, of all threads together: their epochs differ much in
length, and on a busy machine a short one may slip through undisturbed.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

from side_by_side import RESULTS, Contestant, graphs_per_second, show, write

from algotransfer.bench.training import prepare_epoch
from algotransfer.datasets import Preset, make_splits
from algotransfer.experiment import Experiment
from algotransfer.networks.registry import MODELS

TARGETS = ("bellman_ford", "dijkstra")


def processor_seconds(work: Callable[[], object]) -> float:
    """Processor time that a piece of work takes."""
    start = time.process_time()
    work()
    return time.process_time() - start


def contestant(model: str, target: str, data: Preset) -> Contestant:
    """Epochs of one network that is learning a target from its answers alone."""
    experiment = Experiment(model=model, target=target)
    splits = make_splits(data)
    epoch, _ = prepare_epoch(experiment, 1, splits.train, splits.validation)
    epoch()
    graphs = len(splits.train) // experiment.batch_size * experiment.batch_size
    return Contestant(graphs=graphs, seconds=lambda repeat: processor_seconds(epoch))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5, help="medians are over these")
    parser.add_argument("--graphs", type=int, default=200, help="of each family in an epoch")
    parser.add_argument("--out", type=Path, default=RESULTS / "train_networks.json")
    arguments = parser.parse_args()
    data = Preset(train=arguments.graphs, validation=arguments.graphs // 10 + 1, test=1)
    rows = []
    for target in TARGETS:
        contestants = {model: contestant(model, target, data) for model in MODELS}
        rates = graphs_per_second(contestants, arguments.repeats)
        rows.append({"target": target, "graphs_per_second": rates})
    show("Training without the algorithm's steps, by processor time", rows, "relax")
    write(arguments.out, rows, packages=("jax",))


if __name__ == "__main__":
    main()
