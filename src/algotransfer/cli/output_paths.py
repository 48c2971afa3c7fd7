"""Places to write to: told at once what would otherwise be found out after the work."""

from __future__ import annotations

import os
from pathlib import Path


def check_writable(path: Path) -> None:
    """Raises an `OSError` unless a file, or a folder of files, can be written there."""
    place = path if path.is_dir() else path.parent  # files take their place by a new name beside it
    if not place.exists():
        raise FileNotFoundError(f"cannot write {path}: there is no folder {place}; make it first")
    if not place.is_dir():
        raise NotADirectoryError(f"cannot write {path}: {place} is a file, not a folder")
    if not os.access(place, os.W_OK):
        raise PermissionError(f"cannot write {path}: no permission; name another place")


def check_file(path: Path | None) -> None:
    """The same for a single file, if one is asked for."""
    if path is None:
        return
    if path.is_dir():
        raise IsADirectoryError(f"cannot write {path}: it is a folder; name a file in it")
    check_writable(path)
