"""Consoles: results on the standard output, progress and errors on the standard error."""

import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.segment import Segment
from rich.text import Text

from algotransfer.training.shortened_column import ShortenedColumn

# Visible replacements of control characters (␛ for escape); of text-direction characters: �.
VISIBLE = {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n"}
VISIBLE |= {0x7F: 0x2421}
VISIBLE |= dict.fromkeys([*range(0x80, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)], "�")

program = "algotransfer"  # `main` sets it to "python mine.py" if that file is the command line


class _SafeConsole(Console):
    """A console that prints control characters in text as visible characters."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterator[Segment]:
        """Render as rich does; control codes of rich itself stay."""
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                yield segment._replace(text=segment.text.translate(VISIBLE))


# Names of nodes and files may look like markup; print them unchanged.
plain_console = partial(_SafeConsole, highlight=False, markup=False, emoji=False)
output = plain_console()
errors = plain_console(stderr=True)


def progress_bar() -> Progress:
    """Return a progress bar on the standard error that disappears; hidden without a terminal."""
    columns = (
        ShortenedColumn(),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal)


def announce(text: str) -> None:
    """Say on the standard error what the command does, before it imports jax and computes."""
    errors.print(Text(f"{text} …", style="dim"), soft_wrap=True)


@contextmanager
def count_graphs(verb: str) -> Iterator[Callable[[int, int], None]]:
    """Yield a function of graphs done and in all that moves a bar; it says when JAX compiles."""
    with progress_bar() as bar:
        task = bar.add_task(f"{verb}: compiling", total=None)

        def move(done: int, total: int) -> None:
            bar.update(task, description=f"{verb} graphs", completed=done, total=total)

        yield move


@contextmanager
def quiet_output(quiet: bool) -> Iterator[None]:
    """Print no text on the standard output, which is left to `print_json`."""
    before, output.quiet = output.quiet, quiet
    try:
        yield
    finally:
        output.quiet = before


def print_json(content: Any) -> None:
    """Print one JSON document on the standard output; null stands for NaN and infinity."""
    sys.stdout.write(json.dumps(_to_json(content), indent=1) + "\n")


def _to_json(value: Any) -> Any:
    """Convert tuples with names, NumPy values, data frames and paths to JSON values."""
    if hasattr(value, "_asdict"):
        value = value._asdict()
    elif hasattr(value, "to_dict"):
        value = value.to_dict("records")
    elif hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(name): _to_json(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_to_json(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return str(value) if isinstance(value, Path) else value


def wrote(path: str | Path) -> None:
    """Print which file or folder has been written, on one line for scripts."""
    output.print(Text.assemble(("wrote ", "green"), str(path)), soft_wrap=True)


def next_step(command: str) -> None:
    """Print what to run next, with the user's script if that is this process' command line."""
    if command.startswith("algotransfer "):
        command = program + command.removeprefix("algotransfer")
    output.print(Text.assemble(("next  ", "cyan"), command), soft_wrap=True)
