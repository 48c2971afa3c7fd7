"""How long steps will take: measured on runs of the same kind where there are any."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from algotransfer.algorithms import get_algorithm
from algotransfer.experiment import Experiment
from algotransfer.training.runs import WEIGHTS, read_config
from algotransfer.training.slices import read_slices


class Cost(NamedTuple):
    """A training of one kind: epochs until it stops, and seconds of one epoch of 1,000 graphs."""

    epochs: float
    epoch: float


# (network, framework, supervision): three seeds on one H200; parallel ones scaled by their steps.
REMEMBERED = {
    ("ne", "sequential", "tf"): Cost(70, 0.037),
    ("ne", "sequential", "na"): Cost(90, 0.061),
    ("ne++", "sequential", "tf"): Cost(70, 0.114),
    ("ne++", "sequential", "na"): Cost(100, 0.25),
    ("ne", "parallel", "tf"): Cost(70, 0.02),
    ("ne", "parallel", "na"): Cost(90, 0.02),
    ("ne++", "parallel", "tf"): Cost(70, 0.06),
    ("ne++", "parallel", "na"): Cost(100, 0.06),
}
UNKNOWN = Cost(100, 0.25)  # for networks that are not in the list: rather too much
TOGETHER = 3.0  # times the cost of an epoch where several algorithms are trained at once
CPU = 100.0  # times the cost of an epoch on a few cores
COMPILING, EVALUATING = 18.0, 20.0
Kind = tuple[str, str, str, int]


def kind_of(experiment: Experiment) -> Kind:
    """What decides the cost of an experiment: network, framework, supervision, number of tasks."""
    framework = get_algorithm(experiment.target).framework
    return experiment.model, framework, experiment.supervision, len(experiment.tasks)


@dataclass
class Estimates:
    """Seconds that steps take, better known with every run that was measured."""

    cpu: bool = False
    costs: dict[Kind, list[Cost]] = field(default_factory=lambda: defaultdict(list))
    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    @classmethod
    def read(cls, folder: Path, cpu: bool = False) -> Estimates:
        """Learns from the runs below a folder."""
        estimates = cls(cpu)
        for path in sorted(folder.glob("*/*/config.json")):
            slices = read_slices(path.parent)
            here = [s for s in slices if (s["device"]["platform"] == "cpu") == cpu]
            config = read_config(path.parent)
            if config and len(here) == len(slices) and (path.parent / WEIGHTS).exists():
                estimates.learn(config, here)
        return estimates

    def learn(self, config: dict[str, Any], slices: Iterable[dict[str, Any]]) -> None:
        """Adds what one finished run has cost."""
        experiment = Experiment.from_json(config["experiment"])
        epochs, training = 0, 0.0
        for entry in slices:
            seconds = entry.get("seconds", {})
            for name in ("compile", "evaluation"):
                if name in seconds:
                    self.seconds[name].append(seconds[name])
            if "training" in seconds:
                epochs = entry["epochs"][1]
                training += seconds["training"]
        if training:
            cost = Cost(epochs, training / epochs / _thousands(config["data"]["train"]))
            self.costs[kind_of(experiment)].append(cost)

    @property
    def measured(self) -> bool:
        """Whether there was anything to learn from."""
        return any(self.costs.values())

    def epochs(self, experiment: Experiment) -> float:
        """Epochs after which training is expected to stop."""
        return min(self._cost(experiment).epochs, experiment.max_epochs)

    def compiling(self) -> float:
        """Seconds until the first epoch can begin."""
        return median(self.seconds["compile"] or [COMPILING])

    def training(self, experiment: Experiment, data: Mapping[str, Any], epochs: int = 0) -> float:
        """Seconds that training still takes after some epochs, with compiling."""
        left = max(self.epochs(experiment) - epochs, 1.0)
        return self.compiling() + left * self._cost(experiment).epoch * _thousands(data)

    def evaluating(self) -> float:
        """Seconds that an evaluation takes."""
        return median(self.seconds["evaluation"] or [EVALUATING])

    def _cost(self, experiment: Experiment) -> Cost:
        model, framework, supervision, tasks = key = kind_of(experiment)
        if self.costs[key]:
            epochs, seconds = zip(*self.costs[key], strict=True)
            return Cost(median(epochs), median(seconds))
        cost = REMEMBERED.get((model, framework, supervision), UNKNOWN)
        factor = (TOGETHER if tasks > 1 else 1.0) * (CPU if self.cpu else 1.0)
        return Cost(cost.epochs, cost.epoch * factor)


def _thousands(data: Mapping[str, Any]) -> float:
    return data["num_graphs"] * len(data["graph"]) / 1000
