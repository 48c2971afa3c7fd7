"""How long steps will take: measured on runs of the same kind where there are any."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from algotransfer.algorithms import get_algorithm
from algotransfer.datasets import Splits
from algotransfer.experiment import Experiment
from algotransfer.training.provenance import read_provenance
from algotransfer.training.runs import WEIGHTS, read_config


class Cost(NamedTuple):
    """A training of one kind: epochs until its last seed stops, and seconds of one of them."""

    epochs: float
    epoch: float  # of as many graphs as the paper trains on


# Three seeds on one H200; epochs are means over our runs. Epochs of parallel algorithms have fewer
# steps; with `mean` all trajectories are learned from.
REMEMBERED = {
    ("ne", "sequential", "tf"): Cost(115, 0.25),
    ("ne", "sequential", "na"): Cost(131, 0.42),
    ("ne", "sequential", "mean"): Cost(118, 1.2),
    ("ne", "sequential", "multitask"): Cost(140, 2.0),
    ("ne", "parallel", "tf"): Cost(129, 0.1),
    ("ne", "parallel", "na"): Cost(136, 0.17),
    ("ne", "parallel", "multitask"): Cost(135, 0.8),
    ("ne++", "sequential", "tf"): Cost(93, 0.5),
    ("ne++", "sequential", "na"): Cost(98, 1.0),
    ("ne++", "sequential", "mean"): Cost(88, 3.7),
    ("ne++", "sequential", "multitask"): Cost(112, 1.6),
    ("ne++", "parallel", "tf"): Cost(95, 0.2),
    ("ne++", "parallel", "na"): Cost(112, 0.4),
    ("ne++", "parallel", "multitask"): Cost(144, 0.64),
}
UNKNOWN = Cost(100, 2.0)  # for what is not in the list: rather too much
CPU = 100  # times as long on a few cores: a guess
PAPER = 15_000  # graphs that the paper trains on
COMPILING = 18.0
EXAM, NODE = 6.0, 5e-6  # an evaluation: seconds to compile for a size of graphs, and for each node
Kind = tuple[str, str, str, str, int]


def kind_of(experiment: Experiment) -> Kind:
    """What decides the cost: network, class, supervision, trajectories that count, tasks."""
    framework = get_algorithm(experiment.target).framework.name
    tasks = len(experiment.tasks)
    return experiment.model, framework, experiment.supervision, experiment.select, tasks


@dataclass
class Estimates:
    """Seconds that steps take, better known with every run that was measured."""

    cpu: bool = False
    costs: dict[Kind, list[Cost]] = field(default_factory=lambda: defaultdict(list))
    compilations: list[float] = field(default_factory=list)
    evaluations: dict[float, list[float]] = field(default_factory=lambda: defaultdict(list))

    @classmethod
    def read(cls, folder: Path, cpu: bool = False) -> Estimates:
        """Learns from the runs below a folder."""
        estimates = cls(cpu)
        for path in sorted(folder.glob("*/*/config.json")):
            slices = read_provenance(path.parent)
            here = [s for s in slices if (s["device"]["platform"] == "cpu") == cpu]
            config = read_config(path.parent)
            if config and len(here) == len(slices) and (path.parent / WEIGHTS).exists():
                # One of somebody's own algorithm, method or graphs teaches nothing about ours.
                with suppress(ValueError, TypeError, KeyError):
                    estimates.learn(config, here)
        return estimates

    def learn(self, config: dict[str, Any], slices: Iterable[dict[str, Any]]) -> None:
        """Adds what one finished run has cost."""
        kind = kind_of(Experiment.from_json(config["experiment"]))
        share, epochs, training = _share(config["data"]["train"]), 0, 0.0
        for entry in slices:
            seconds = entry.get("seconds", {})
            if "compile" in seconds:
                self.compilations.append(seconds["compile"])
            if "evaluation" in seconds:
                self.evaluations[share].append(seconds["evaluation"])
            if "training" in seconds:
                epochs = entry["epochs"][1]
                training += seconds["training"]
        if training:
            self.costs[kind].append(Cost(epochs, training / epochs / share))

    @property
    def origin(self) -> str:
        """Where the numbers come from, in words."""
        guess = "guessed from times of three seeds on one H200"
        if self.cpu:
            guess += f", {CPU} times as long on a CPU"
        return f"measured on runs like it in the folder, else {guess}" if self.costs else guess

    def epochs(self, experiment: Experiment) -> float:
        """Epochs after which training is expected to stop."""
        return min(self._cost(experiment).epochs, experiment.max_epochs)

    def compiling(self) -> float:
        """Seconds until the first epoch can begin."""
        return median(self.compilations or [COMPILING])

    def training(self, experiment: Experiment, data: Mapping[str, Any], epochs: int = 0) -> float:
        """Seconds that training still takes after some epochs, with compiling."""
        left = max(self.epochs(experiment) - epochs, 1.0)
        return self.compiling() + left * self._cost(experiment).epoch * _share(data)

    def evaluating(self, data: Splits) -> float:
        """Seconds that an evaluation takes, judged by others of the same data."""
        if measured := self.evaluations.get(_share(data.train.arguments)):
            return median(measured)
        nodes = sum(size * len(graphs) for size, graphs in data.test.items())
        return EXAM * len(data.test) + NODE * nodes * self._times_as_long

    @property
    def _times_as_long(self) -> float:
        return CPU if self.cpu else 1

    def _cost(self, experiment: Experiment) -> Cost:
        model, framework, supervision, select, tasks = key = kind_of(experiment)
        if measured := self.costs.get(key):
            epochs, seconds = zip(*measured, strict=True)
            return Cost(median(epochs), median(seconds))
        training = "multitask" if tasks > 1 else "mean" if select == "mean" else supervision
        cost = REMEMBERED.get((model, framework, training), UNKNOWN)
        return Cost(cost.epochs, cost.epoch * self._times_as_long)


def _share(data: Mapping[str, Any]) -> float:
    return data["num_graphs"] * len(data["graph"]) / PAPER
