"""Compare the training throughput of our networks without steps: 20 nodes, batch 64, one seed.

    python benchmarks/train_networks.py

Measures whole epochs as `train` runs them, validation included, compilation excluded. Rates are per
second of processor time, summed over threads, because on a busy machine wall time favours the
networks with short epochs.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from side_by_side import RESULTS, Contestant, graphs_per_second, show, timed, write

from algotransfer.bench.training_speed import prepare_epoch
from algotransfer.datasets import Preset, make_splits
from algotransfer.experiment import Experiment
from algotransfer.networks.registry import MODELS

TARGETS = ("bellman_ford", "dijkstra")


def contestant(model: str, target: str, data: Preset) -> Contestant:
    """Return epochs of a network that learns a target without steps."""
    experiment = Experiment(model=model, target=target)
    splits = make_splits(data)
    epoch, _ = prepare_epoch(experiment, 1, splits.train, splits.validation)
    epoch()
    graphs = len(splits.train) // experiment.batch_size * experiment.batch_size
    return Contestant(graphs=graphs, seconds=lambda repeat: timed(epoch, time.process_time))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--repeats", type=int, default=5, help="repeats, of which the median is reported"
    )
    parser.add_argument("--graphs", type=int, default=200, help="graphs of each family in an epoch")
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
