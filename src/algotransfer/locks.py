"""One writer at a time in a folder: a second one is told who is there, and changes nothing.

The operating system holds the lock and lets go of it however its holder dies, so that nothing has
to be cleaned up after a kill.
"""

from __future__ import annotations

import errno
import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from algotransfer.errors import UserError
from algotransfer.files import remove_leftovers

LOCK = ".lock"
# What file systems without locks say; people who mount such a one look after it themselves.
UNSUPPORTED = {errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS}


class InUse(UserError):
    """Another process works in a folder."""


@contextmanager
def locked(folder: str | os.PathLike[str]) -> Iterator[None]:
    """Keeps other processes, and other threads, from working in a folder at the same time."""
    path = Path(folder, LOCK)
    descriptor = _acquire(path)
    try:
        os.ftruncate(descriptor, 0)
        with suppress(OSError):  # a full disk: the lock holds without its owner's name
            os.write(descriptor, f"process {os.getpid()} on {socket.gethostname()}".encode())
        yield
    finally:
        try:
            with suppress(OSError):
                path.unlink()
        finally:
            os.close(descriptor)


def tidy(root: Path) -> None:
    """Removes what killed processes have left in the run folders below, where nobody works now."""
    for folder in {path.parent for path in root.glob("*/*/.*")}:
        with suppress(InUse, OSError), locked(folder):
            remove_leftovers(folder)


def _acquire(path: Path) -> int:
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Its last holder may have removed the file between our two calls: then it locks nothing
            # that others would see.
            if os.path.samestat(os.fstat(descriptor), os.stat(path)):
                return descriptor
        except FileNotFoundError:
            pass
        except OSError as error:
            if error.errno in UNSUPPORTED:
                return descriptor
            owner = os.read(descriptor, 200).decode(errors="replace") or "another process"
            os.close(descriptor)
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                raise
            raise InUse(
                f"{path.parent} is in use by {owner}; wait until it is done or stop it, "
                "or name another folder"
            ) from None
        os.close(descriptor)
