"""`algotransfer bench`: measure speed and memory, and compare with committed numbers."""

from __future__ import annotations

import dataclasses
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from algotransfer.bench.baseline import (
    SLOWER_RATIO,
    ComparedTime,
    committed_baselines,
    compare_times,
    read_baseline,
)
from algotransfer.cli.options import Json, check_file, check_input, choice, given_options, optional
from algotransfer.datasets.presets import PRESETS
from algotransfer.errors import UserError
from algotransfer.experiment import check_seeds
from algotransfer.limits import MAX_NODES, MAX_STEPS
from algotransfer.networks.registry import MODELS
from algotransfer.supervisions import SUPERVISIONS

if TYPE_CHECKING:
    from rich.console import Console

ALL_PARTS = ("train", "evaluate", "data", "large")
PARTS_OF = {  # parts that an option concerns
    "model": ("train", "evaluate"),
    "supervision": ("train",),
    "seeds": ("train",),
    "preset": ("train",),
    "largest": ("evaluate", "large"),
    "steps": ("large",),
}
LIMITS = {"repeats": (1, 1_000), "steps": (1, MAX_STEPS), "largest": (2, MAX_NODES)}
TABLE_WIDTH = 132  # characters


@dataclass(frozen=True)
class BenchCommand:
    """Measure speed and memory of training, evaluation, data and large graphs.

    Prints the least work of a step, and which share it achieves of the operations and bytes per
    second that this device reaches. Then compares the times with an earlier measurement, and says
    which are more than 10 % longer.
    """

    part: tuple[Literal["train", "evaluate", "data", "large"], ...] = ALL_PARTS
    """Parts to measure."""
    model: Annotated[tuple[str, ...], choice(MODELS)] = ("ne", "ne++")
    """Networks to measure."""
    supervision: Annotated[tuple[str, ...], choice(SUPERVISIONS)] = ("tf", "na")
    """Supervisions to measure."""
    seeds: tuple[int, ...] = (1, 8)
    """Numbers of seeds trained together."""
    preset: Annotated[str | None, choice(PRESETS, "small on a CPU, else paper")] = None
    """Preset of the training graphs."""
    repeats: int = 3
    """Number of measurements, of which the median is reported."""
    largest: int = 100_000
    """Nodes of the largest graph, which has ten times as many edges."""
    steps: int = 100
    """Steps of the execution on the largest graph."""
    baseline: Annotated[Path | None, optional("FILE")] = None
    """File of an earlier measurement on the same device to compare with (.json); by default, in a
    checkout of the repository, the committed ones of a device of this kind."""
    out: Annotated[Path | None, optional("FILE")] = None
    """File for the numbers (.json)."""
    json: Json = False

    def run(self) -> None:
        """Measure each part, print tables, compare, write the numbers."""
        self._check()
        from algotransfer.cli.console import announce

        announce(f"measuring {', '.join(self.part)}; all parts take minutes, most of it compiling")
        import jax

        from algotransfer.bench import suite
        from algotransfer.bench.measurement import Measurement, measure_ceilings
        from algotransfer.cli.console import (
            errors,
            next_step,
            output,
            plain_console,
            print_json,
            wrote,
        )
        from algotransfer.devices import default_device
        from algotransfer.training.runs import ROOT, environment, write_json

        jax.config.update("jax_enable_compilation_cache", False)  # compile times are measured
        device, where = default_device(), environment()
        paths = committed_baselines(where["device"], os.cpu_count(), ROOT / "results")
        baselines = {
            path: read_baseline(path) for path in ([self.baseline] if self.baseline else paths)
        }
        data = self.preset or ("small" if device.platform == "cpu" else "paper")
        parts = {
            "train": suite.train(self.model, self.supervision, self.seeds, data, self.repeats),
            "evaluate": suite.evaluate(self.model, self.largest, self.repeats),
            "data": suite.data(self.repeats),
            "large": suite.large(self.largest, self.steps, self.repeats),
        }
        rows: list[Measurement] = []
        with errors.status("measuring the device") as status:
            ceilings = measure_ceilings()
            for part in self.part:
                status.update(part)
                for row in parts[part]:
                    rows.append(row)
                    status.update(f"{part}: measured {row.what}")
        report = {
            "rows": [dataclasses.asdict(row) for row in rows],
            "data": data,
            "ceilings": dataclasses.asdict(ceilings),
            "load_average": os.getloadavg()[0],  # above the number of cores, times are unreliable
            "cores": os.cpu_count(),
            **where,
        }
        compared = {path.name: _compare(report, path.name, b) for path, b in baselines.items()}
        if self.json:
            print_json(report | {"compared": compared})
        elif rows:
            # Output to a file is 80 columns wide by default, too narrow for the names.
            wide = plain_console(file=output.file, width=max(TABLE_WIDTH, output.width))
            wide.print(_table(rows, ceilings, device.device_kind))
            for file, found in compared.items():
                if found or self.baseline:  # committed files may be of other parts
                    _print_comparison(wide, file, found)
        if self.out is None:
            next_step("add --out FILE.json to keep these numbers")
            return
        write_json(self.out, report)
        wrote(self.out)

    def _check(self) -> None:
        """Check all options before anything is computed."""
        MODELS.check(*self.model)
        SUPERVISIONS.check(*self.supervision)
        if self.preset is not None:
            PRESETS.check(self.preset)
        for name, (low, high) in LIMITS.items():
            if not low <= (value := getattr(self, name)) <= high:
                raise UserError(f"--{name} {value}; expected at least {low} and at most {high:,}")
        for count in self.seeds:
            check_seeds(count)
        for name, parts in PARTS_OF.items():
            if given_options(self, [name]) and not {*parts} & {*self.part}:
                raise UserError(
                    f"--{name} concerns the part {' and '.join(parts)}, which is not measured; "
                    f"leave it out, or add --part {parts[0]}"
                )
        check_input(self.baseline)
        check_file(self.out, [".json"], filter(None, [self.baseline]))


