"""Ctrl-C and SIGTERM: raise an exception, or delay it until work is saved."""

import _thread
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)
IMPORT = "<frozen importlib._bootstrap>"  # the file of frames that import a module
GC_CALLBACK = "_xla_gc_callback"  # of jax; Python discards exceptions of such callbacks
AGAIN_SECONDS = 0.01  # until a signal in garbage collection is sent again


class Terminated(KeyboardInterrupt):
    """SIGTERM, for instance from a batch system."""


@contextmanager
def raised_interruptions(leave_import: Callable[[int], object] | None) -> Iterator[None]:
    """Raise `KeyboardInterrupt` on SIGINT, and `Terminated` on SIGTERM.

    Handlers can be set only in the main thread, and those of the caller stay. While a module is
    imported, `leave_import` is called with the signal instead: an exception there would print a
    traceback or crash some extension modules. With None, it is raised there too.
    """

    def handle(number: int, frame: FrameType | None) -> None:
        inside = {(each.f_code.co_filename, each.f_code.co_name) for each in _stack(frame)}
        if leave_import is not None and any(file == IMPORT for file, _ in inside):
            leave_import(number)
        elif any(name == GC_CALLBACK for _, name in inside):
            # Not by `threading`, whose locks the interrupted code may hold.
            _thread.start_new_thread(_send_again, (number,))
        else:
            raise Terminated if number == signal.SIGTERM else KeyboardInterrupt

    before = {}
    if threading.current_thread() is threading.main_thread():
        defaults = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
        found = {number: signal.getsignal(number) for number in SIGNALS}
        before = {number: found[number] for number in SIGNALS if found[number] is defaults[number]}
    for number in before:
        signal.signal(number, handle)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _send_again(number: int) -> None:
    """Send a signal to the main thread, shortly after."""
    time.sleep(AGAIN_SECONDS)
    signal.pthread_kill(threading.main_thread().ident or 0, number)


def _stack(frame: FrameType | None) -> Iterator[FrameType]:
    """Yield a frame and its callers."""
    while frame is not None:
        yield frame
        frame = frame.f_back


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
