"""Consoles: results on the standard output, progress and errors on the standard error."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

# Names of nodes and files may look like markup; print them unchanged.
plain_console = partial(Console, highlight=False, markup=False, emoji=False)
output = plain_console()
errors = plain_console(stderr=True)


def progress_bar() -> Progress:
    """Return a progress bar on the standard error that disappears; hidden without a terminal."""
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    return Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal)


def wrote(path: str | Path) -> None:
    """Print which file or folder has been written, on one line for scripts."""
    output.print(Text.assemble(("wrote ", "green"), str(path)), soft_wrap=True)


def next_step(command: str) -> None:
    """Print what to run next."""
    output.print(Text.assemble(("next  ", "cyan"), command), soft_wrap=True)
