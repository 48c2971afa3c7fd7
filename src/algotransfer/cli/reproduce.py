"""`algotransfer reproduce`: the paper's experiments, in slices if need be."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from tyro.conf import arg

from algotransfer.names import ALGORITHM_NAMES, check_name

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
    model: tuple[Literal["ne", "ne++"], ...] = ("ne", "ne++")
    """Only experiments with these networks."""
    seeds: int = 3
    """How many seeds of each experiment are trained together."""
    preset: Literal["paper", "quick", "smoke"] = "paper"
    """Full size, or less data and fewer epochs to try things out."""
    time: Annotated[str | None, arg(name="for", metavar="8m")] = None
    """Pause after this time, such as 90s, 8m or 2h; the same command goes on later."""
    folder: Path = Path("runs")
    """Where runs are kept."""
    device: Literal["cpu", "gpu"] | None = None
    """Where to train; by default a GPU if there is one."""
    dry_run: bool = False
    """List the experiments and do nothing."""
    pack: Path | None = None
    """Put all runs of the folder, finished or not, into one archive (.tar.gz)."""
    unpack: Path | None = None
    """Take runs from such an archive into the folder first."""

    def run(self) -> None:
        """Works through the experiments, then says what is done and what is left."""
        from algotransfer.cli.console import next_step, output, wrote
        from algotransfer.cli.tables import plain_table, titled
        from algotransfer.reproduce import grid
        from algotransfer.reproduce.packing import pack, unpack

        for name in self.target:
            check_name("algorithm", name, ALGORITHM_NAMES)
        wanted = [
            experiment
            for experiment in grid.experiments(self.table or grid.TABLES)
            if experiment.model in self.model
            and (not self.target or experiment.target in self.target)
        ]
        if self.unpack:
            output.print(f"unpacked {unpack(self.unpack, self.folder)} files into {self.folder}")
        if self.dry_run:
            for experiment in wanted:
                output.print(experiment.name)
            output.print(f"{len(wanted)} experiments, {self.seeds} seeds each")
            return

        from algotransfer.reproduce.runner import reproduce

        steps = reproduce(
            wanted,
            self.seeds,
            self.preset,
            self.folder,
            self.device,
            _seconds(self.time),
            lambda step: output.print(
                f"{step.state:8} {step.experiment.name} {step.seconds:.0f} s"
            ),
        )
        table = plain_table(["experiment", "state"], ["seconds"])
        for step in steps:
            table.add_row(step.experiment.name, step.state, f"{step.seconds:.0f}")
        output.print(titled(f"{self.preset} preset, {self.seeds} seeds", table))
        if self.pack:
            pack(self.folder, self.pack)
            wrote(self.pack)
        left = sum(step.state in ("paused", "waiting") for step in steps)
        failed = [step for step in steps if step.state == "failed"]
        if left:
            next_step(f"the same command again: {left} experiments are left")
        for step in failed:
            output.print(f"failed: {step.experiment.name}: {step.reason}", style="red")
        if failed:
            raise ValueError(f"{len(failed)} of {len(steps)} experiments failed (see above)")


def _seconds(text: str | None) -> float | None:
    if text is None:
        return None
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([smh])", text)
    if not match:
        raise ValueError(f"--for {text}: expected a time such as 90s, 8m or 2h")
    return float(match[1]) * UNITS[match[2]]
