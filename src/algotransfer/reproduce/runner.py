"""Runs a graph of steps: several at once, until a deadline, past failures."""

from __future__ import annotations

import math
import time
import traceback
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable

from algotransfer.errors import UserError
from algotransfer.interruptions import held_interruptions
from algotransfer.locks import InUse, tidy
from algotransfer.reproduce.estimates import Estimates
from algotransfer.reproduce.steps import Paused, Step, Watch, graph

Executor = Callable[[Step, Path, str | None, Watch], Mapping[str, float]]
State = Literal["found", "done", "paused", "waiting", "failed", "blocked"]
DONE = ("found", "done")
JOBS = {"cpu": 1, "gpu": 3}


@dataclass(frozen=True)
class Result:
    """What became of a step.

    **Arguments:**

    - `state`: `found` (it was there), `done`, `paused`, `waiting` (no time left for it, or another
        process works on it), `failed`, or `blocked` (something that it needs failed).
    - `seconds`: what the time went into.
    """

    step: Step
    state: State
    seconds: Mapping[str, float] = field(default_factory=dict)
    reason: str = ""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C, or a request to end (the cause), after all steps in flight have paused.

    **Arguments:**

    - `results`: those that `run_steps` would have returned.
    """

    def __init__(self, results: list[Result]):
        super().__init__()
        self.results = results


@runtime_checkable
class View(Protocol):
    """Sees what happens; calls come from several threads."""

    def start(self, step: Step) -> None:
        """A step begins."""
        ...

    def tell(self, step: Step, done: int, words: str) -> None:
        """It has come so far."""
        ...

    def finish(self, result: Result) -> None:
        """It has ended, or was there before."""
        ...


class Unseen:
    """A view that shows nothing."""

    def start(self, step: Step) -> None:
        """Nothing."""

    def tell(self, step: Step, done: int, words: str) -> None:
        """Nothing."""

    def finish(self, result: Result) -> None:
        """Nothing."""


def run_steps(
    steps: Iterable[Step],
    folder: str | Path = "runs",
    *,
    jobs: int | None = None,
    device: str | None = None,
    seconds: float | None = None,
    view: View | None = None,
    estimates: Estimates | None = None,
    executor: Executor = lambda step, *arguments: step.run(*arguments),
) -> list[Result]:
    """Runs steps and all that they need; what is there is found, not repeated.

    **Arguments:**

    - `jobs`: steps in flight, in threads: XLA lets go of Python while it compiles and computes, so
        that the device trains one experiment while another is compiled or evaluated. Each step
        is the same computation whatever runs beside it. By default one on a CPU, three on a GPU.
    - `seconds`: after this time nothing is begun, trainings pause at the end of an epoch, and an
        evaluation that has not ended is left for the next time.
    - `estimates`: of time, by which steps that would come to nothing before the end are not begun.
    - `executor`: runs a step and waits for it, here by default; `on_ray.Cluster` does so elsewhere.

    **Returns:** a result for every step of `graph(steps)`, in that order. An interruption pauses
    steps as the end of the time does, and then raises `Interrupted` with their results.
    """
    inputs, folder = graph(steps), Path(folder)
    tidy(folder)
    jobs = default_jobs(device) if jobs is None else jobs
    if jobs < 1:
        raise UserError(f"{jobs} jobs; expected at least 1")
    view = view or Unseen()
    end = math.inf if seconds is None else time.monotonic() + seconds

    def fits(step: Step) -> bool:
        if seconds is None or estimates is None:
            return True
        # A slice that is too short for an estimate must still get somewhere.
        return end - time.monotonic() > min(step.least(estimates), seconds / 2)

    results: list[Result] = []
    try:
        with held_interruptions("pausing all steps") as interrupted:

            def out_of_time() -> bool:
                return interrupted() or time.monotonic() > end

            def run(step: Step, pause: Callable[[], bool]) -> Mapping[str, float]:
                watch = Watch(pause, lambda done, words: view.tell(step, done, words))
                return executor(step, folder, device, watch)

            results = _run_all(inputs, folder, jobs, view, run, fits, out_of_time)
    except KeyboardInterrupt as error:
        if not results:  # a second one, which did not wait
            raise
        raise Interrupted(results) from error
    return results


def _run_all(
    inputs: Mapping[Step, tuple[Step, ...]],
    folder: Path,
    jobs: int,
    view: View,
    run: Callable[[Step, Callable[[], bool]], Mapping[str, float]],
    fits: Callable[[Step], bool],
    out_of_time: Callable[[], bool],
) -> list[Result]:
    """Begins steps as what they need gets ready and time is left, and waits for all of them."""
    results: dict[Step, Result] = {}
    order = {step: place for place, step in enumerate(inputs)}
    sorter = TopologicalSorter(inputs)
    sorter.prepare()
    ready: list[Step] = []
    running: dict[Future, Step] = {}
    given_up = False

    def pause() -> bool:
        return given_up or out_of_time()

    def finish(result: Result) -> None:
        results[result.step] = result
        if result.state in DONE:
            sorter.done(result.step)
        view.finish(result)

    with ThreadPoolExecutor(jobs, thread_name_prefix="step") as pool:
        try:
            while True:
                while new := sorter.get_ready():
                    for step in new:
                        if step.found(folder):
                            finish(Result(step, "found"))
                        else:
                            ready.append(step)
                for step in sorted(ready, key=order.__getitem__):  # as they stand in the list
                    if len(running) < jobs and not pause() and fits(step):
                        ready.remove(step)
                        view.start(step)
                        running[pool.submit(run, step, pause)] = step
                if not running:
                    break
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    finish(_result(running.pop(future), future))
        except BaseException:
            given_up = True  # or the pool would wait until all steps have ended by themselves
            raise
    for step in reversed(list(inputs)):  # what was not looked at for lack of time may be there
        users = [user for user, needed in inputs.items() if step in needed]
        served = users and all(user in results and results[user].state in DONE for user in users)
        if step not in results and (served or step.found(folder)):
            results[step] = Result(step, "found")
    for step in inputs:  # inputs come first, so that a failure reaches all that need it
        if step not in results:
            lost = [i for i in step.inputs if results[i].state in ("failed", "blocked")]
            reason = f"needs {lost[0].name}" if lost else ""
            results[step] = Result(step, "blocked" if lost else "waiting", reason=reason)
    return [results[step] for step in inputs]


def _result(step: Step, future: Future) -> Result:
    error = future.exception()
    if error is None:
        return Result(step, "done", future.result())
    if isinstance(error, Paused):
        return Result(step, "paused", error.seconds)
    if isinstance(error, InUse):  # another command is on it; what needs it waits too
        return Result(step, "waiting", reason=str(error))
    if not isinstance(error, ValueError | OSError | FloatingPointError):
        traceback.print_exception(error)  # nobody's mistake but ours
    return Result(step, "failed", reason=f"{type(error).__name__}: {error}")


def default_jobs(device: str | None = None) -> int:
    """Steps in flight on a device: one trains while others compile or evaluate."""
    return JOBS.get(platform(device), 1)


def platform(device: str | None = None) -> str:
    """The kind of device that steps run on: `cpu` or `gpu`."""
    import jax

    return device or jax.default_backend()
