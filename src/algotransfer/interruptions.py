"""Delay Ctrl-C and SIGTERM until work is saved."""

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def held_interruptions(words: str) -> Iterator[Callable[[], bool]]:
    """Delay SIGINT and SIGTERM until the end of the block; a second signal acts at once.

    Signals without a Python handler are not changed, nor are any outside the main thread. The
    first signal prints `words`. Yields a function that returns whether a signal has arrived.
    """
    received: list[int] = []
    before = {}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def record(number: int, frame: FrameType | None) -> None:
        received.append(number)
        restore()
        print(f"{words}; once more stops at once", file=sys.stderr, flush=True)

    if threading.current_thread() is threading.main_thread():
        found = {number: signal.getsignal(number) for number in SIGNALS}
        before = {number: handler for number, handler in found.items() if callable(handler)}
        for number in before:
            signal.signal(number, record)
    try:
        yield lambda: bool(received)
    finally:
        restore()
    if received:
        before[signal.Signals(received[0])](received[0], None)
