"""Base class of the executors that run steps in threads, in processes or on a Ray cluster."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from algotransfer.devices import default_platform
from algotransfer.errors import UserError
from algotransfer.reproduce.steps import Monitor, Step

DEFAULT_JOBS = {"cpu": 1, "gpu": 3}  # on a GPU one step trains while others compile or evaluate


class StepExecutor(ABC):
    """Runs up to `jobs` steps at a time; use it as a context manager.

    A submitted step occupies one thread of a `ThreadPoolExecutor`, which runs the step or waits
    for the process or Ray task that does. The result of a step does not depend on the executor.
    """

    def __init__(self, device: str | None = None, jobs: int | None = None):
        self.device = device
        self.platform = device or default_platform()
        self.jobs = DEFAULT_JOBS.get(self.platform, 1) if jobs is None else jobs
        if self.jobs < 1:
            raise UserError(f"{jobs} jobs; expected at least 1")
        self._threads = ThreadPoolExecutor(self.jobs, thread_name_prefix="step")

    @abstractmethod
    def run_step(self, step: Step, folder: Path, monitor: Monitor) -> Mapping[str, float]:
        """Run a step and wait for it. Returns the seconds spent, by activity."""

    def submit(self, step: Step, folder: Path, monitor: Monitor) -> Future[Mapping[str, float]]:
        """Start a step; its future holds the result or the exception of `run_step`."""
        return self._threads.submit(self.run_step, step, folder, monitor)

    def close(self) -> None:
        """Wait for all submitted steps and release the resources."""
        self._threads.shutdown()

    def __enter__(self) -> "StepExecutor":
        return self

    def __exit__(self, *error) -> None:
        self.close()
