"""Simulated disk failures: the k-th write below a folder fails.

A kill is exact as far as files can tell: bytes stop in the middle of a write, and from then on
nothing that the dying program still does reaches the disk.
"""

from __future__ import annotations

import builtins
import errno
import io
import os
from contextlib import contextmanager, suppress


class Killed(BaseException):
    """Stands for the end of the process."""


def kill():
    raise Killed


def interrupt():
    raise KeyboardInterrupt


def fail(number):
    def now():
        raise OSError(number, os.strerror(number))

    return now


# What happens, and whether it lasts: a full disk stays full, an interruption is over at once.
TROUBLES = {
    "killed": (kill, True),
    "interrupted": (interrupt, False),
    "disk full": (fail(errno.ENOSPC), True),
    "disk broken": (fail(errno.EIO), True),
    "read-only": (fail(errno.EROFS), True),
    "quota, once": (fail(errno.EDQUOT), False),
}
CALLS = ("fsync", "replace", "rename", "unlink", "mkdir", "open")


class Disk:
    """Counts what reaches the disk below a folder; at number `moment` the trouble begins."""

    def __init__(self, folder, trouble=None, moment=0):
        self.folder, self.moment, self.count, self.struck = str(folder), moment, 0, False
        self.act, self.lasts = TROUBLES[trouble] if trouble else (None, False)

    def strike(self, half=lambda: None):
        """Called before each operation; `half` does a part of it."""
        self.count += 1
        if self.act is None or self.count < self.moment or (self.struck and not self.lasts):
            return
        if not self.struck:
            self.struck = True
            half()
        self.act()

    def ours(self, *arguments):
        with suppress(TypeError):
            return any(os.fspath(a).startswith(self.folder) for a in arguments[:2])
        return False


@contextmanager
def failing(disk: Disk):
    """Meanwhile all that Python writes goes through the disk."""
    originals = {name: getattr(os, name) for name in CALLS}
    open_file = io.open

    class Raw(io.FileIO):
        def write(self, content):
            content, write = memoryview(content).cast("B"), super().write
            disk.strike(lambda: write(content[: len(content) // 2]))
            return write(content)

        def truncate(self, size=None):
            disk.strike()
            return super().truncate(size)

    def opened(path, mode="r", buffering=-1, *more, **options):
        if "b" not in mode or "r" in mode or not disk.ours(path):
            return open_file(path, mode, buffering, *more, **options)
        disk.strike()
        raw = Raw(path, mode.replace("b", ""))
        return raw if buffering == 0 else io.BufferedWriter(raw)

    def recorded(name):
        def call(*arguments, **options):
            reading = name == "open" and not arguments[1] & (os.O_WRONLY | os.O_RDWR)
            if not reading and (name == "fsync" or disk.ours(*arguments)):
                disk.strike()
            return originals[name](*arguments, **options)

        return call

    try:
        builtins.open = io.open = opened
        for name in CALLS:
            setattr(os, name, recorded(name))
        yield disk
    finally:
        builtins.open = io.open = open_file
        for name, original in originals.items():
            setattr(os, name, original)
