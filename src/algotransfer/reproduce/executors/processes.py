"""Executor that runs steps in processes of this machine.

Programs of one process take turns on a GPU, and small networks leave most of it idle. Kernels of
several processes run at the same time under CUDA's multi-process service.
"""

import multiprocessing
import os
import shutil
import signal
import subprocess
import tempfile
import traceback
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any

from algotransfer.reproduce.executors.step_executor import StepExecutor
from algotransfer.reproduce.steps import Monitor, Step

POLL_SECONDS = 0.25
CONTROL_PROGRAM = "nvidia-cuda-mps-control"
MPS_VARIABLES = ("CUDA_MPS_PIPE_DIRECTORY", "CUDA_MPS_LOG_DIRECTORY")
CONTROL_SECONDS = 20.0
# Kinds of messages from a process, and the one message to it while a step runs.
PROGRESS, DONE, FAILED, PAUSE = "progress", "done", "failed", "pause"


class ProcessExecutor(StepExecutor):
    """Runs every step in a spawned process; idle processes are reused for further steps.

    A `ProcessPoolExecutor` would fail all pending steps when one process dies, and its processes
    would outlive a killed parent. Here a dead process fails only its own step, and a step whose
    parent has died pauses.
    """

    def __init__(self, device: str | None = None, jobs: int | None = None):
        # By default each process would reserve most of a GPU's memory.
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
        super().__init__(device, jobs)
        self._idle: list[tuple[SpawnProcess, Connection]] = []
        self._service = ExitStack()

    def __enter__(self) -> "ProcessExecutor":
        if self.platform == "gpu":
            self._service.enter_context(cuda_mps())
        return self

    def close(self) -> None:
        """Wait for all submitted steps, then end the processes and the multi-process service."""
        with self._service:
            super().close()
            for process, connection in self._idle:
                connection.close()
                process.join()

    def run_step(self, step: Step, folder: Path, monitor: Monitor) -> Mapping[str, float]:
        """Run the step in an idle or new process, and wait for it."""
        try:
            process, connection = self._idle.pop()
        except IndexError:  # testing for emptiness first would race with other threads
            process, connection = _start_process()
        content: Any = (0, "starting a process")
        kind, pausing = PROGRESS, False
        try:
            connection.send((step, folder, self.device))
            while kind == PROGRESS:
                monitor.report(*content)
                while not connection.poll(POLL_SECONDS):
                    if monitor.should_pause() and not pausing:
                        connection.send(PAUSE)
                        pausing = True
                kind, content = connection.recv()
        except (EOFError, OSError):
            process.join()
            raise OSError(
                f"the process of the step died (exit status {process.exitcode}); "
                "run the same command again to resume"
            ) from None
        self._idle.append((process, connection))
        if kind == FAILED:
            raise content
        return content


def _start_process() -> tuple[SpawnProcess, Connection]:
    parent_end, child_end = multiprocessing.Pipe()
    # A forked process would share devices that are already open.
    context = multiprocessing.get_context("spawn")
    process = context.Process(target=serve_steps, args=(child_end,), daemon=True)
    process.start()
    child_end.close()
    return process, parent_end


def serve_steps(connection: Connection) -> None:
    """Run the steps that arrive on a connection until it is closed; target of the processes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C and sends PAUSE
    while True:
        try:
            request = connection.recv()
        except EOFError:
            return
        if request == PAUSE:  # sent just before the step ended
            continue
        try:
            connection.send(_run_request(connection, *request))
        except OSError:  # the parent has died
            return


def _run_request(
    connection: Connection, step: Step, folder: Path, device: str | None
) -> tuple[str, Any]:
    """Run one step. Returns the last message to send about it."""
    pausing = False

    def should_pause() -> bool:
        nonlocal pausing
        if connection.poll():
            pausing = True  # PAUSE arrived, or the parent has died and closed the connection
            with suppress(EOFError):
                connection.recv()
        return pausing

    def report(done: int, message: str) -> None:
        connection.send((PROGRESS, (done, message)))

    try:
        return DONE, step.run(folder, device, Monitor(should_pause, report))
    except Exception as error:  # noqa: BLE001 - raised again in the parent
        error.add_note(traceback.format_exc())
        return FAILED, error


@contextmanager
def cuda_mps() -> Iterator[None]:
    """Run the service, if it is installed, for processes started inside the `with` block.

    A service that the user has started is used as it is. Where the service does not start,
    processes take turns on the GPU.
    """
    control = shutil.which(CONTROL_PROGRAM)
    if control is None or MPS_VARIABLES[0] in os.environ:
        yield
        return
    with tempfile.TemporaryDirectory() as folder:
        variables: dict[str, str] = dict.fromkeys(MPS_VARIABLES, folder)
        if not _run_control([control, "-d"], variables):
            yield
            return
        os.environ.update(variables)
        try:
            yield
        finally:
            for name in MPS_VARIABLES:
                del os.environ[name]
            _run_control([control], variables, b"quit\n")


def _run_control(command: list[str], variables: dict[str, str], commands: bytes = b"") -> bool:
    """Return whether the control program succeeds."""
    with suppress(OSError, subprocess.TimeoutExpired):
        done = subprocess.run(
            command,
            input=commands,
            env={**os.environ, **variables},
            timeout=CONTROL_SECONDS,
            stdout=subprocess.DEVNULL,  # a pipe would stay open as long as the daemon runs
            stderr=subprocess.DEVNULL,
        )
        return done.returncode == 0
    return False
