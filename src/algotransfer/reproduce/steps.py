"""Training and evaluation steps of the grid, with results cached in a folder.

A step is a frozen dataclass that names its inputs. `run` depends only on the step and the folder,
where it leaves its result, so any executor can run it once its inputs are finished.
"""

import functools
import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from algotransfer.checksums import is_damaged
from algotransfer.datasets import Preset, Splits, load_dataset, make_splits, split_dataset
from algotransfer.evaluation.evaluate import EVALUATION, evaluate, save_evaluation
from algotransfer.experiment import Experiment
from algotransfer.files import remove_leftovers, set_aside
from algotransfer.locks import locked
from algotransfer.reproduce.estimates import Estimates
from algotransfer.training import load_model, train
from algotransfer.training.provenance import ProvenanceRecord, read_provenance
from algotransfer.training.runs import configuration, is_finished, run_folder


class StepPaused(Exception):
    """Raised by a step that stopped on request, with the seconds spent by activity."""

    def __init__(self, seconds: Mapping[str, float] | None = None):
        super().__init__(seconds)
        self.seconds = seconds or {}


@dataclass(frozen=True)
class Monitor:
    """Callbacks between a running step and the runner.

    Once `should_pause` returns True, the step raises `StepPaused` at the next point where its work
    can be saved. `report` gets the number of finished epochs or graphs and a message about them.
    """

    should_pause: Callable[[], bool] = lambda: False
    report: Callable[[int, str], None] = lambda done, message: None


NO_MONITOR = Monitor()


@dataclass(frozen=True)
class Step(ABC):
    """A unit of cached work and the steps it depends on."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Name in tables and messages."""

    @property
    @abstractmethod
    def inputs(self) -> tuple["Step", ...]:
        """Steps whose results are required."""

    @abstractmethod
    def is_finished(self, folder: Path) -> bool:
        """Return whether the folder holds the result."""

    @abstractmethod
    def estimate(self, folder: Path, estimates: Estimates) -> float | None:
        """Return the expected seconds of the remaining work, or None if unknown."""

    @abstractmethod
    def run(self, folder: Path, device: str | None = None, monitor: Monitor = NO_MONITOR) -> dict:
        """Run the step, or resume it; return the seconds spent, by activity."""


@functools.lru_cache(maxsize=4)
def cached_splits(data: str | Preset | Path) -> Splits:
    """Return the datasets of a preset or a data file, shared by all steps of a process."""
    return split_dataset(load_dataset(data)) if isinstance(data, Path) else make_splits(data)


@dataclass(frozen=True)
class TrainStep(Step):
    """Train all seeds of an experiment, starting from its base model if it has one."""

    experiment: Experiment
    seeds: tuple[int, ...]
    data: str | Preset | Path

    @property
    def name(self) -> str:
        return " ".join(["train", self.experiment.name, *self.experiment.changed_settings()])

    @property
    def inputs(self) -> tuple[Step, ...]:
        base = self.experiment.pretraining()
        return () if base is None else (TrainStep(base, self.seeds, self.data),)

    def path(self, folder: Path) -> Path:
        """Return the run folder."""
        config = configuration(self.experiment, self.seeds, cached_splits(self.data))
        return run_folder(folder, self.experiment, config)

    def is_finished(self, folder: Path) -> bool:
        return is_finished(self.path(folder))

    def estimate(self, folder: Path, estimates: Estimates) -> float | None:
        slices = read_provenance(self.path(folder))
        done = max((entry["epochs"][1] for entry in slices if "epochs" in entry), default=0)
        return estimates.training(self.experiment, cached_splits(self.data).train.arguments, done)

    def run(self, folder: Path, device: str | None = None, monitor: Monitor = NO_MONITOR) -> dict:
        if self.is_finished(folder):
            return {}

        def report(rows, graphs_per_second):
            epoch = rows[0]["epoch"]
            losses = [row["validation_loss"] for row in rows if row["validation_loss"] is not None]
            best = min(losses, default=math.nan)
            monitor.report(
                epoch,
                f"epoch {epoch}, {len(rows)}/{len(self.seeds)} seeds, validation {best:.4f}, "
                f"{graphs_per_second:,.0f} graphs/s",
            )

        monitor.report(0, "compiling")
        path, model = train(
            self.experiment,
            self.seeds,
            data=cached_splits(self.data),
            folder=folder,
            device=device,
            show=False,
            pause=monitor.should_pause,
            reporters=(report,),
        )
        seconds = read_provenance(path)[-1]["seconds"]
        if model is None:
            raise StepPaused(seconds)
        return seconds


@dataclass(frozen=True)
class EvaluateStep(Step):
    """Evaluate the networks of a training step on the test graphs."""

    train: TrainStep

    @property
    def name(self) -> str:
        return self.train.name.replace("train", "evaluate", 1)

    @property
    def inputs(self) -> tuple[Step, ...]:
        return (self.train,)

    def is_finished(self, folder: Path) -> bool:
        path = self.train.path(folder)
        evaluation = path / EVALUATION
        return is_finished(path) and evaluation.exists() and not is_damaged(evaluation)

    def estimate(self, folder: Path, estimates: Estimates) -> float | None:
        return estimates.evaluation(cached_splits(self.train.data).train.arguments)

    def run(self, folder: Path, device: str | None = None, monitor: Monitor = NO_MONITOR) -> dict:
        import jax

        from algotransfer.devices import find_device

        def report(done: int, total: int) -> None:
            monitor.report(done, f"{done:,} of {total:,} graphs")
            if done < total and monitor.should_pause():
                raise StepPaused({"evaluation": time.monotonic() - began})

        path, began = self.train.path(folder), time.monotonic()
        monitor.report(0, "compiling")
        with locked(path), jax.default_device(find_device(device)):
            if is_damaged(path / EVALUATION):
                set_aside(path / EVALUATION, f"{path / EVALUATION} is damaged")
            remove_leftovers(path)
            frame = evaluate(load_model(path), cached_splits(self.train.data).test, report)
            seconds = time.monotonic() - began
            ProvenanceRecord(path, "evaluation").save(evaluation=seconds)
            save_evaluation(path, frame)
        return {"evaluation": seconds}


def step_graph(steps: Iterable[Step]) -> dict[Step, tuple[Step, ...]]:
    """Return the steps and all their dependencies, mapped to their inputs, inputs first."""
    inputs: dict[Step, tuple[Step, ...]] = {}

    def visit(step: Step) -> None:
        if step not in inputs:
            for needed in step.inputs:
                visit(needed)
            inputs[step] = step.inputs

    for step in steps:
        visit(step)
    return inputs
