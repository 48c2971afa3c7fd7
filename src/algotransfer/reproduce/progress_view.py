"""Progress display of `reproduce`: overall progress, time left and the running steps."""

import threading
import time
from collections.abc import Iterable
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID

from algotransfer.reproduce.estimates import Estimates
from algotransfer.reproduce.runner import StepResult, View
from algotransfer.reproduce.steps import Step
from algotransfer.training.shortened_column import ShortenedColumn

LINE_SECONDS = 30.0  # between two lines where no bar can be drawn


class ProgressView(View):
    """A bar for all steps and a line for each running one; plain lines without a terminal.

    Progress is measured in estimated seconds. A step without an estimate counts as the mean of
    the others; once it has ended, its duration is known. The time left is scaled by the ratio of
    actual to estimated time so far, which accounts for several steps at once.
    """

    def __init__(self, steps: Iterable[Step], folder: Path, estimates: Estimates, console: Console):
        steps = list(steps)
        self.pending = {step for step in steps if not step.is_finished(folder)}
        self.costs = {
            step: step.estimate(folder, estimates) if step in self.pending else 0.0
            for step in steps
        }
        self.console, self.began = console, time.monotonic()
        self.printed = self.began
        self.running: dict[Step, tuple[float, str]] = {}  # start time and last message
        self.lock = threading.Lock()
        self.progress = Progress(
            ShortenedColumn(style="bold"),
            BarColumn(bar_width=16),
            ShortenedColumn("{task.fields[message]}"),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self.all_steps = self.progress.add_task("all steps", total=None, message="")
        self.tasks: dict[Step, TaskID] = {}

    def __enter__(self) -> "ProgressView":
        self.progress.start()
        return self

    def __exit__(self, *error) -> None:
        self.progress.stop()

    def start(self, step: Step) -> None:
        """Add a line for a step."""
        with self.lock:
            self.running[step] = time.monotonic(), ""
            self.tasks[step] = self.progress.add_task(step.name, total=None, message="")

    def report(self, step: Step, done: int, message: str) -> None:
        """Update the line of a step."""
        with self.lock:
            began, _ = self.running[step]
            self.running[step] = began, message
            self.progress.update(self.tasks[step], message=message)
            self._update()

    def finish(self, result: StepResult) -> None:
        """Replace the line of a step by its outcome."""
        with self.lock:
            step = result.step
            self.pending.discard(step)
            if step in self.running:
                began, _ = self.running.pop(step)
                seconds = time.monotonic() - began
                if self.costs[step] is None:
                    self.costs[step] = seconds
                self.progress.remove_task(self.tasks.pop(step))
                words = [f"{result.state:7}", step.name, duration(seconds), result.reason]
                self._print("  ".join(words).rstrip())
            self._update()

    def _update(self) -> None:
        now = time.monotonic()
        message = f"{len(self.pending)} steps left, {duration(now - self.began)} elapsed"
        known = [cost for cost in self.costs.values() if cost]
        if known:
            mean = sum(known) / len(known)
            costs = {step: mean if c is None else c for step, c in self.costs.items()}
            total = sum(costs.values())
            completed = total - sum(costs[step] for step in self.pending)
            completed += sum(min(now - b, costs[step]) for step, (b, _) in self.running.items())
            if 0 < completed < total:
                left = (total - completed) * (now - self.began) / completed
                message = f"about {duration(left)} left, {message}"
            self.progress.update(self.all_steps, completed=completed, total=total)
        self.progress.update(self.all_steps, message=message)
        if not self.console.is_terminal and now - self.printed > LINE_SECONDS:
            self.printed = now
            lines = [f"  {step.name}: {said}" for step, (_, said) in self.running.items()]
            self._print("\n".join([message, *lines]))

    def _print(self, text: str) -> None:
        self.console.print(text, soft_wrap=True)


def duration(seconds: float) -> str:
    """Format a duration: 45 s, 12 min, 3.5 h."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 2 * 3600 else f"{seconds / 3600:.1f} h"
