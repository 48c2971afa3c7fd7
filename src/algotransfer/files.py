"""Files appear whole or not at all: a reader never sees half of one, whenever a writer dies."""

from __future__ import annotations

import errno
import json
import os
import secrets
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path
from typing import Any, BinaryIO


class DamagedFile(ValueError):
    """A file does not hold what was written to it."""


class ForeignFile(ValueError):
    """A file is whole, but belongs to another run."""


class Notice(UserWarning):
    """What people should know, in one sentence."""


class SetAside(Notice):
    """A damaged file was moved out of the way, and is made again."""


def write_atomically(path: str | os.PathLike[str], content: bytes | memoryview) -> None:
    """Writes a file so that `path` holds either the whole new content or what it held before."""
    with open_atomically(path) as file:
        file.write(content)


@contextmanager
def open_atomically(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Opens a new file that takes its place at `path` when the block ends without an error.

    It is written beside its place under a temporary name, flushed to the disk, then renamed. If
    anything fails, the temporary file is removed and `path` is as it was before.
    """
    target = Path(os.path.realpath(path))  # what a link points at is replaced, not the link
    if target.is_dir():
        reason = os.strerror(errno.EISDIR)
        raise IsADirectoryError(errno.EISDIR, f"cannot write {path} ({reason}); name a file in it")
    temporary = target.with_name(f".{target.name[:50]}.{secrets.token_hex(8)}.tmp")
    try:
        with open(temporary, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException as error:
        with suppress(OSError):  # it may never have existed; the first error is the one to tell
            temporary.unlink()
        if isinstance(error, OSError):
            reason = error.strerror or error
            # OSError turns into the class that the number stands for, such as PermissionError.
            raise OSError(
                error.errno, f"cannot write {path} ({reason}); nothing was changed there"
            ) from error
        raise
    # Makes the rename itself survive a loss of power, on file systems that can do so.
    with suppress(OSError):
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def read_json(path: Path, *keys: str) -> dict[str, Any]:
    """Reads a JSON object that must have some keys; says which file is at fault otherwise."""
    try:
        content = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not JSON ({error}); make or fetch it again") from None
    if not isinstance(content, dict):
        raise ValueError(f"{path} is not the file that was expected: it is no JSON object")
    missing = [key for key in keys if key not in content]
    if missing:
        raise ValueError(f"{path} is not the file that was expected: it has no {missing[0]!r}")
    return content


def set_aside(path: Path, reason: object, then: str = "it is made again") -> Path:
    """Moves a damaged file out of the way, for whoever wants to look at it, and says so.

    **Arguments:**

    - `reason`: what is wrong with it.
    - `then`: what becomes of it.

    **Returns:** its new name, `NAME.damaged` or, where that is taken, `NAME.damaged-2` and so on.
    """
    place, number = path.with_name(f"{path.name}.damaged"), 1
    while place.exists():
        number += 1
        place = path.with_name(f"{path.name}.damaged-{number}")
    path.rename(place)
    text = f"{reason}; set aside as {place.name}, {then}"
    warnings.warn(text, SetAside, stacklevel=2)
    return place


def remove_leftovers(folder: Path) -> None:
    """Removes what writers that were killed have left half-done; call it where no other writes."""
    for path in folder.glob(".*.tmp"):
        path.unlink(missing_ok=True)


def append_whole(file: FileIO, content: bytes) -> None:
    """Appends to an unbuffered file all of the content or, if the disk is full, nothing.

    **Arguments:**

    - `file`: opened with `buffering=0`, so that nothing waits to be written later.
    """
    before, rest = file.seek(0, os.SEEK_END), memoryview(content)
    try:
        while rest:
            rest = rest[file.write(rest) :]
    except OSError as error:
        with suppress(OSError):
            file.truncate(before)
        raise OSError(
            error.errno, f"cannot write {file.name} ({error.strerror}); nothing was changed there"
        ) from error
