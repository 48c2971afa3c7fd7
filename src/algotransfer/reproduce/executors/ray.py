"""Steps as tasks of a Ray cluster; results lie in a folder that all machines see.

The runner stays where it is: it decides what can begin, and a thread of its own waits for every
step in flight. Only `run_step` travels, so that cache, order and view are those of a local run.
"""

from __future__ import annotations

import secrets
import socket
import time
from pathlib import Path
from typing import Any

from algotransfer.errors import UserError
from algotransfer.locks import InUse
from algotransfer.reproduce.steps import Step, Watch

RETRIES = 5  # times that a step begins again after its machine or process has died
GPU_SHARE = 3  # steps on one GPU: one trains while others compile or evaluate
LOOK_SECONDS = 0.25  # between two looks at a step in flight
BUSY_SECONDS = 60.0  # a step whose machine seemed dead may hold its folder a while longer


class Board:
    """An actor where steps leave their news, and read whether they should pause."""

    def __init__(self):
        self.news: dict[str, tuple[int, str]] = {}
        self.paused = False

    def tell(self, name: str, done: int, words: str) -> None:
        """A step has come so far."""
        self.news[name] = done, words

    def read(self, name: str) -> tuple[int, str] | None:
        """What a step told last."""
        return self.news.get(name)

    def pause(self) -> None:
        """All steps should stop as soon as they can."""
        self.paused = True

    def is_paused(self) -> bool:
        """Whether steps should stop."""
        return self.paused


class Cluster:
    """Runs steps on a Ray cluster; give its `run` to `run_steps`.

    **Arguments:**

    - `address`: of a running cluster, `auto` for the one that this machine belongs to, or None to
        start one on this machine alone.
    - `device`: `cpu` or `gpu`; by default GPUs if the cluster has any.
    - `cpus`: cores that a training or an evaluation takes.
    """

    def __init__(self, address: str | None = None, device: str | None = None, cpus: float = 1):
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
        self.device = device or ("gpu" if ray.cluster_resources().get("GPU") else "cpu")
        gpus = 1 / GPU_SHARE if self.device == "gpu" else 0
        # The board must outlive the machines that steps run on: it stays with us.
        here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        self.board: Any = ray.remote(Board).options(num_cpus=0, scheduling_strategy=here).remote()
        environment = {"XLA_PYTHON_CLIENT_MEM_FRACTION": f"{0.9 / GPU_SHARE:.2f}"} if gpus else {}
        self.task = ray.remote(run_step).options(
            num_cpus=cpus,
            num_gpus=gpus,
            max_retries=RETRIES,
            runtime_env={"env_vars": environment},
        )
        there, needed = ray.cluster_resources(), {"CPU": cpus, "GPU": gpus}
        places = [there.get(name, 0) / count for name, count in needed.items() if count]
        self.slots = max(1, int(min(places)))  # steps that the cluster takes at once

    def run(self, step: Step, folder: Path, device: str | None, watch: Watch) -> dict:
        """Runs a step on some machine and waits for it; what takes no device runs here."""
        if not step.uses_device:
            return step.run(folder, device, watch)
        folder = folder.resolve()
        token = folder / f".seen-{secrets.token_hex(8)}"
        name, told, pausing = token.name, None, False
        folder.mkdir(parents=True, exist_ok=True)
        token.touch()
        try:
            result = self.task.remote(step, folder, self.device, self.board, name)
            while not self.ray.wait([result], timeout=LOOK_SECONDS)[0]:
                news = self.ray.get(self.board.read.remote(name))
                if news is not None and news != told:
                    watch.tell(*news)
                    told = news
                if watch.pause() and not pausing:
                    self.ray.get(self.board.pause.remote())
                    pausing = True
            return self._seconds(result)
        finally:
            token.unlink(missing_ok=True)

    def _seconds(self, result) -> dict:
        try:
            return self.ray.get(result)
        except self.ray.exceptions.RayTaskError as error:
            raise error.cause from None
        except self.ray.exceptions.RayError as error:
            raise OSError(
                f"the machines that ran it died {RETRIES + 1} times "
                f"({type(error).__name__}); the same command goes on"
            ) from error


def run_step(step: Step, folder: Path, device: str, board, token: str) -> dict:
    """On the machine of a task: does a step unless it is done, and keeps in touch with the board.

    **Returns:** the seconds that were spent.
    """
    import ray

    if not (folder / token).exists():
        raise UserError(
            f"{socket.gethostname()} does not see {folder}; let --folder name a place that all "
            "machines of the cluster share"
        )
    watch = Watch(
        pause=lambda: ray.get(board.is_paused.remote()),
        tell=lambda done, words: board.tell.remote(token, done, words),
    )
    end = time.monotonic() + BUSY_SECONDS
    while True:
        # A task that is retried may have finished just before its machine died.
        if step.found(folder):
            return {}
        try:
            return step.run(folder, device, watch)
        except InUse:
            if time.monotonic() > end:
                raise
            time.sleep(1.0)
