"""CUDA's multi-process service (MPS), which lets kernels of several processes run concurrently."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress

CONTROL_PROGRAM = "nvidia-cuda-mps-control"
MPS_VARIABLES = ("CUDA_MPS_PIPE_DIRECTORY", "CUDA_MPS_LOG_DIRECTORY")
CONTROL_SECONDS = 20.0


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
