"""One view over all steps: how far the whole is, how long it will take, what is in flight."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn

from algotransfer.reproduce.estimates import Estimates
from algotransfer.reproduce.runner import Result
from algotransfer.reproduce.steps import Step

QUIET_SECONDS = 30.0  # between two lines where no bar can be drawn


class Overview:
    """A bar for the whole and a line for each step in flight; plain lines where there is no screen.

    The whole is measured in estimated seconds. Time left is what they turned out to be worth so
    far, so that a faster device, or several steps at once, correct it by themselves.
    """

    def __init__(self, steps: Iterable[Step], folder: Path, estimates: Estimates, console: Console):
        self.costs = {
            step: 0.0 if step.found(folder) else step.estimate(folder, estimates) for step in steps
        }
        self.console, self.began = console, time.monotonic()
        self.ended, self.flying = 0.0, {}
        self.left, self.spoke = len(self.costs), self.began
        self.lock = threading.Lock()
        self.progress = Progress(
            TextColumn("{task.description}", style="bold", markup=False),
            BarColumn(bar_width=16),
            TextColumn("{task.fields[words]}", markup=False),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self.whole = self.progress.add_task("everything", total=sum(self.costs.values()), words="")
        self.tasks: dict[Step, TaskID] = {}

    def __enter__(self) -> Overview:
        self.progress.start()
        return self

    def __exit__(self, *error) -> None:
        self.progress.stop()

    def start(self, step: Step) -> None:
        """A step begins."""
        with self.lock:
            self.flying[step] = time.monotonic(), ""
            self.tasks[step] = self.progress.add_task(step.name, total=None, words="")

    def tell(self, step: Step, done: int, words: str) -> None:
        """It has come so far."""
        with self.lock:
            began, _ = self.flying[step]
            self.flying[step] = began, words
            self.progress.update(self.tasks[step], words=words)
            self._show()

    def finish(self, result: Result) -> None:
        """It has ended, or was there before; a line stays."""
        with self.lock:
            self.left -= 1
            self.ended += self.costs[result.step]
            if result.step in self.flying:
                began, _ = self.flying.pop(result.step)
                self.progress.remove_task(self.tasks.pop(result.step))
                words = [f"{result.state:7}", result.step.name]
                words += [duration(time.monotonic() - began), result.reason]
                self._say("  ".join(words).rstrip())
            self._show()

    def _show(self) -> None:
        now = time.monotonic()
        worked = self.ended + sum(
            min(now - began, self.costs[step]) for step, (began, _) in self.flying.items()
        )
        total = sum(self.costs.values())
        words = f"{self.left} steps left, {duration(now - self.began)} gone"
        if worked > 0 and total > worked:
            left = (total - worked) * (now - self.began) / worked
            words += f", about {duration(left)} left"
        self.progress.update(self.whole, completed=worked, words=words)
        if not self.console.is_terminal and now - self.spoke > QUIET_SECONDS:
            self.spoke = now
            lines = [f"  {step.name}: {told}" for step, (_, told) in self.flying.items()]
            self._say("\n".join([words, *lines]))

    def _say(self, text: str) -> None:
        self.console.print(text, soft_wrap=True)


def duration(seconds: float) -> str:
    """A time as people say it: 45 s, 12 min, 3.5 h."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 2 * 3600 else f"{seconds / 3600:.1f} h"
