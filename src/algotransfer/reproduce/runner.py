"""Schedule a graph of steps over an executor, until a deadline or an interruption."""

import math
import time
import traceback
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import ExitStack
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Literal

from algotransfer.interruptions import held_interruptions
from algotransfer.locks import InUse, tidy
from algotransfer.reproduce.estimates import Estimates
from algotransfer.reproduce.executors import StepExecutor, ThreadExecutor
from algotransfer.reproduce.steps import Monitor, Step, StepPaused, step_graph

StepState = Literal["cached", "done", "paused", "waiting", "failed", "blocked"]
FINISHED = ("cached", "done")


@dataclass(frozen=True)
class StepResult:
    """Outcome of a step: seconds spent by activity, and the reason of a failure or a wait.

    A `cached` step was finished before, a `waiting` one has no time left or another process works
    on it, and a `blocked` one needs a step that failed.
    """

    step: Step
    state: StepState
    seconds: Mapping[str, float] = field(default_factory=dict)
    reason: str = ""


class Interrupted(KeyboardInterrupt):
    """Raised for Ctrl-C or SIGTERM (the cause), after all running steps have paused."""

    def __init__(self, results: list[StepResult]):
        super().__init__()
        self.results = results


class View:
    """Display of running steps; this one shows nothing. `report` is called from several threads."""

    def start(self, step: Step) -> None:
        """Show that a step starts."""

    def report(self, step: Step, done: int, message: str) -> None:
        """Show the progress of a step."""

    def finish(self, result: StepResult) -> None:
        """Show the outcome of a step."""


def run_steps(
    steps: Iterable[Step],
    folder: str | Path = "runs",
    *,
    executor: StepExecutor | None = None,
    seconds: float | None = None,
    view: View | None = None,
    estimates: Estimates | None = None,
) -> list[StepResult]:
    """Run steps and their dependencies, except those that are finished.

    **Arguments:**

    - `executor`: runs the steps; by default a `ThreadExecutor` on the default device.
    - `seconds`: time after which no step starts, trainings pause at the end of an epoch, and
        running evaluations are abandoned until the next call.
    - `estimates`: if given, no step starts that could not even compile before the deadline.

    **Returns:** a result for every step of `step_graph(steps)`, in that order. An interruption
    pauses steps as the deadline does, and then raises `Interrupted` with their results.
    """
    inputs, folder = step_graph(steps), Path(folder)
    tidy(folder)
    deadline = math.inf if seconds is None else time.monotonic() + seconds
    startup = (estimates and estimates.compilation()) or 0.0
    if seconds is not None:
        startup = min(startup, seconds / 2)  # a short call must still be able to make progress
    results: list[StepResult] = []
    try:
        with ExitStack() as stack:
            interrupted = stack.enter_context(
                held_interruptions("pausing all steps after their present epoch or compilation")
            )
            scheduler = _Scheduler(
                inputs,
                folder,
                executor or stack.enter_context(ThreadExecutor()),
                view or View(),
                should_pause=lambda: interrupted() or time.monotonic() > deadline,
                may_start=lambda: deadline - time.monotonic() > startup,
            )
            results = scheduler.run()
    except KeyboardInterrupt as error:
        if not results:  # the second interruption, which does not wait
            raise
        raise Interrupted(results) from error
    return results


class _Scheduler:
    """State of one call of `run_steps`."""

    def __init__(
        self,
        inputs: Mapping[Step, tuple[Step, ...]],
        folder: Path,
        executor: StepExecutor,
        view: View,
        should_pause: Callable[[], bool],
        may_start: Callable[[], bool],
    ):
        self.inputs, self.folder, self.executor, self.view = inputs, folder, executor, view
        self.should_pause, self.may_start = should_pause, may_start
        self.aborted = False
        self.sorter = TopologicalSorter(inputs)
        self.results: dict[Step, StepResult] = {}
        self.running: dict[Future[Mapping[str, float]], Step] = {}

    def run(self) -> list[StepResult]:
        """Run all steps that can start, and wait for them."""
        self.sorter.prepare()
        ready: list[Step] = []
        order = {step: place for place, step in enumerate(self.inputs)}
        try:
            while True:
                ready += self._unfinished()
                ready.sort(key=order.__getitem__)
                while (
                    ready
                    and len(self.running) < self.executor.jobs
                    and not self._pausing()
                    and self.may_start()
                ):
                    self._start(ready.pop(0))
                if not self.running:
                    break
                for future in wait(self.running, return_when=FIRST_COMPLETED).done:
                    self._finish(_result(self.running.pop(future), future))
        except BaseException:
            self.aborted = True
            wait(self.running)
            raise
        self._add_unstarted()
        return [self.results[step] for step in self.inputs]

    def _pausing(self) -> bool:
        return self.aborted or self.should_pause()

    def _start(self, step: Step) -> None:
        def report(done: int, message: str) -> None:
            self.view.report(step, done, message)

        self.view.start(step)
        future = self.executor.submit(step, self.folder, Monitor(self._pausing, report))
        self.running[future] = step

    def _finish(self, result: StepResult) -> None:
        self.results[result.step] = result
        if result.state in FINISHED:
            self.sorter.done(result.step)
        self.view.finish(result)

    def _unfinished(self) -> list[Step]:
        """Return steps whose inputs have become finished, and skip those that are cached."""
        unfinished = []
        while new := self.sorter.get_ready():
            for step in new:
                if step.is_finished(self.folder):
                    self._finish(StepResult(step, "cached"))
                else:
                    unfinished.append(step)
        return unfinished

    def _add_unstarted(self) -> None:
        """Add results of steps that were not started."""
        for step in reversed(list(self.inputs)):
            users = [self.results.get(u) for u, needed in self.inputs.items() if step in needed]
            unneeded = users and all(user and user.state in FINISHED for user in users)
            if step not in self.results and (unneeded or step.is_finished(self.folder)):
                self.results[step] = StepResult(step, "cached")
        for step, needed in self.inputs.items():
            if step not in self.results:
                lost = [n.name for n in needed if self.results[n].state in ("failed", "blocked")]
                self.results[step] = (
                    StepResult(step, "blocked", reason=f"needs {lost[0]}")
                    if lost
                    else StepResult(step, "waiting")
                )


def _result(step: Step, future: Future[Mapping[str, float]]) -> StepResult:
    error = future.exception()
    if error is None:
        return StepResult(step, "done", future.result())
    if isinstance(error, StepPaused):
        return StepResult(step, "paused", error.seconds)
    if isinstance(error, InUse):
        return StepResult(step, "waiting", reason=str(error))
    if not isinstance(error, ValueError | OSError | FloatingPointError):
        traceback.print_exception(error)  # a bug, not a mistake of the user
    return StepResult(step, "failed", reason=f"{type(error).__name__}: {error}")
