"""Executor that runs steps as tasks of a Ray cluster whose machines share the results folder."""

import secrets
import socket
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from algotransfer.errors import UserError
from algotransfer.locks import InUse
from algotransfer.reproduce.executors.step_executor import StepExecutor
from algotransfer.reproduce.steps import Monitor, Step

MAX_RETRIES = 5  # of a step whose machine or process died
STEPS_PER_GPU = 3  # one trains while others compile or evaluate
POLL_SECONDS = 0.25
LOCK_WAIT_SECONDS = 60.0  # a machine that Ray counts as dead may hold a lock a while longer


class StepMessages:
    """Ray actor that passes progress from the tasks to the runner, and pause requests back."""

    def __init__(self):
        self.progress: dict[str, tuple[int, str]] = {}
        self.pausing = False

    def report(self, task: str, done: int, message: str) -> None:
        """Set the progress of a task."""
        self.progress[task] = done, message

    def read(self, task: str) -> tuple[int, str] | None:
        """Return the last progress of a task."""
        return self.progress.get(task)

    def pause(self) -> None:
        """Ask all tasks to pause."""
        self.pausing = True

    def should_pause(self) -> bool:
        """Return whether tasks should pause."""
        return self.pausing


class RayExecutor(StepExecutor):
    """Runs every step as a Ray task, on GPUs if the cluster has any.

    **Arguments:**

    - `jobs`: steps in flight; by default as many as the cluster has room for.
    - `address`: of a running cluster, `auto` for the cluster of this machine, or None to start one
        on this machine alone.
    """

    def __init__(
        self, device: str | None = None, jobs: int | None = None, address: str | None = None
    ):
        try:
            import ray
            from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy
        except ImportError as error:
            raise UserError(
                "--executor ray needs Ray, which is not installed here; "
                "install it with: pip install '.[ray]'"
            ) from error
        self.ray: Any = ray
        try:
            if not ray.is_initialized():
                ray.init(address=address, log_to_driver=False, configure_logging=False)
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise UserError(
                f"no Ray cluster at {address} ({error}); start one with `ray start --head`, or "
                "leave --address out to use this machine alone"
            ) from error
        available = ray.cluster_resources()
        device = device or ("gpu" if available.get("GPU") else "cpu")
        gpus = 1 / STEPS_PER_GPU if device == "gpu" else 0
        needed = {"CPU": 1, "GPU": gpus}
        slots = [available.get(name, 0) / count for name, count in needed.items() if count]
        super().__init__(device, max(1, int(min(slots))) if jobs is None else jobs)
        # The actor runs on this machine, because the machines of the tasks may die.
        here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        actor = ray.remote(StepMessages).options(num_cpus=0, scheduling_strategy=here)
        self.messages: Any = actor.remote()
        memory = f"{0.9 / STEPS_PER_GPU:.2f}"
        variables = {"XLA_PYTHON_CLIENT_MEM_FRACTION": memory} if gpus else {}
        self.task = ray.remote(run_task).options(
            num_cpus=1,
            num_gpus=gpus,
            max_retries=MAX_RETRIES,
            runtime_env={"env_vars": variables},
        )

    def run_step(self, step: Step, folder: Path, monitor: Monitor) -> Mapping[str, float]:
        """Run the step on a machine of the cluster, and wait for it."""
        folder = folder.resolve()
        marker = folder / f".seen-{secrets.token_hex(8)}"
        last, pausing = None, False
        folder.mkdir(parents=True, exist_ok=True)
        marker.touch()
        try:
            result = self.task.remote(step, folder, self.platform, self.messages, marker.name)
            while not self.ray.wait([result], timeout=POLL_SECONDS)[0]:
                progress = self.ray.get(self.messages.read.remote(marker.name))
                if progress is not None and progress != last:
                    monitor.report(*progress)
                    last = progress
                if monitor.should_pause() and not pausing:
                    self.ray.get(self.messages.pause.remote())
                    pausing = True
            return self._get(result)
        finally:
            marker.unlink(missing_ok=True)

    def _get(self, result: Any) -> Mapping[str, float]:
        """Return the result of a task, or raise the exception of its step."""
        try:
            return self.ray.get(result)
        except self.ray.exceptions.RayTaskError as error:
            raise error.cause from None
        except self.ray.exceptions.RayError as error:
            raise OSError(
                f"the machines of the step died {MAX_RETRIES + 1} times "
                f"({type(error).__name__}); run the same command again to resume"
            ) from error


def run_task(
    step: Step, folder: Path, device: str, messages: Any, marker: str
) -> Mapping[str, float]:
    """Run a step on a machine of the cluster, unless it is finished.

    `marker` is a file that shows whether this machine sees the folder, and names the task in
    `messages`.
    """
    import ray

    if not (folder / marker).exists():
        raise UserError(
            f"{socket.gethostname()} does not see {folder}; choose a --folder that all machines "
            "of the cluster share"
        )
    monitor = Monitor(
        should_pause=lambda: ray.get(messages.should_pause.remote()),
        report=lambda done, message: messages.report.remote(marker, done, message),
    )
    end = time.monotonic() + LOCK_WAIT_SECONDS
    while True:
        # A retried task may have finished just before its machine died.
        if step.is_finished(folder):
            return {}
        try:
            return step.run(folder, device, monitor)
        except InUse:
            if time.monotonic() > end:
                raise
            time.sleep(1.0)
