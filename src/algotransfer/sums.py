"""`SHA256SUMS`: what the files of a folder should be, for those that carry no hash themselves.

It is the format of `sha256sum`, so that `sha256sum --check SHA256SUMS` tells the same. A comment
in its first line holds the hash of the other lines: if that is wrong, they accuse nobody.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from algotransfer.files import DamagedFile, write_atomically

SUMS = "SHA256SUMS"


def seal(path: Path) -> None:
    """Notes what a file holds now."""
    sums = {**_read(path.parent), path.name: _sha256(path)}
    lines = "".join(f"{sums[name]}  {name}\n" for name in sorted(sums)).encode()
    write_atomically(path.parent / SUMS, _comment(lines) + lines)


def check_seal(path: Path) -> None:
    """Raises `DamagedFile` if a file is not what was noted; one without a note may be anything."""
    noted = _read(path.parent).get(path.name)
    if noted is not None and noted != _sha256(path):
        raise DamagedFile(f"{path} is damaged: it does not match its line in {SUMS}")


def is_sealed(path: Path) -> bool:
    """Whether a file is noted, and holds what was noted."""
    return _read(path.parent).get(path.name) == _sha256(path)


def is_damaged(path: Path) -> bool:
    """Whether a file is there but not what was noted."""
    try:
        check_seal(path)
    except FileNotFoundError:
        return False
    except DamagedFile:
        return True
    return False


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _read(folder: Path) -> dict[str, str]:
    """Noted sums by name; none if they are damaged themselves."""
    path = folder / SUMS
    if not path.exists():
        return {}
    comment, lines = path.read_bytes().partition(b"\n")[::2]
    if comment + b"\n" != _comment(lines):
        return {}
    pairs = [line.partition("  ") for line in lines.decode(errors="replace").splitlines()]
    return {name: sha256 for sha256, _, name in pairs}


def _comment(lines: bytes) -> bytes:
    return f"# {hashlib.sha256(lines).hexdigest()}\n".encode()
