"""Progress bar and tracking services of a training."""

import importlib
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from algotransfer.errors import UserError
from algotransfer.experiment import Experiment

TRACKERS = ("trackio", "wandb")  # both have init, log and finish
QUIET_SECONDS = 30.0  # between two lines, where no bar can be drawn


# Called after every epoch with a row per running seed, and the graphs per second.
Reporter = Callable[[list[dict[str, Any]], float], None]


@contextmanager
def bar(experiment: Experiment, num_seeds: int) -> Iterator[Reporter]:
    """Show a progress bar on a terminal, or a line every 30 s elsewhere (standard error)."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from algotransfer.training.shortened_column import ShortenedColumn

    console = Console(stderr=True)
    spoke = time.monotonic()

    with Progress(
        ShortenedColumn(style="bold"),
        BarColumn(bar_width=16),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}", markup=False),
        ShortenedColumn("{task.fields[status]}"),
        console=console,
        disable=not console.is_terminal,
    ) as progress:
        name, most = experiment.name, experiment.max_epochs
        task = progress.add_task(name, total=most, left="", status="compiling …")

        def report(rows, graphs_per_second):
            nonlocal spoke
            epoch = rows[0]["epoch"]
            train = _mean(rows, "train_loss")
            validation = _mean(rows, "validation_loss")
            left = f"{(most - epoch) * rows[0]['seconds'] / 60:.0f} min at most"
            status = (
                f"epoch {epoch}  train {train:.3g}  validation {validation:.3g}  "
                f"{len(rows)}/{num_seeds} seeds  {graphs_per_second:,.0f} graphs/s"
            )
            progress.update(task, completed=epoch, left=left, status=status)
            if not console.is_terminal and time.monotonic() - spoke > QUIET_SECONDS:
                console.print(f"{name}: {status}  {left}", highlight=False, soft_wrap=True)
                spoke = time.monotonic()

        yield report


def import_tracker(service: str) -> ModuleType:
    """Import trackio or wandb."""
    if service not in TRACKERS:
        raise UserError(f"no tracking service {service!r}; there are {', '.join(TRACKERS)}")
    try:
        return importlib.import_module(service)
    except ImportError as error:
        raise UserError(
            f"tracking with {service} needs the package {service}: pip install {service}"
        ) from error


@contextmanager
def tracker(service: str, experiment: Experiment) -> Iterator[Reporter]:
    """Send every epoch to trackio or wandb."""
    module = import_tracker(service)
    module.init(project="algotransfer", name=experiment.name, config=experiment.to_json())
    try:
        yield lambda rows, graphs_per_second: module.log(
            {f"seed {row['seed']}/{name}": value for row in rows for name, value in row.items()}
        )
    finally:
        module.finish()


def _mean(rows, name) -> float:
    values = [row[name] for row in rows if row[name] is not None]
    return sum(values) / len(values) if values else float("nan")
