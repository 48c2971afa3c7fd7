"""`main`: parse the command, run it, and print a user's mistake as one sentence.

A command is a dataclass whose fields are its options (their docstrings are the help) and whose
`run` does the work. Its module imports jax only inside `run`, so that `--help` is immediate.
"""

import os
import signal
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn, Protocol

from algotransfer import __version__
from algotransfer.cli.parser_errors import ALIASES, one_sentence
from algotransfer.compilation_cache import keep_compiled_programs, remove_unreadable
from algotransfer.errors import UserError
from algotransfer.files import Notice
from algotransfer.interruptions import Terminated, raised_interruptions
from algotransfer.plugins import load_plugins
from algotransfer.registry import REGISTER_FIRST, NotRegistered, Registry


class Command(Protocol):
    """Interface of a command."""

    def run(self) -> None:
        """Run the command; raise `UserError` or `OSError` on a mistake of the user."""


# Imported after plugins, whose names the help of the options shows.
COMMANDS: Registry[type[Command]] = Registry(
    "command",
    {
        "list": "algotransfer.cli.list_command:ListCommand",
        "data": "algotransfer.cli.data:DataCommand",
        "train": "algotransfer.cli.train:TrainCommand",
        "sweep": "algotransfer.cli.sweep:SweepCommand",
        "evaluate": "algotransfer.cli.evaluate:EvaluateCommand",
        "compare": "algotransfer.cli.compare:CompareCommand",
        "execute": "algotransfer.cli.execute:ExecuteCommand",
        "reproduce": "algotransfer.cli.reproduce:ReproduceCommand",
        "report": "algotransfer.cli.report:ReportCommand",
        "explore": "algotransfer.cli.explore:ExploreCommand",
        "discover": "algotransfer.cli.discover:DiscoverCommand",
        "certify": "algotransfer.cli.certify:CertifyCommand",
        "bench": "algotransfer.cli.bench:BenchCommand",
    },
)

DESCRIPTION = """Learn graph algorithms from inputs and outputs, with the steps of others as guide.

`algotransfer COMMAND --help` shows the options of a command; `--version` shows the release."""

MAX_MESSAGE = 2_000  # characters of an error, which may quote a long argument
MAX_PATH = 300  # characters of a path in an error
MISTAKE = 2
DAMAGED_PROGRAM = "a compiled program in the cache was damaged; it is removed and compiled again"
END_OF_BAR = "\r\x1b[2K\x1b[?25h"  # clears the line and shows the cursor
RESUMABLE = ("train", "sweep", "reproduce")  # commands that keep unfinished work


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, by default that of this process.

    **Returns:** the exit status: 0, or 2 after a mistake of the user, 130 after Ctrl-C, 143 after
    SIGTERM. Without arguments, Ctrl-C and SIGTERM end the process.
    """
    is_process = arguments is None
    script = _user_script() if is_process else None
    arguments = sys.argv[1:] if arguments is None else arguments

    def leave(number: int) -> NoReturn:
        # Not by the console, whose modules may be half imported.
        if sys.stderr.isatty():
            print(END_OF_BAR, end="", file=sys.stderr)
        print(_interrupted(number, arguments), file=sys.stderr, flush=True)
        _exit_now(128 + number)

    try:
        with raised_interruptions(leave if is_process else None):
            return _run(arguments, script)
    except KeyboardInterrupt as error:
        number = signal.SIGTERM if isinstance(error, Terminated) else signal.SIGINT
        _print_error(_interrupted(number, arguments))
        return _exit_now(128 + number) if is_process else 128 + number


def _run(arguments: Sequence[str], script: Path | None) -> int:
    """Run one command; `script` is the user's file that calls `main`, or None."""
    if [*arguments] == ["--version"]:
        print(f"algotransfer {__version__}")
        return 0
    from tyro.extras import subcommand_cli_from_dict

    arguments = [ALIASES.get(argument, argument) for argument in arguments]
    try:
        with _notices():
            load_plugins()
        with one_sentence(COMMANDS, arguments):
            command = subcommand_cli_from_dict(
                dict(COMMANDS), prog="algotransfer", description=DESCRIPTION, args=arguments
            )
        keep_compiled_programs()
        from algotransfer.cli import console

        if script is not None:
            console.program = f"python {script}"
        with _notices(), console.quiet_output(getattr(command, "json", False)):
            command.run()
    except UserError as error:
        own = isinstance(error, NotRegistered) and script is None
        _print_error(f"error: {error}" + f"; {REGISTER_FIRST}" * own)
        return MISTAKE
    except OSError as error:
        _print_error(f"error: {_without_number(error)}")
        return MISTAKE
    return 0


def _interrupted(number: int, arguments: Sequence[str]) -> str:
    """Return the sentence for a user whose command was ended by a signal."""
    said = "terminated" if number == signal.SIGTERM else "interrupted"
    if arguments[:1] and arguments[0] in RESUMABLE:
        return f"{said}; finished work is kept; run the same command again to continue"
    return f"{said}; run the same command again"


def _exit_now(status: int) -> NoReturn:
    """End the process without the interpreter's clean-up.

    A thread of JAX that still compiles would crash there. Files are written atomically.
    """
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):  # the reader of a pipe may have ended
            stream.flush()
    os._exit(status)


def _user_script() -> Path | None:
    """Return the user's file that this process runs, or None for the command of the package."""
    script = Path(sys.argv[0])
    return script if script.suffix == ".py" and script.name != "__main__.py" else None


@contextmanager
def _notices() -> Iterator[None]:
    """Print each `Notice` of the package once, as a sentence."""
    printed: set[str] = set()

    def show(message, category, *place, **more):
        if remove_unreadable(str(message)):
            message, category = f"{DAMAGED_PROGRAM} ({message!s:.80})", Notice
        if not issubclass(category, Notice):
            show_before(message, category, *place, **more)
        elif str(message) not in printed:
            printed.add(str(message))
            _print_error(f"note: {message}")

    with warnings.catch_warnings():
        show_before, warnings.showwarning = warnings.showwarning, show
        warnings.simplefilter("always", Notice)
        yield


def _without_number(error: OSError) -> str:
    """Return the message of an operating-system error without its number."""
    if not error.strerror:
        return str(error)
    name = str(error.filename or "")
    name = name if len(name) <= MAX_PATH else f"{name[:MAX_PATH]}…"
    return f"{name}: {error.strerror}" if name else error.strerror


def _print_error(text: str) -> None:
    from algotransfer.cli.console import errors

    text = text if len(text) <= MAX_MESSAGE else f"{text[:MAX_MESSAGE]}…"
    errors.print(text, style="bold red", soft_wrap=True)
