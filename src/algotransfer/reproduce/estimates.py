"""Time estimates for steps, from the measured times of finished runs in the folder."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from algotransfer.algorithms import get_algorithm
from algotransfer.datasets.dataset import total_graphs
from algotransfer.experiment import Experiment
from algotransfer.training.provenance import read_provenance
from algotransfer.training.runs import WEIGHTS, read_config

CostKey = tuple[str, str, str, str, int, int | None]


class TrainingCost(NamedTuple):
    """Measured cost of a training run: epochs of the longest seed, and seconds per epoch."""

    epochs: int
    seconds_per_graph: float  # of one epoch


def cost_key(experiment: Experiment, data: Mapping[str, Any]) -> CostKey:
    """Return the properties of an experiment and its training graphs that determine its cost."""
    framework = get_algorithm(experiment.target).framework.name
    tasks, size = len(experiment.tasks), data.get("num_nodes")
    return experiment.model, framework, experiment.supervision, experiment.select, tasks, size


@dataclass
class Estimates:
    """Measured times of finished runs; every estimate is None until a similar run was measured."""

    costs: dict[CostKey, list[TrainingCost]] = field(default_factory=lambda: defaultdict(list))
    compilations: list[float] = field(default_factory=list)
    evaluations: dict[int, list[float]] = field(default_factory=lambda: defaultdict(list))

    @classmethod
    def read(cls, folder: Path, platform: str) -> "Estimates":
        """Read the finished runs below a folder that were made on one platform (`cpu`, `gpu`)."""
        estimates = cls()
        for path in sorted(folder.glob("*/*/config.json")):
            slices = read_provenance(path.parent)
            same_platform = all(entry["device"]["platform"] == platform for entry in slices)
            config = read_config(path.parent)
            if config and same_platform and (path.parent / WEIGHTS).exists():
                # Runs with user-defined algorithms or methods are not comparable.
                with suppress(ValueError, TypeError, KeyError):
                    estimates.add_run(config, slices)
        return estimates

    def add_run(self, config: dict[str, Any], slices: Iterable[dict[str, Any]]) -> None:
        """Add the measured times of one finished run."""
        data = config["data"]["train"]
        key = cost_key(Experiment.from_json(config["experiment"]), data)
        graphs, epochs, training = total_graphs(data), 0, 0.0
        for entry in slices:
            seconds = entry.get("seconds", {})
            if "compile" in seconds:
                self.compilations.append(seconds["compile"])
            if "evaluation" in seconds:
                self.evaluations[graphs].append(seconds["evaluation"])
            if "training" in seconds:
                epochs = entry["epochs"][1]
                training += seconds["training"]
        if training:
            self.costs[key].append(TrainingCost(epochs, training / epochs / graphs))

    def compilation(self) -> float | None:
        """Return the expected seconds before the first epoch."""
        return median(self.compilations) if self.compilations else None

    def training(
        self, experiment: Experiment, data: Mapping[str, Any], epochs: int = 0
    ) -> float | None:
        """Return the expected seconds of training after some epochs, compilation included."""
        costs, compilation = self.costs.get(cost_key(experiment, data)), self.compilation()
        if not costs or compilation is None:
            return None
        expected = min(median(cost.epochs for cost in costs), experiment.max_epochs)
        seconds_per_epoch = median(cost.seconds_per_graph for cost in costs) * total_graphs(data)
        return compilation + max(expected - epochs, 1) * seconds_per_epoch

    def evaluation(self, data: Mapping[str, Any]) -> float | None:
        """Return the expected seconds of an evaluation, from runs with as many training graphs."""
        measured = self.evaluations.get(total_graphs(data))
        return median(measured) if measured else None
