"""Mistakes on the command line as one sentence, with the nearest option of the command."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, get_origin, get_type_hints

from algotransfer.errors import UserError, shown
from algotransfer.registry import nearest

ALIASES = {"--lr": "--learning-rate", "--epochs": "--max-epochs"}


@contextmanager
def one_sentence(commands: Mapping[str, type], arguments: Sequence[str]) -> Iterator[None]:
    """Raise a `UserError` where tyro would print a box of text or ignore values.

    The hook of tyro is private: releases without it print their own messages.
    """
    if arguments and arguments[0] in commands:
        _check_lists(commands[arguments[0]], arguments)
    try:
        from tyro import _errors as events
    except ImportError:
        yield
        return
    name = arguments[0] if arguments else ""

    def explain(event: Any) -> None:
        if name not in commands:
            given = (
                f"unknown command {shown(name)}{nearest(name, commands)}" if name else "no command"
            )
            raise UserError(f"{given}; choose one of {', '.join(commands)}")
        see = f"`algotransfer {name} --help` lists what it takes"
        match event:
            case events.UnrecognizedArgs(tokens=[token, *_]) if token.startswith("-"):
                option = token.partition("=")[0]
                close = nearest(option, dict(_options(commands[name])))
                raise UserError(f"{name} has no option {shown(option)}{close}; {see}")
            case events.UnrecognizedArgs(tokens=[token, *_]):
                raise UserError(f"unexpected argument {shown(token)} of {name}; {see}")
            case events.MissingArgs(missing_arguments=[missing, *_]):
                field = missing.arg.field
                purpose = field.helptext() if callable(field.helptext) else field.helptext
                purpose = " ".join(str(purpose).split())
                raise UserError(f"{name} needs {field.intern_name.upper()}: {purpose}")
            case events.InvalidChoice(argument=argument, value=value, choices=choices):
                allowed = ", ".join(sorted({*choices} - {"None"}))
                raise UserError(
                    f"{argument.display_name()} {shown(value)}; choose one of {allowed}"
                )
            case (
                events.BadValue(argument=argument) | events.InstantiationFailure(argument=argument)
            ) if argument is not None:
                option, kind = argument.display_name(), argument.lowered.metavar
                given = " ".join(map(shown, _values(option, arguments))) or "without a value"
                raise UserError(f"{option} {given}; expected {kind}")

    with events.on_parse_error(explain):
        yield


def _check_lists(command: type, arguments: Sequence[str]) -> None:
    """Raise a `UserError` if an option of several values is repeated or has none."""
    for option, kind in _options(command):
        given = [argument for argument in arguments if argument.partition("=")[0] == option]
        if not given or get_origin(kind) is not tuple:
            continue
        if len(given) > 1:
            raise UserError(f"{option} is given {len(given)} times; give it once, with all values")
        if not any(_values(option, arguments)):
            raise UserError(f"{option} without a value; give one or more, or leave it out")


def _values(option: str, arguments: Sequence[str]) -> Iterator[str]:
    """Yield the values that follow an option, or that are joined to it by `=`."""
    for place, argument in enumerate(arguments):
        if argument.startswith(f"{option}="):
            yield argument.partition("=")[2]
        elif argument == option:
            yield from itertools.takewhile(lambda a: not a.startswith("--"), arguments[place + 1 :])


def _options(command: type) -> Iterator[tuple[str, Any]]:
    """Yield the option and the type of every field, those of nested dataclasses included."""
    from tyro.conf import Positional

    types, annotated = get_type_hints(command), get_type_hints(command, include_extras=True)
    for field in dataclasses.fields(command):
        if isinstance(kind := types[field.name], type) and dataclasses.is_dataclass(kind):
            yield from _options(kind)
        elif Positional not in getattr(annotated[field.name], "__metadata__", ()):
            yield "--" + field.name.replace("_", "-"), kind
