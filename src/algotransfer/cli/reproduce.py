"""`algotransfer reproduce`: train and evaluate the paper's experiments, resumable at any time."""

from dataclasses import dataclass
from typing import Annotated, Literal

from algotransfer.algorithms.registry import ALGORITHMS
from algotransfer.cli.options import choice, optional
from algotransfer.cli.runner_options import RunnerOptions
from algotransfer.networks.registry import MODELS


@dataclass(frozen=True, kw_only=True)
class ReproduceCommand(RunnerOptions):
    """Train and evaluate the experiments of the paper's tables, on several seeds.

    Finished steps are skipped and interrupted ones continued, so it can be stopped at any time.
    """

    table: Annotated[tuple[str, ...], optional("TABLE", "all")] = ()
    """Tables to reproduce (`algotransfer list` shows them)."""
    target: Annotated[tuple[str, ...], choice(ALGORITHMS, "all")] = ()
    """Only experiments with these target algorithms."""
    model: Annotated[tuple[str, ...], choice(MODELS, "those of the paper")] = ()
    """Only experiments with these networks."""
    seeds: int = 3
    """Number of seeds of each experiment, trained together."""
    preset: Literal["paper", "quick", "smoke"] = "paper"
    """Size of the experiments: the paper's, or less data and fewer epochs for a trial."""

    def run(self) -> None:
        """Run the steps; print what is done, what is left, and the time spent."""
        ALGORITHMS.check(*self.target)
        MODELS.check(*self.model)
        self.check()
        from algotransfer.cli.console import next_step
        from algotransfer.reproduce import grid
        from algotransfer.reproduce.plan import plan

        wanted = grid.experiments(self.table or grid.TABLES, self.model, self.target)
        steps = plan(wanted, self.seeds, self.preset)
        if self.run_plan(steps, self.preset, self.seeds):
            next_step(f"algotransfer report --folder {self.folder}")
