"""The steps that lead to the paper's tables, as plain data.

A step is a frozen dataclass that names its inputs. `run` depends on the step and on a folder alone,
and leaves its result there: any executor may run steps, in threads, in processes or on other
machines that see the folder, as long as inputs come first. `graph` is what `graphlib` sorts.
"""

from __future__ import annotations

import functools
import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from algotransfer.checksums import is_damaged
from algotransfer.datasets import Preset, Splits, make_splits
from algotransfer.evaluation import beside_paper
from algotransfer.evaluation.evaluate import EVALUATION, evaluate, read_evaluation, save_evaluation
from algotransfer.experiment import Experiment
from algotransfer.files import remove_leftovers, set_aside, write_atomically
from algotransfer.locks import locked
from algotransfer.reproduce.estimates import Estimates
from algotransfer.training import load_model, train
from algotransfer.training.provenance import ProvenanceRecord, read_provenance
from algotransfer.training.runs import configuration, is_finished, run_folder

TABLES = "tables"  # the folder of tables, beside the runs


class Paused(Exception):
    """A step was asked to stop; what it has done is kept, and running it again goes on.

    **Arguments:**

    - `seconds`: that were spent, by what they went into.
    """

    def __init__(self, seconds: Mapping[str, float] | None = None):
        super().__init__(seconds)
        self.seconds = seconds or {}


@dataclass(frozen=True)
class Watch:
    """How a step talks to whoever runs it.

    **Arguments:**

    - `pause`: asked now and then; when it says so, the step raises `Paused` as soon as it can.
    - `tell`: is told how many epochs or graphs are done, and the same in words.
    """

    pause: Callable[[], bool] = lambda: False
    tell: Callable[[int, str], None] = lambda done, words: None


UNWATCHED = Watch()


@dataclass(frozen=True)
class Step(ABC):
    """One piece of work, with the pieces that must be done before.

    `uses_device` tells whether it computes much: then it may run on another machine.
    """

    uses_device: ClassVar[bool] = True

    @property
    @abstractmethod
    def name(self) -> str:
        """What it is called in lists."""

    @property
    @abstractmethod
    def inputs(self) -> tuple[Step, ...]:
        """Steps whose results it needs."""

    @abstractmethod
    def found(self, folder: Path) -> bool:
        """Whether its result is there already."""

    @abstractmethod
    def estimate(self, folder: Path, estimates: Estimates) -> float:
        """Seconds that it will take, what is done already not counted."""

    def least(self, estimates: Estimates) -> float:
        """Seconds without which it is not worth beginning: nothing comes before a compilation."""
        return estimates.compiling() if self.uses_device else 0.0

    @abstractmethod
    def run(self, folder: Path, device: str | None = None, watch: Watch = UNWATCHED) -> dict:
        """Does the work, or goes on with it.

        **Returns:** the seconds that were spent, by what they went into.
        """


@functools.lru_cache(maxsize=4)  # one set of graphs and traces for all steps of a process
def splits_of(data: str | Preset) -> Splits:
    """The datasets of a preset; the same ones whenever they are asked for."""
    return make_splits(data)


@dataclass(frozen=True)
class DataStep(Step):
    """Samples the graphs; they are a function of their name, so that nothing is written."""

    uses_device: ClassVar[bool] = False
    data: str | Preset

    @property
    def name(self) -> str:
        """What it is called in lists."""
        return f"data {self.data}" if isinstance(self.data, str) else "data"

    @property
    def inputs(self) -> tuple[Step, ...]:
        return ()

    def found(self, folder: Path) -> bool:
        return False

    def estimate(self, folder: Path, estimates: Estimates) -> float:
        return 1.0

    def run(self, folder: Path, device: str | None = None, watch: Watch = UNWATCHED) -> dict:
        began = time.monotonic()
        splits_of(self.data)
        return {"data": time.monotonic() - began}


