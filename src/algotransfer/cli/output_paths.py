"""Fail early if an output path is not writable."""

import os
from pathlib import Path

from algotransfer.errors import UserError


def check_writable(path: Path) -> None:
    """Raise a `UserError` unless a file, or a folder of files, can be written at `path`."""
    folder = path if path.is_dir() else path.parent  # files are written beside it, then renamed
    if not folder.exists():
        raise UserError(f"cannot write {path}: there is no folder {folder}; create it first")
    if not folder.is_dir():
        raise UserError(f"cannot write {path}: {folder} is a file, not a folder")
    if not os.access(folder, os.W_OK):
        raise UserError(f"cannot write {path}: no permission; choose another path")


def check_file(path: Path | None) -> None:
    """Raise a `UserError` unless one file can be written at `path`; None is fine."""
    if path is None:
        return
    if path.is_dir():
        raise UserError(f"cannot write {path}: it is a folder; name a file in it")
    check_writable(path)
