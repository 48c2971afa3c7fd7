"""`algotransfer reproduce`: the paper's experiments, in slices if need be."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from tyro.conf import arg

from algotransfer.cli.output_paths import check_file
from algotransfer.errors import UserError
from algotransfer.names import ALGORITHM_NAMES, MODEL_NAMES, check_name

UNITS = {"s": 1, "m": 60, "h": 3600}


@dataclass(frozen=True)
class Reproduce:
    """Train and evaluate what the paper's tables need, on several seeds.

    What is finished is skipped, what was interrupted goes on. Stop it at any moment.
    """

    table: tuple[str, ...] = ()
    """Tables to reproduce (`algotransfer list` names them); by default all."""
    target: Annotated[tuple[str, ...], arg(metavar="{" + ",".join(ALGORITHM_NAMES) + "}")] = ()
    """Only experiments with these target algorithms; by default all."""
    model: Annotated[tuple[str, ...], arg(metavar="{" + ",".join(MODEL_NAMES) + "}")] = ()
    """Only experiments with these networks; by default all of the paper's."""
    seeds: int = 3
    """How many seeds of each experiment are trained together."""
    preset: Literal["paper", "quick", "smoke"] = "paper"
    """Full size, or less data and fewer epochs to try things out."""
    jobs: int | None = None
    """Steps in flight at once; by default 1 on a CPU, 3 on a GPU, or what a cluster takes."""
    executor: Literal["threads", "processes", "ray"] = "threads"
    """Where steps run: in threads of this process, in processes of this machine, which share a GPU
    better, or on a Ray cluster whose machines share the folder."""
    address: str | None = None
    """Of the Ray cluster, such as auto or 10.0.0.1:6379; by default this machine alone."""
    for_: Annotated[str | None, arg(name="for", metavar="8m")] = None
    """Pause after this time, such as 90s, 8m or 2h; the same command goes on later."""
    folder: Path = Path("runs")
    """Where runs are kept."""
    device: Literal["cpu", "gpu"] | None = None
    """Where to train; by default a GPU if there is one."""
    dry_run: bool = False
    """List the steps with an estimate of their time, and do nothing."""
    pack: Path | None = None
    """Put all runs of the folder, finished or not, into one archive (.tar.gz)."""
    unpack: Path | None = None
    """Take runs from such an archive into the folder first."""

    def run(self) -> None:
        """Works through the steps, then says what is done, what is left, where the time went."""
        for name in self.target:
            check_name("algorithm", name, ALGORITHM_NAMES)
        for name in self.model:
            check_name("network", name, MODEL_NAMES)
        if self.address is not None and self.executor != "ray":
            raise UserError("--address is that of a Ray cluster; add --executor ray")
        if self.dry_run and self.pack:
            raise UserError("--dry-run writes nothing, so it cannot --pack; say --for 0s instead")
        check_file(self.pack)
        limit = _seconds(self.for_)
        from algotransfer.cli.console import errors, next_step, output, wrote
        from algotransfer.cli.step_tables import estimate_table, result_table
        from algotransfer.reproduce import grid
        from algotransfer.reproduce.call_log import log_call
        from algotransfer.reproduce.estimates import Estimates
        from algotransfer.reproduce.executors import EXECUTORS
        from algotransfer.reproduce.packing import pack, unpack
        from algotransfer.reproduce.plan import plan
        from algotransfer.reproduce.progress_view import ProgressView
        from algotransfer.reproduce.runner import Interrupted, run_steps
        from algotransfer.reproduce.steps import EvaluateStep, step_graph

        wanted = grid.experiments(self.table or grid.TABLES, self.model, self.target)
        if self.unpack:
            output.print(f"unpacked {unpack(self.unpack, self.folder)} files into {self.folder}")
        steps = list(step_graph(plan(wanted, self.seeds, self.preset)))
        options: dict[str, Any] = {} if self.address is None else {"address": self.address}
        executor = EXECUTORS[self.executor](self.device, self.jobs, **options)
        estimates = Estimates.read(self.folder, executor.platform)
        if self.dry_run:
            output.print(estimate_table(steps, self.folder, estimates))
            planned = sum(isinstance(step, EvaluateStep) for step in steps)
            output.print(f"{planned} experiments, {self.seeds} seeds each")
            return
        began, interruption = time.monotonic(), None
        with ProgressView(steps, self.folder, estimates, errors) as view, executor:
            try:
                results = run_steps(
                    steps,
                    self.folder,
                    executor=executor,
                    seconds=limit,
                    view=view,
                    estimates=estimates,
                )
            except Interrupted as error:
                results, interruption = error.results, error.__cause__
        wall = time.monotonic() - began
        output.print(result_table(results, wall))
        log_call(
            self.folder, results, wall, preset=self.preset, seeds=self.seeds, jobs=executor.jobs
        )
        if self.pack:
            pack(self.folder, self.pack)
            wrote(self.pack)
        for result in results:
            if result.reason:
                text = f"{result.state}: {result.step.name}: {result.reason}"
                style = None if result.state == "waiting" else "red"
                output.print(text, style=style, soft_wrap=True)
        left = sum(result.state in ("paused", "waiting") for result in results)
        if left:
            next_step(f"the same command again: {left} steps are left")
        else:
            next_step(f"algotransfer report --folder {self.folder}")
        if interruption is not None:
            raise interruption
        lost = sum(result.state in ("failed", "blocked") for result in results)
        if lost:
            raise UserError(f"{lost} of {len(results)} steps failed or were blocked (above)")


def _seconds(text: str | None) -> float | None:
    if text is None:
        return None
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([smh])", text)
    if not match:
        raise UserError(f"--for {text}: expected a time such as 90s, 8m or 2h")
    return float(match[1]) * UNITS[match[2]]
