"""Atomic file writes, and handling of damaged files."""

import errno
import json
import os
import secrets
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path
from types import FrameType
from typing import Any, BinaryIO

from algotransfer.errors import UserError

PACKAGES = ("algotransfer", "beartype", "jaxtyping")  # whose lines a `Notice` does not point at


class DamagedFile(UserError):
    """A file does not hold what was written to it."""


class ForeignFile(UserError):
    """A file is intact but belongs to another run."""


class Notice(UserWarning):
    """A warning for users, in one sentence; the command line prints it without a source line."""


def notify(message: str) -> None:
    """Warn with a `Notice` that points at the line outside this package that led to it.

    The number of frames differs between calls: type checks of public functions add some.
    """
    frame, level = sys._getframe(1), 2
    while frame is not None and _package(frame) in PACKAGES:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, Notice, stacklevel=level - (frame is None))


def _package(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]


def write_atomically(path: str | os.PathLike[str], content: bytes | memoryview) -> None:
    """Write a file so that `path` holds either the new content or the old, never a part."""
    with open_atomically(path) as file:
        file.write(content)


@contextmanager
def open_atomically(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a new file that replaces `path` when the block ends without an error.

    The file is written under a temporary name in the same folder, flushed to disk, then renamed.
    On an error the temporary file is removed and `path` stays as it was.
    """
    target = Path(os.path.realpath(path))  # replace the target of a link, not the link
    if target.is_dir():
        reason = os.strerror(errno.EISDIR)
        raise IsADirectoryError(errno.EISDIR, f"cannot write {path} ({reason}); give a file name")
    if target.exists() and not target.is_file():  # such as a device, which a rename would replace
        raise OSError(errno.EINVAL, f"cannot write {path}: it is not a regular file; name another")
    temporary = target.with_name(f".{target.name[:50]}.{secrets.token_hex(8)}.tmp")
    try:
        with open(temporary, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException as error:
        with suppress(OSError):  # it may not exist; the first error matters
            temporary.unlink()
        if isinstance(error, OSError):
            reason = error.strerror or error
            # `OSError` selects the subclass of the error number, such as `PermissionError`.
            raise OSError(
                error.errno, f"cannot write {path} ({reason}); nothing was changed there"
            ) from error
        raise
    # Flush the rename too, on file systems that support it.
    with suppress(OSError):
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def read_json(path: Path, *keys: str) -> dict[str, Any]:
    """Read a JSON object that has some keys; raise a `UserError` for any other file."""
    try:
        content = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path} is not JSON ({error}); make or fetch it again") from None
    if not isinstance(content, dict):
        raise UserError(f"{path} is not a JSON object; make or fetch it again")
    missing = [key for key in keys if key not in content]
    if missing:
        raise UserError(f"{path} has no key {missing[0]!r}; make or fetch it again")
    return content


def set_aside(path: Path, reason: object, then: str = "it is made again") -> Path:
    """Rename a damaged file and warn with the reason and what happens `then`.

    **Returns:** the new path, `NAME.damaged`, or `NAME.damaged-2` and so on if that exists.
    """
    target, number = path.with_name(f"{path.name}.damaged"), 1
    while target.exists():
        number += 1
        target = path.with_name(f"{path.name}.damaged-{number}")
    path.rename(target)
    notify(f"{reason}; set aside as {target.name}, {then}")
    return target


def remove_leftovers(folder: Path) -> None:
    """Remove temporary files of killed writers; call it where nothing else is writing."""
    for path in folder.glob(".*.tmp"):
        path.unlink(missing_ok=True)


def append_whole(file: FileIO, content: bytes) -> None:
    """Append the whole content to an unbuffered file or, if the disk is full, nothing."""
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