@dataclass(frozen=True)
class TrainStep(Step):
    """Trains all seeds of an experiment, from its base model if it has one."""

    experiment: Experiment
    seeds: tuple[int, ...]
    data: DataStep

    @property
    def name(self) -> str:
        """What it is called in lists."""
        return f"train {self.experiment.name}"

    @property
    def base(self) -> TrainStep | None:
        """The training whose processor this one starts from."""
        before = self.experiment.pretraining()
        return None if before is None else TrainStep(before, self.seeds, self.data)

    @property
    def inputs(self) -> tuple[Step, ...]:
        return (self.data,) if self.base is None else (self.data, self.base)

    def path(self, folder: Path) -> Path:
        """The folder of the run."""
        config = configuration(self.experiment, self.seeds, splits_of(self.data.data))
        return run_folder(folder, self.experiment, config)

    def found(self, folder: Path) -> bool:
        return is_finished(self.path(folder))

    def estimate(self, folder: Path, estimates: Estimates) -> float:
        done = [
            entry["epochs"][1] for entry in read_provenance(self.path(folder)) if "epochs" in entry
        ]
        data = splits_of(self.data.data).train.arguments
        return estimates.training(self.experiment, data, max(done, default=0))

    def run(self, folder: Path, device: str | None = None, watch: Watch = UNWATCHED) -> dict:
        if self.found(folder):
            return {}

        def tell(rows, graphs_per_second):
            epoch = rows[0]["epoch"]
            losses = [row["validation_loss"] for row in rows if row["validation_loss"] is not None]
            best = min(losses, default=math.nan)
            watch.tell(
                epoch,
                f"epoch {epoch}, {len(rows)}/{len(self.seeds)} seeds, validation {best:.4f}, "
                f"{graphs_per_second:,.0f} graphs/s",
            )

        watch.tell(0, "compiling")
        path, model = train(
            self.experiment,
            self.seeds,
            data=splits_of(self.data.data),
            folder=folder,
            device=device,
            show=False,
            pause=watch.pause,
            watchers=(tell,),
        )
        seconds = read_provenance(path)[-1]["seconds"]
        if model is None:
            raise Paused(seconds)
        return seconds


@dataclass(frozen=True)
class EvaluateStep(Step):
    """Measures the networks of a training on the test graphs."""

    train: TrainStep

    @property
    def name(self) -> str:
        """What it is called in lists."""
        return f"evaluate {self.train.experiment.name}"

    @property
    def inputs(self) -> tuple[Step, ...]:
        return (self.train,)

    def found(self, folder: Path) -> bool:
        path = self.train.path(folder)
        evaluation = path / EVALUATION
        return is_finished(path) and evaluation.exists() and not is_damaged(evaluation)

    def estimate(self, folder: Path, estimates: Estimates) -> float:
        return estimates.evaluating(splits_of(self.train.data.data))

    def run(self, folder: Path, device: str | None = None, watch: Watch = UNWATCHED) -> dict:
        import jax

        from algotransfer.devices import find_device

        def progress(done: int, total: int) -> None:
            watch.tell(done, f"{done:,} of {total:,} graphs")
            if done < total and watch.pause():
                raise Paused({"evaluation": time.monotonic() - began})

        path, began = self.train.path(folder), time.monotonic()
        watch.tell(0, "compiling")
        with locked(path), jax.default_device(find_device(device)):
            if is_damaged(path / EVALUATION):
                set_aside(path / EVALUATION, f"{path / EVALUATION} is damaged")
            remove_leftovers(path)
            frame = evaluate(load_model(path), splits_of(self.train.data.data).test, progress)
            seconds = time.monotonic() - began
            ProvenanceRecord(path, "evaluation").save(evaluation=seconds)
            save_evaluation(path, frame)
        return {"evaluation": seconds}


@dataclass(frozen=True)
class TableStep(Step):
    """Puts our numbers beside those of one of the paper's tables, as CSV."""

    uses_device: ClassVar[bool] = False
    table: str
    evaluations: tuple[EvaluateStep, ...] = field(repr=False)

    @property
    def name(self) -> str:
        """What it is called in lists."""
        return f"table {self.table}"

    @property
    def inputs(self) -> tuple[Step, ...]:
        return self.evaluations

    def found(self, folder: Path) -> bool:
        return False  # it takes no time, and its inputs may be new

    def estimate(self, folder: Path, estimates: Estimates) -> float:
        return 0.2

    def run(self, folder: Path, device: str | None = None, watch: Watch = UNWATCHED) -> dict:
        import pandas

        from algotransfer.evaluation.summary import paper_key

        began, parts = time.monotonic(), []
        for step in self.evaluations:
            experiment = step.train.experiment
            lines = beside_paper(read_evaluation(step.train.path(folder)), experiment)
            lines = lines[lines["table"] == self.table]
            parts.append(lines.assign(**paper_key(experiment)))
        (folder / TABLES).mkdir(parents=True, exist_ok=True)
        text = pandas.concat(parts).to_csv(index=False)
        write_atomically(folder / TABLES / f"{self.table}.csv", text.encode())
        return {"tables": time.monotonic() - began}


def graph(steps: Iterable[Step]) -> dict[Step, tuple[Step, ...]]:
    """Steps and all that they need, each with its inputs, in an order in which they could run."""
    found: dict[Step, tuple[Step, ...]] = {}

    def visit(step: Step) -> None:
        if step not in found:
            for before in step.inputs:
                visit(before)
            found[step] = step.inputs

    for step in steps:
        visit(step)
    return found
