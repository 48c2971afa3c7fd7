"""Training throughput of our networks side by side: no algorithm, 20 nodes, batch 64, one seed.

    python benchmarks/train_networks.py

Whole epochs as `train` runs them, validation included; compiling is not counted. The networks take
turns, so that a busy machine slows all of them.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from side_by_side import RESULTS, Contestant, graphs_per_second, show, timed, write

from algotransfer.bench.training import prepare_epoch
from algotransfer.datasets import Preset, make_splits
from algotransfer.experiment import Experiment
from algotransfer.names import MODEL_NAMES

TARGETS = ("bellman_ford", "dijkstra")


def contestant(model: str, target: str, data: Preset) -> Contestant:
    """Epochs of one network that is learning a target from its answers alone."""
    experiment = Experiment(model=model, target=target)
    splits = make_splits(data)
    epoch, _ = prepare_epoch(experiment, 1, splits.train, splits.validation)
    epoch()
    graphs = len(splits.train) // experiment.batch_size * experiment.batch_size
    return Contestant(graphs=graphs, seconds=lambda repeat: timed(epoch))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5, help="medians are over these")
    parser.add_argument("--graphs", type=int, default=200, help="of each family in an epoch")
    parser.add_argument("--out", type=Path, default=RESULTS / "train_networks.json")
    arguments = parser.parse_args()
    data = Preset(train=arguments.graphs, validation=arguments.graphs // 10 + 1, test=1)
    rows = []
    for target in TARGETS:
        contestants = {model: contestant(model, target, data) for model in MODEL_NAMES}
        rates = graphs_per_second(contestants, arguments.repeats)
        rows.append({"target": target, "graphs_per_second": rates})
    show("Training throughput on the CPU, no algorithm", rows, "relax")
    write(arguments.out, rows, packages=("jax",))


if __name__ == "__main__":
    main()
