"""`algotransfer train`: all seeds of one experiment."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from tyro.conf import arg

from algotransfer.datasets.presets import PRESETS
from algotransfer.experiment import Experiment
from algotransfer.methods import ALONE, METHODS
from algotransfer.names import ALGORITHM_NAMES, MODEL_NAMES, check_name


@dataclass(frozen=True)
class Train(Experiment):
    """Train a network to execute an algorithm, on many seeds at once.

    A run that was interrupted goes on after its last epoch; one that has ended is not run again.
    """

    model: Annotated[str, arg(metavar="{" + ",".join(MODEL_NAMES) + "}")] = "ne"
    """The network: the Neural Executor, its more expressive successor, or another."""
    target: Annotated[str, arg(metavar="{" + ",".join(ALGORITHM_NAMES) + "}")] = "dijkstra"
    """The algorithm to learn."""
    method: Annotated[str, arg(metavar="{" + ",".join(METHODS) + "}")] = ALONE
    """How knowledge of the base algorithms is transferred to the target."""
    seeds: int = 5
    """How many seeds, 0, 1, …, are trained together."""
    data: Annotated[str, arg(metavar="{" + ",".join(PRESETS) + "}")] = "paper"
    """The graphs to train on: the paper's, or a small set."""
    data_seed: int = 0
    """Another seed gives other graphs."""
    folder: Path = Path("runs")
    """Where runs are kept."""
    device: Literal["cpu", "gpu"] | None = None
    """Where to train; by default a GPU if there is one."""
    resume: bool = True
    """Go on from where an interrupted run stopped."""
    checkpoint_seconds: float = 120.0
    """Time between two checkpoints."""
    track: Literal["trackio", "wandb"] | None = None
    """Follow the training with a tracking service."""

    def run(self) -> None:
        """Trains, then says how it went."""
        check_name("network", self.model, MODEL_NAMES)
        for name in (self.target, *self.base):
            check_name("algorithm", name, ALGORITHM_NAMES)
        from algotransfer.cli.console import next_step, output, wrote
        from algotransfer.cli.dataset_tables import training_table
        from algotransfer.devices import peak_memory
        from algotransfer.training.train import train

        fields = [field.name for field in dataclasses.fields(Experiment)]
        experiment = Experiment(**{name: getattr(self, name) for name in fields})
        epochs = []
        path, model = train(
            experiment,
            self.seeds,
            data=self.data,
            data_seed=self.data_seed,
            folder=self.folder,
            device=self.device,
            resume=self.resume,
            track=self.track,
            checkpoint_seconds=self.checkpoint_seconds,
            watchers=[lambda rows, graphs_per_second: epochs.append(rows)],
        )
        assert model is not None  # only a deadline pauses a run
        output.print(training_table(model))
        if epochs:
            output.print(f"peak memory {peak_memory() / 2**30:.2f} GiB")
            wrote(path)
        else:
            output.print(f"trained before, in {path}; --no-resume trains it again")
        next_step(f"algotransfer evaluate {path}")
