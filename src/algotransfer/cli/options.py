"""Shared options: readable choices and defaults, graphs of the user, writable output paths."""

import dataclasses
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from tyro.conf import arg

from algotransfer.datasets.presets import PRESETS
from algotransfer.errors import UserError

if TYPE_CHECKING:
    from algotransfer.graphs import NamedGraph


def choice(names: Iterable[str], default: str | None = None) -> Any:
    """Show the choices of an option; the command checks them, with the nearest name in errors."""
    return arg(metavar="{" + ",".join(names) + "}", help_behavior_hint=_default(default))


def optional(metavar: str, default: str = "none") -> Any:
    """Show an option that may be left out, without `{None}`."""
    return arg(metavar=metavar, help_behavior_hint=_default(default))


def _default(text: str | None) -> str | None:
    return None if text is None else f"(default: {text})"


def given_options(command: Any, names: Iterable[str]) -> list[str]:
    """Return those of some fields of a command that differ from their defaults, as options."""
    defaults = {field.name: field.default for field in dataclasses.fields(command)}
    return [
        "--" + name.strip("_").replace("_", "-")
        for name in names
        if getattr(command, name) != defaults[name]
    ]


Json = Annotated[
    bool, arg(help="Print the results as one JSON document on the standard output, nothing else.")
]
Device = Annotated[Literal["cpu", "gpu"] | None, optional("{cpu,gpu}", "a GPU if there is one")]


def read_user_graph(path: Path, source: str | None) -> "NamedGraph":
    """Read a graph; `source` is the name or the index of a node, as text (see `read_graph`)."""
    from algotransfer.graphs import read_graph, to_named_graph
    from algotransfer.graphs.named import INTEGER

    read = read_graph(path)
    if source is None:
        return read
    is_name = source in read.names or not INTEGER.fullmatch(source)  # names come before indices
    try:
        return to_named_graph(read, source if is_name else int(source))
    except UserError as error:
        raise UserError(f"--source in {path}: {error}") from None


def check_data(path: Path) -> None:
    """Raise a `UserError` if --data names a preset instead of a file."""
    if str(path) in PRESETS:
        raise UserError(f"--data {path}: this is a preset, not a data file; use --preset {path}")


def check_input(path: Path | None) -> None:
    """Raise a `UserError` unless there is a file at `path`; None is fine."""
    if path is not None and path.is_dir():
        raise UserError(f"{path} is a folder; name a file")
    if path is not None and not path.exists():
        raise UserError(f"there is no file {path}; check the path")


def check_writable(path: Path) -> None:
    """Raise a `UserError` unless a file, or a folder of files, can be written at `path`."""
    folder = path if path.is_dir() else path.parent  # files are written beside it, then renamed
    if not folder.exists():
        raise UserError(f"cannot write {path}: there is no folder {folder}; create it first")
    if not folder.is_dir():
        raise UserError(f"cannot write {path}: {folder} is a file, not a folder")
    if not os.access(folder, os.W_OK):
        raise UserError(f"cannot write {path}: no permission; choose another path")


def check_file(path: Path | None, suffixes: Sequence[str], inputs: Iterable[Path] = ()) -> None:
    """Raise a `UserError` unless one file can be written at `path`; None is fine.

    The name ends in one of the suffixes, and the file is not one of `inputs`.
    """
    if path is None:
        return
    if not path.name.endswith(tuple(suffixes)) or path.name in suffixes:
        expected = " or ".join(suffixes)
        raise UserError(f"cannot write {path}: expected a name that ends in {expected}")
    if os.path.realpath(path) in map(os.path.realpath, inputs):
        raise UserError(f"cannot write {path}: this command reads it; name another file")
    if path.is_dir():
        raise UserError(f"cannot write {path}: it is a folder; name a file in it")
    if path.exists() and not path.is_file():
        raise UserError(f"cannot write {path}: it is not a regular file; name another")
    check_writable(path)


def check_folder(path: Path) -> None:
    """Raise a `UserError` if a file is where a folder would be."""
    for each in (path, *path.parents):
        if each.exists() and not each.is_dir():
            raise UserError(f"cannot write to {path}: {each} is a file; name a folder")
