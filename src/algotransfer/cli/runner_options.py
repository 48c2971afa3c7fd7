"""Options and work of the commands that run a plan of steps: `reproduce` and `sweep`."""

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from tyro.conf import arg

from algotransfer.cli.options import Device, Json, check_file, check_folder, check_input, optional
from algotransfer.errors import UserError

if TYPE_CHECKING:
    from algotransfer.reproduce.estimates import Estimates
    from algotransfer.reproduce.steps import Step

UNITS = {"s": 1, "m": 60, "h": 3600}


@dataclass(frozen=True, kw_only=True)
class RunnerOptions:
    """Where, for how long and with how many jobs the steps run."""

    jobs: Annotated[
        int | None, optional("INT", "1 on a CPU, 3 on a GPU, all slots of a cluster")
    ] = None
    """Number of steps that run at once."""
    executor: Literal["threads", "processes", "ray"] = "threads"
    """Where steps run: in threads of this process; in processes of this machine, which share a GPU
    better; or on a Ray cluster whose machines share the folder."""
    address: Annotated[str | None, optional("ADDRESS", "a cluster on this machine")] = None
    """Address of the Ray cluster, such as auto or 10.0.0.1:6379."""
    for_: Annotated[str | None, arg(name="for", metavar="8m", help_behavior_hint="")] = None
    """Pause after this time, such as 90s, 8m or 2h; the same command continues later."""
    folder: Path = Path("runs")
    """Folder of all runs."""
    device: Device = None
    """Where to train."""
    dry_run: bool = False
    """Only list the steps with their estimated time."""
    pack: Annotated[Path | None, optional("FILE")] = None
    """Archive (.tar.gz) to write all runs of the folder to, finished or not."""
    unpack: Annotated[Path | None, optional("FILE")] = None
    """Archive (.tar.gz) whose runs to put into the folder first."""
    json: Json = False

    def check(self) -> None:
        """Check all options before anything is computed."""
        if self.address is not None and self.executor != "ray":
            raise UserError("--address names a Ray cluster; add --executor ray")
        if self.dry_run and self.pack:
            raise UserError("--dry-run writes nothing, so not --pack either; use --for 0s instead")
        if self.dry_run and self.for_:
            raise UserError("--dry-run runs no step, so --for has nothing to limit; leave one out")
        check_folder(self.folder)
        check_input(self.unpack)
        check_file(self.pack, [".tar.gz"])
        _seconds(self.for_)
        from algotransfer.cli.console import announce

        announce(f"planning steps in {self.folder}; their estimated time follows")

    def run_plan(self, plan: Sequence["Step"], preset: str, seeds: int) -> bool:
        """Run the steps of a plan; print what is done, what is left, and the time spent.

        **Returns:** whether all steps are finished.
        """
        from algotransfer.cli.console import errors, next_step, output, print_json, wrote
        from algotransfer.cli.tables import result_table
        from algotransfer.reproduce.call_log import log_call
        from algotransfer.reproduce.estimates import Estimates
        from algotransfer.reproduce.executors import EXECUTORS
        from algotransfer.reproduce.packing import pack, unpack
        from algotransfer.reproduce.progress_view import ProgressView
        from algotransfer.reproduce.runner import Interrupted, run_steps
        from algotransfer.reproduce.steps import step_graph

        if self.unpack:
            output.print(f"unpacked {unpack(self.unpack, self.folder)} files into {self.folder}")
        steps = list(step_graph(plan))
        options: dict[str, Any] = {} if self.address is None else {"address": self.address}
        executor = EXECUTORS[self.executor](self.device, self.jobs, **options)
        estimates = Estimates.read(self.folder, executor.platform)
        if self.dry_run:
            self._print_estimates(steps, estimates)
            output.print(f"{len(set(plan))} experiments, {seeds} seeds each")
            return False
        began, interruption = time.monotonic(), None
        with ProgressView(steps, self.folder, estimates, errors) as view, executor:
            try:
                results = run_steps(
                    steps,
                    self.folder,
                    executor=executor,
                    seconds=_seconds(self.for_),
                    view=view,
                    estimates=estimates,
                )
            except Interrupted as error:
                results, interruption = error.results, error.__cause__
        wall = time.monotonic() - began
        if self.json:
            print_json([vars(result) | {"step": result.step.name} for result in results])
        output.print(result_table(results, wall))
        log_call(self.folder, results, wall, preset=preset, seeds=seeds, jobs=executor.jobs)
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
            next_step(f"the same command again: {left} steps remain")
        if interruption is not None:
            raise interruption
        lost = sum(result.state in ("failed", "blocked") for result in results)
        if lost:
            raise UserError(f"{lost} of {len(results)} steps failed or were blocked (above)")
        return not left

    def _print_estimates(self, steps: Sequence["Step"], estimates: "Estimates") -> None:
        from algotransfer.cli.console import output, print_json
        from algotransfer.cli.tables import StepEstimate, estimate_table

        rows = []
        for step in steps:
            done = step.is_finished(self.folder)
            seconds = None if done else step.estimate(self.folder, estimates)
            rows.append(StepEstimate(step.name, done, seconds))
        if self.json:
            print_json(rows)
        output.print(estimate_table(rows))


def _seconds(text: str | None) -> float | None:
    if text is None:
        return None
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([smh])", text)
    if not match:
        raise UserError(f"--for {text}: expected a time such as 90s, 8m or 2h")
    return float(match[1]) * UNITS[match[2]]
