"""Where commands write: results to the standard output, progress and errors beside it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

# Names of nodes and files are shown as they are, whatever they would mean to rich.
plain_console = partial(Console, highlight=False, markup=False, emoji=False)
output = plain_console()
errors = plain_console(stderr=True)


def progress_bar() -> Progress:
    """A bar on the standard error, for people only, that leaves no trace when it is done."""
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    return Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal)


def wrote(path: str | Path) -> None:
    """Says which file or folder has been written, on a line that a script can cut."""
    output.print(Text.assemble(("wrote ", "green"), str(path)), soft_wrap=True)


def next_step(command: str) -> None:
    """Says what to run next."""
    output.print(Text.assemble(("next  ", "cyan"), command), soft_wrap=True)
