"""Checksums of the files of a folder in `SHA256SUMS`, for files without a hash of their own.

The format is that of `sha256sum --check SHA256SUMS`. The first line is a comment with the hash of
the other lines; if it is wrong, `SHA256SUMS` itself is damaged and is ignored.
"""

import hashlib
from pathlib import Path

from algotransfer.files import DamagedFile, write_atomically

CHECKSUMS_FILE = "SHA256SUMS"


def write_checksum(path: Path) -> None:
    """Add or update the checksum of a file."""
    sums = {**_read(path.parent), path.name: _sha256(path)}
    lines = "".join(f"{sums[name]}  {name}\n" for name in sorted(sums)).encode()
    write_atomically(path.parent / CHECKSUMS_FILE, _comment(lines) + lines)


def verify_checksum(path: Path) -> None:
    """Raise `DamagedFile` if a file differs from its checksum; pass files without one."""
    expected = _read(path.parent).get(path.name)
    if expected is not None and expected != _sha256(path):
        raise DamagedFile(f"{path} is damaged: it does not match its line in {CHECKSUMS_FILE}")


def has_valid_checksum(path: Path) -> bool:
    """Return whether a file has a checksum and matches it."""
    return _read(path.parent).get(path.name) == _sha256(path)


def is_damaged(path: Path) -> bool:
    """Return whether a file exists and differs from its checksum."""
    try:
        verify_checksum(path)
    except FileNotFoundError:
        return False
    except DamagedFile:
        return True
    return False


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _read(folder: Path) -> dict[str, str]:
    """Return the checksums by file name; none if `SHA256SUMS` is damaged."""
    path = folder / CHECKSUMS_FILE
    if not path.exists():
        return {}
    comment, lines = path.read_bytes().partition(b"\n")[::2]
    if comment + b"\n" != _comment(lines):
        return {}
    pairs = [line.partition("  ") for line in lines.decode(errors="replace").splitlines()]
    return {name: sha256 for sha256, _, name in pairs}


def _comment(lines: bytes) -> bytes:
    return f"# {hashlib.sha256(lines).hexdigest()}\n".encode()
