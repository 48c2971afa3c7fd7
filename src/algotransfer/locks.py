"""Folder locks: one writer at a time.

The operating system releases a lock when its process ends, also after a kill.
"""

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
# Errors of file systems without locks, which are used without protection.
UNSUPPORTED = {errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS}


class InUse(UserError):
    """Another process works in a folder."""


@contextmanager
def locked(folder: str | os.PathLike[str]) -> Iterator[None]:
    """Lock a folder against other processes and threads; raise `InUse` if it is locked."""
    path = Path(folder, LOCK)
    descriptor = _acquire(path)
    try:
        os.ftruncate(descriptor, 0)
        with suppress(OSError):  # on a full disk, the lock has no owner's name
            os.write(descriptor, f"process {os.getpid()} on {socket.gethostname()}".encode())
        yield
    finally:
        try:
            with suppress(OSError):
                path.unlink()
        finally:
            os.close(descriptor)


def tidy(root: Path) -> None:
    """Remove temporary files of killed processes from the unlocked run folders below `root`."""
    for folder in {path.parent for path in root.glob("*/*/.*")}:
        with suppress(InUse, OSError), locked(folder):
            remove_leftovers(folder)


def _acquire(path: Path) -> int:
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The last holder may have removed the file between the two calls; then this lock is
            # on a file that other processes cannot see.
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
