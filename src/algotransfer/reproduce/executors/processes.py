"""Steps in processes of this machine, which share a GPU better than the threads of one.

Programs of one process take turns on a GPU, and those of small networks leave most of it idle.
Under CUDA's multi-process service the kernels of several processes run at the same time.
"""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import subprocess
import tempfile
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from algotransfer.reproduce.steps import Step, Watch

LOOK_SECONDS = 0.25  # between two looks at whether a step should pause
TOLD, DONE, FAILED, PAUSE = "told", "done", "failed", "pause"  # what is said on a line
CONTROL = "nvidia-cuda-mps-control"
SERVICE = ("CUDA_MPS_PIPE_DIRECTORY", "CUDA_MPS_LOG_DIRECTORY")
CONTROL_SECONDS = 20.0


class ProcessExecutor:
    """Runs every step in a process; give its `run` to `run_steps`.

    A process is kept for further steps, since starting one takes seconds.
    """

    def __init__(self):
        # Each would otherwise ask for most of a GPU's memory.
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
        self.idle: list[tuple[Any, Connection]] = []

    def __enter__(self) -> ProcessExecutor:
        return self

    def __exit__(self, *error) -> None:
        for process, line in self.idle:
            line.close()
            process.join()

    def run(
        self, step: Step, folder: Path, device: str | None, watch: Watch
    ) -> Mapping[str, float]:
        """Runs a step in a process and waits for it; what takes no device runs here."""
        if not step.uses_device:
            return step.run(folder, device, watch)
        try:
            process, line = self.idle.pop()
        except IndexError:  # asking first would leave time for another thread to take the last
            process, line = _start()
        content: Any = (0, "starting a process")
        kind, pausing = TOLD, False
        try:
            line.send((step, folder, device))
            while kind == TOLD:
                watch.tell(*content)
                while not line.poll(LOOK_SECONDS):
                    if watch.pause() and not pausing:
                        line.send(PAUSE)
                        pausing = True
                kind, content = line.recv()
        except (EOFError, OSError):
            process.join()
            raise OSError(
                f"the process that ran it died (exit status {process.exitcode}); "
                "the same command goes on"
            ) from None
        self.idle.append((process, line))
        if kind == FAILED:
            raise content
        return content


def _start() -> tuple[Any, Connection]:
    here, there = multiprocessing.Pipe()
    # A fresh interpreter: a fork would share a device that has been opened.
    process = multiprocessing.get_context("spawn").Process(target=work, args=(there,), daemon=True)
    process.start()
    there.close()
    return process, here


def work(line: Connection) -> None:
    """In a process: does what it is told step by step, until the line is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for who started it, who says pause
    asked = False

    def pause() -> bool:
        nonlocal asked
        if line.poll():
            asked = True  # in words, or since nobody is there any more
            with suppress(EOFError):
                line.recv()
        return asked

    while True:
        try:
            order = line.recv()
        except EOFError:
            return
        if order == PAUSE:  # the step had ended by then
            continue
        step, folder, device = order
        watch = Watch(pause, lambda done, words: line.send((TOLD, (done, words))))
        try:
            answer = DONE, step.run(folder, device, watch)
        except Exception as error:  # noqa: BLE001 - the runner tells mistakes of users from ours
            error.add_note(traceback.format_exc())
            answer = FAILED, error
        try:
            line.send(answer)
        except OSError:  # nobody is there any more
            return


@contextmanager
def kernels_at_once() -> Iterator[None]:
    """CUDA's multi-process service for processes that are started meanwhile, if it is installed.

    One that its user has started already is used as it is.
    """
    control = shutil.which(CONTROL)
    if control is None or SERVICE[0] in os.environ:
        yield
        return
    with tempfile.TemporaryDirectory() as folder:
        ours: dict[str, str] = dict.fromkeys(SERVICE, folder)
        if not _succeeds([control, "-d"], ours):  # processes take turns then
            yield
            return
        os.environ.update(ours)
        try:
            yield
        finally:
            for name in SERVICE:
                del os.environ[name]
            _succeeds([control], ours, b"quit\n")


def _succeeds(command: list[str], more: dict[str, str], said: bytes = b"") -> bool:
    """Whether a command ends well; what it prints is dropped, since a daemon may hold a pipe."""
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with suppress(OSError, subprocess.TimeoutExpired):
        done = subprocess.run(
            command, input=said, env={**os.environ, **more}, timeout=CONTROL_SECONDS, **quiet
        )
        return done.returncode == 0
    return False
