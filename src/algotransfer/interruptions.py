"""Ctrl-C and requests to end wait until work can be put down, so that it is not lost."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def held_interruptions(words: str) -> Iterator[Callable[[], bool]]:
    """Meanwhile an interruption only leaves a note; at the end it does what it does elsewhere.

    A second one does so at once. Signals that would not raise an exception, or that another thread
    looks after, are left alone.

    **Arguments:**

    - `words`: what will happen, for who interrupted.

    **Returns:** whether there is a note.
    """
    noted: list[int] = []
    before = {}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def note(number: int, frame: FrameType | None) -> None:
        noted.append(number)
        restore()
        print(f"{words}; once more stops at once", file=sys.stderr, flush=True)

    if threading.current_thread() is threading.main_thread():
        found = {number: signal.getsignal(number) for number in SIGNALS}
        before = {number: handler for number, handler in found.items() if callable(handler)}
        for number in before:
            signal.signal(number, note)
    try:
        yield lambda: bool(noted)
    finally:
        restore()
    if noted:
        before[signal.Signals(noted[0])](noted[0], None)
