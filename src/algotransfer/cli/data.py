"""`algotransfer data`: makes datasets, writes them, and shows what is in them."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import arg

from algotransfer.cli.output_paths import check_writable
from algotransfer.datasets.presets import PRESETS
from algotransfer.errors import UserError
from algotransfer.names import ALGORITHM_NAMES, FAMILY_NAMES, SHAPE_NAMES, check_name

if TYPE_CHECKING:
    from algotransfer.datasets import Dataset
    from algotransfer.datasets.statistics import TraceStatistics

# Options that say how graphs are sampled, and those that make no sense with another way of
# getting graphs.
SAMPLING = ("graph", "num_graphs", "num_nodes", "split", "attachments", "shape")
EXCLUDES = {
    "preset": (*SAMPLING, "own", "source"),
    "own": (*SAMPLING, "seed"),
    "statistics": (*SAMPLING, "seed", "preset", "own", "source", "out"),
}
FLAG = {"own": "--from"}


def _choose(names: Iterable[str], default: str | None = None):
    """An option that takes names; wrong ones get a sentence of ours, with the nearest match."""
    hint = f"(default: {default})" if default else None
    return arg(metavar="{" + ",".join(names) + "}", help_behavior_hint=hint)


def _optional(metavar: str, name: str | None = None):
    return arg(name=name, metavar=metavar, help_behavior_hint="(optional)")


@dataclass(frozen=True)
class Data:
    """Make a dataset and write it to a file; show its statistics.

    Graphs are sampled by family, or all splits of a preset at once, or read from your own files.
    The same options give the same bytes, on any machine.
    """

    algorithm: Annotated[tuple[str, ...], _choose(ALGORITHM_NAMES, "all nine")] = ()
    """Whose traces to compute; a file holds those of one."""
    graph: Annotated[tuple[str, ...], _choose(FAMILY_NAMES)] = ("er",)
    """Family of the graphs; several are mixed."""
    num_graphs: int = 1000
    """Number of graphs of each family."""
    num_nodes: int = 20
    """Number of nodes of every graph."""
    seed: int = 0
    """Another seed gives other graphs."""
    split: str = "train"
    """Name of the split; splits with different names share no random numbers."""
    attachments: int = 4
    """Edges that each new node brings to a `ba` graph."""
    shape: Annotated[str | None, _choose(SHAPE_NAMES, "by size")] = None
    """Sides of a `grid`: any up to 100 nodes, then as square as can be, unless given."""
    preset: Annotated[str | None, _choose(PRESETS, "none")] = None
    """Make all splits of a benchmark: the paper's, or a small one."""
    own: Annotated[tuple[Path, ...], _optional("FILE", "from")] = ()
    """Take your own graphs, one per file: edge lists (.csv) or GraphML (.graphml)."""
    source: Annotated[str | None, _optional("NODE")] = None
    """Node of your own graphs to start from, by name or index; otherwise their first."""
    out: Annotated[Path | None, _optional("PATH")] = None
    """File to write (.npz) or, for several files, a folder. Nothing is written without it."""
    statistics: Annotated[tuple[Path, ...], _optional("FILE")] = ()
    """Show the statistics of data files (.npz) made earlier, and make nothing."""

    def run(self) -> None:
        """Makes or loads the datasets, traces them, writes what was asked for, prints the rest."""
        start = time.perf_counter()
        self._check()
        from algotransfer.cli.console import next_step, output, wrote
        from algotransfer.cli.dataset_tables import graph_table, trace_table
        from algotransfer.datasets import graph_statistics

        datasets = self._datasets()
        traces, paths, writing = self._trace(datasets)
        making = time.perf_counter() - start - writing

        output.print(graph_table({name: graph_statistics(d) for name, d in datasets.items()}))
        output.print(trace_table(traces))
        if not self.statistics:
            graphs = sum(map(len, datasets.values()))
            written = f", written in {writing:.1f} s" if paths else ""
            output.print(f"{graphs:,} graphs and their traces made in {making:.1f} s{written}")
        for folder, files in groupby(paths, key=lambda path: path.parent):
            names = [path.name for path in files]
            wrote(f"{folder / names[0]}" + f" and {len(names) - 1} more" * (len(names) > 1))
        if paths:
            next_step(f"algotransfer data --statistics {paths[0]}")
        elif not self.statistics:
            next_step("add --out PATH to write this data")

    def _check(self) -> None:
        """Refuses what cannot be meant, before anything is computed."""
        for name in self.algorithm:
            check_name("algorithm", name, ALGORITHM_NAMES)
        for name in self.graph:
            check_name("graph family", name, FAMILY_NAMES)
        if self.preset:
            check_name("preset", self.preset, PRESETS)
        default = {field.name: field.default for field in fields(self)}
        for way, excluded in EXCLUDES.items():
            given = [name for name in excluded if getattr(self, name) != default[name]]
            if getattr(self, way) != default[way] and given:
                raise UserError(f"{_flag(way)} and {_flag(given[0])} cannot go together")
        if self.source is not None and not self.own:
            raise UserError("--source names a node of your own graphs; it goes with --from")
        if self.out is not None:
            check_writable(self.out)
            if self.out.suffix == ".npz" and (self.preset or len(self.algorithm) != 1):
                raise UserError(
                    f"{self.out} can hold one dataset with the traces of one algorithm; name it "
                    "with --algorithm, or let --out name a folder for several files"
                )

    def _datasets(self) -> dict[str, Dataset]:
        from algotransfer import datasets
        from algotransfer.cli.user_graph import read_own

        if self.statistics:
            return {str(path): datasets.load_dataset(path) for path in self.statistics}
        if self.preset:
            return dict(datasets.make_splits(self.preset, self.seed))
        if self.own:
            return {"own": datasets.from_graphs(read_own(path, self.source) for path in self.own)}
        sampling = {name: getattr(self, name) for name in SAMPLING}
        return {self.split: datasets.make_dataset(**sampling, seed=self.seed)}

    def _trace(
        self, datasets: Mapping[str, Dataset]
    ) -> tuple[dict[str, list[TraceStatistics]], list[Path], float]:
        """Traces each dataset with each algorithm, and saves it if asked to, one after the other.

        **Returns:** the statistics by dataset, the files written, and the seconds that took.
        """
        from algotransfer.cli.console import progress_bar
        from algotransfer.datasets import save_dataset, trace_statistics

        jobs = [
            (name, dataset, algorithm)
            for name, dataset in datasets.items()
            for algorithm in self.algorithm or dataset.algorithms or ALGORITHM_NAMES
        ]
        statistics: dict[str, list[TraceStatistics]] = {}
        paths, writing = [], 0.0
        with progress_bar() as bar:
            task = bar.add_task("traces", total=len(jobs))
            for name, dataset, algorithm in jobs:
                bar.update(task, description=f"{name}: {algorithm}")
                statistics.setdefault(name, []).extend(trace_statistics(dataset, algorithm))
                path = self._path(name, algorithm)
                if path is not None:
                    start = time.perf_counter()
                    path.parent.mkdir(parents=True, exist_ok=True)
                    save_dataset(dataset, path, algorithm)
                    writing += time.perf_counter() - start
                    paths.append(path)
                dataset.forget()  # all traces of the paper's benchmark would fill 2 GiB
                bar.advance(task)
        return statistics, paths, writing

    def _path(self, dataset: str, algorithm: str) -> Path | None:
        if self.out is None or self.out.suffix == ".npz":
            return self.out
        folder = self.out / dataset if self.preset else self.out
        return folder / f"{algorithm}.npz"


def _flag(name: str) -> str:
    return FLAG.get(name, "--" + name.replace("_", "-"))