def _compare(report: dict[str, Any], file: str, baseline: dict[str, Any]) -> list[ComparedTime]:
    from algotransfer.cli.console import output

    compared = compare_times(report["rows"], baseline["rows"])
    if baseline.get("data", "small") == report["data"]:
        return compared
    others = [each for each in compared if each.part != "train"]
    if len(others) < len(compared):
        output.print(f"training is not compared: {file} was measured on other graphs")
    return others


def _print_comparison(console: Console, file: str, compared: list[ComparedTime]) -> None:
    from algotransfer.cli.tables import titled
    from algotransfer.evaluation.result_tables import plain_table

    if not compared:
        console.print(f"{file} has none of these measurements")
        return
    table = plain_table(["part", "what"], ["ms/step", "before", "ratio"])
    for each in compared:
        numbers = (f"{each.now:,.2f}", f"{each.before:,.2f}", f"{each.ratio:.2f}")
        table.add_row(each.part, each.what, *numbers, style="bold" if each.is_slower else "")
    console.print(titled(f"Times compared with {file}", table))
    slower = [each for each in compared if each.is_slower]
    if not slower:
        console.print(f"nothing is over {SLOWER_RATIO - 1:.0%} slower than in {file}")
    for each in slower:
        name = f"{each.part}: {each.what}"
        console.print(f"slower than in {file}: {name}: {each.ratio:.2f} × the time")


def _table(rows, ceilings, device: str):
    from algotransfer.cli.tables import titled
    from algotransfer.evaluation.result_tables import plain_table

    table = plain_table(
        ["part", "what"],
        ["graphs/s", "ms/step", "compile", "needs", "peak", "Mop", "MB", "op/s", "B/s"],
    )
    for row in rows:
        shares = row.shares(ceilings)
        least = ["", ""] if shares is None else [_short(row.operations), _short(row.bytes)]
        table.add_row(
            row.part,
            row.what,
            f"{row.graphs_per_second:,.4g}",
            f"{row.milliseconds_per_step:,.2f}",
            f"{row.compile_seconds:.1f}",
            f"{row.memory_bytes / 2**30:.2f}",
            f"{row.peak_bytes / 2**30:.2f}",
            *least,
            *([""] * 2 if shares is None else [f"{share:.1%}" for share in shares]),
        )
    tops, rate = ceilings.operations_per_second / 1e9, ceilings.bytes_per_second / 1e9
    title = (
        f"{device}: {tops:,.0f} Gop/s and {rate:,.0f} GB/s at most. Compile in s, memory in GiB;"
    )
    columns = "Mop and MB: least work of a step; op/s and B/s: shares of the maximum"
    return titled(f"{title} {columns}", table)


def _short(number: float) -> str:
    return f"{number / 1e6:,.3g}"
