"""`algotransfer bench`: training throughput on the device at hand."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from tyro.conf import arg

from algotransfer.datasets.presets import PRESETS
from algotransfer.names import ALGORITHM_NAMES, check_name


@dataclass(frozen=True)
class Bench:
    """Measure how fast networks train here: whole epochs, validation included.

    `make bench` runs other libraries beside us.
    """

    model: tuple[Literal["ne", "ne++"], ...] = ("ne", "ne++")
    """Networks to measure."""
    supervision: tuple[Literal["tf", "na"], ...] = ("tf", "na")
    """Supervisions to measure."""
    target: Annotated[str, arg(metavar="{" + ",".join(ALGORITHM_NAMES) + "}")] = "dijkstra"
    """The algorithm that is learned."""
    seeds: tuple[int, ...] = (1, 8)
    """Numbers of seeds that are trained together."""
    data: Annotated[str, arg(metavar="{" + ",".join(PRESETS) + "}")] = "small"
    """The graphs of an epoch."""
    precision: Literal["float32", "tensorfloat32"] = "float32"
    """Precision of matrix products."""
    repeats: int = 3
    """Epochs that are timed; the median counts."""
    out: Path | None = None
    """File for the numbers (.json)."""

    def run(self) -> None:
        """Measures everything, prints a table, writes the numbers."""
        check_name("algorithm", self.target, ALGORITHM_NAMES)
        check_name("preset", self.data, PRESETS)
        import jax

        from algotransfer.bench.training import measure
        from algotransfer.cli.console import errors, next_step, output, wrote
        from algotransfer.cli.tables import plain_table, titled
        from algotransfer.datasets import make_splits
        from algotransfer.experiment import Experiment
        from algotransfer.training.runs import environment, write_json

        splits = make_splits(self.data)
        table = plain_table(
            ["experiment"], ["seeds", "graphs/s", "ms/step", "compile s", "needs GiB", "peak GiB"]
        )
        rows = []
        for seeds in self.seeds:
            for model in self.model:
                for supervision in self.supervision:
                    experiment = Experiment(
                        model=model,
                        target=self.target,
                        supervision=supervision,
                        precision=self.precision,
                    )
                    with errors.status(f"{experiment.name}, {seeds} seeds"):
                        row = measure(
                            experiment, seeds, splits.train, splits.validation, self.repeats
                        )
                    rows.append(dataclasses.asdict(row))
                    table.add_row(
                        row.experiment,
                        str(row.seeds),
                        f"{row.graphs_per_second:,.0f}",
                        f"{row.milliseconds_per_step:.2f}",
                        f"{row.compile_seconds:.1f}",
                        f"{row.memory_bytes / 2**30:.2f}",
                        f"{row.peak_bytes / 2**30:.2f}",
                    )
        device = jax.devices()[0].device_kind
        output.print(titled(f"Training on {device}, {len(splits.train)} graphs an epoch", table))
        if self.out is None:
            next_step("add --out FILE.json to keep these numbers")
            return
        write_json(self.out, json.loads(json.dumps({"rows": rows, **environment()})))
        wrote(self.out)
