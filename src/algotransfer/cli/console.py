"""Where commands write: results to the standard output, progress and errors beside it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.segment import Segment
from rich.text import Text

# Control characters as visible ones (␛ for escape); those that turn text around as �.
VISIBLE = {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n"}
VISIBLE |= {0x7F: 0x2421}
VISIBLE |= dict.fromkeys([*range(0x80, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)], "�")


class _Console(Console):
    """A console on which names from files cannot act as commands to the terminal."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterator[Segment]:
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                yield segment._replace(text=segment.text.translate(VISIBLE))


# Names of nodes and files are shown as they are, whatever they would mean to rich.
plain_console = partial(_Console, highlight=False, markup=False, emoji=False)
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
