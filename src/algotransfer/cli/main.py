"""`main`: finds the command, runs it, and turns a user's mistake into one sentence.

A command is a dataclass whose fields are its options (their docstrings are the help) and whose
`run` does the work. Its module imports jax only inside `run`, so that `--help` is immediate.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from algotransfer import __version__
from algotransfer.cli.bench import Bench
from algotransfer.cli.data import Data
from algotransfer.cli.evaluate import Evaluate
from algotransfer.cli.execute import Execute
from algotransfer.cli.explore import Explore
from algotransfer.cli.list_names import ListNames
from algotransfer.cli.report import Report
from algotransfer.cli.reproduce import Reproduce
from algotransfer.cli.train import Train
from algotransfer.compilation import keep_compiled_programs, remove_unreadable
from algotransfer.files import Notice


class Command(Protocol):
    """What a command is able to do."""

    def run(self) -> None:
        """Does the work; raises ValueError, OSError or FloatingPointError on a user's mistake."""


COMMANDS: dict[str, type[Command]] = {
    "list": ListNames,
    "data": Data,
    "train": Train,
    "evaluate": Evaluate,
    "execute": Execute,
    "reproduce": Reproduce,
    "report": Report,
    "explore": Explore,
    "bench": Bench,
}

DESCRIPTION = """Learn graph algorithms from inputs and outputs, with the steps of others as guide.

Every command has its own --help; --version says which release this is."""

TRACEBACK = "ALGOTRANSFER_TRACEBACK"  # set to 1 to see where an error comes from
INTERRUPTED, TERMINATED, MISTAKE = 130, 143, 2
OUT_OF_MEMORY = "RESOURCE_EXHAUSTED"  # what XLA says
DAMAGED_PROGRAM = "a compiled program in the cache was damaged; it is removed and compiled again"
KEPT = "what was finished is kept, and the same command goes on from there"


class Terminated(KeyboardInterrupt):
    """Somebody, such as a batch system, asks the process to end."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command.

    **Arguments:**

    - `arguments`: the words after `algotransfer`; those of this process if not given.

    **Returns:** the exit status: 0, or 2 after a user's mistake, or 130 after an interruption, or
    143 after a request to end.
    """
    arguments = sys.argv[1:] if arguments is None else arguments
    if [*arguments] == ["--version"]:
        print(f"algotransfer {__version__}")
        return 0
    from tyro.extras import subcommand_cli_from_dict

    command = subcommand_cli_from_dict(
        COMMANDS, prog="algotransfer", description=DESCRIPTION, args=arguments
    )
    keep_compiled_programs()
    try:
        with _sentences():
            command.run()
    except Terminated:
        _say(f"asked to end; {KEPT}")
        return TERMINATED
    except KeyboardInterrupt:
        _say(f"interrupted; {KEPT}")
        return INTERRUPTED
    except (ValueError, OSError, FloatingPointError, MemoryError, RuntimeError) as error:
        bug = isinstance(error, RuntimeError) and OUT_OF_MEMORY not in str(error)
        if bug or os.environ.get(TRACEBACK) == "1":
            raise
        _say(f"error: {_sentence(error)}")
        return MISTAKE
    return 0


@contextmanager
def _sentences() -> Iterator[None]:
    """Meanwhile a request to end is an exception, and a warning of ours one sentence, said once."""
    said: set[str] = set()

    def end(number, frame):
        raise Terminated

    def show(message, category, *place, **more):
        if remove_unreadable(str(message)):
            message, category = f"{DAMAGED_PROGRAM} ({message!s:.200})", Notice
        if not issubclass(category, Notice):
            before(message, category, *place, **more)
        elif str(message) not in said:
            said.add(str(message))
            _say(f"note: {message}")

    # Only the main thread may ask for signals; who has asked already keeps them.
    ours = threading.current_thread() is threading.main_thread() and (
        signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    )
    if ours:
        signal.signal(signal.SIGTERM, end)
    try:
        with warnings.catch_warnings():
            before, warnings.showwarning = warnings.showwarning, show
            warnings.simplefilter("always", Notice)
            yield
    finally:
        if ours:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _sentence(error: Exception) -> str:
    """What an error says, without the number that the operating system gives it."""
    if isinstance(error, MemoryError | RuntimeError):
        return f"out of memory ({error}); take fewer or smaller graphs, or fewer seeds at once"
    if not isinstance(error, OSError) or not error.strerror:
        return str(error)
    return f"{error.filename}: {error.strerror}" if error.filename else error.strerror


def _say(text: str) -> None:
    from algotransfer.cli.console import errors

    errors.print(text, style="bold red", soft_wrap=True)
