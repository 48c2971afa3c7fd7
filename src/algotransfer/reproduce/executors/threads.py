"""Executor that runs steps in threads of this process."""

from collections.abc import Mapping
from pathlib import Path

from algotransfer.reproduce.executors.step_executor import StepExecutor
from algotransfer.reproduce.steps import Monitor, Step


class ThreadExecutor(StepExecutor):
    """Runs steps in threads.

    XLA releases the GIL while it compiles and computes, so one experiment can train while another
    is compiled or evaluated.
    """

    def run_step(self, step: Step, folder: Path, monitor: Monitor) -> Mapping[str, float]:
        """Run the step in the current thread."""
        return step.run(folder, self.device, monitor)
