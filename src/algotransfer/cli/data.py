"""`algotransfer data`: make datasets, write them, and show their statistics."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from algotransfer.algorithms.registry import ALGORITHMS
from algotransfer.cli.options import (
    Json,
    check_file,
    check_folder,
    check_writable,
    choice,
    given_options,
    optional,
)
from algotransfer.datasets.presets import CLRS_TASKS, PRESETS
from algotransfer.errors import UserError
from algotransfer.graphs.registry import FAMILIES

if TYPE_CHECKING:
    from algotransfer.datasets import Dataset
    from algotransfer.datasets.statistics import TraceStatistics
    from algotransfer.graphs import NamedGraph

# Options of sampling, and those that each other source of graphs excludes.
SAMPLING = ("family", "num_graphs", "num_nodes", "split")
EXCLUDES = {
    "preset": (*SAMPLING, "graph", "source"),
    "task": (*SAMPLING, "graph", "source"),
    "graph": (*SAMPLING, "seed"),
    "statistics": (*SAMPLING, "seed", "preset", "task", "graph", "source", "out"),
}


@dataclass(frozen=True)
class DataCommand:
    """Make a dataset, write it to a file, and show its statistics.

    Graphs are sampled by family or by preset, or read from your own files. The same options give
    the same bytes on any machine.
    """

    algorithm: Annotated[tuple[str, ...], choice(ALGORITHMS, "all that fit")] = ()
    """Algorithms whose traces to compute; one per file."""
    family: Annotated[tuple[str, ...], choice(FAMILIES)] = ("er",)
    """Graph families; several are put into one dataset."""
    num_graphs: int = 1000
    """Number of graphs of each family."""
    num_nodes: int = 20
    """Number of nodes of every graph."""
    seed: int = 0
    """Seed of the graphs."""
    split: str = "train"
    """Name of the split; splits with different names share no random numbers."""
    preset: Annotated[str | None, choice(PRESETS, "none")] = None
    """Make all splits of this preset."""
    task: Annotated[tuple[str, ...], choice(CLRS_TASKS, "all")] = ()
    """Tasks of a preset of CLRS-30; each has its own graphs."""
    graph: Annotated[tuple[Path, ...], optional("FILE")] = ()
    """Your own graphs, one per file: edge lists (.csv) or GraphML (.graphml). Smaller ones are
    padded with isolated nodes."""
    source: Annotated[str | None, optional("NODE", "the first node")] = None
    """Source node of your own graphs, by name or index."""
    out: Annotated[Path | None, optional("PATH")] = None
    """File (.npz), or folder for several files; without it nothing is written."""
    statistics: Annotated[tuple[Path, ...], optional("FILE")] = ()
    """Only show the statistics of these data files (.npz)."""
    json: Json = False

    def run(self) -> None:
        """Make or load the datasets, trace them, write the files, print statistics."""
        start = time.perf_counter()
        self._check()
        from algotransfer.cli.console import announce, next_step, output, print_json, wrote

        announce("reading graphs" if self.statistics else "making graphs and traces")
        from algotransfer.cli.tables import graph_table, trace_table
        from algotransfer.datasets import graph_statistics

        datasets = self._datasets()
        traces, paths, writing = self._trace(datasets)
        making = time.perf_counter() - start - writing

        graphs = {name: graph_statistics(dataset) for name, dataset in datasets.items()}
        if self.json:
            print_json({"graphs": graphs, "traces": traces, "files": paths})
        output.print(graph_table(graphs))
        for dataset in datasets.values():
            if (least := dataset.sizes.min()) < (most := dataset.num_nodes):
                output.print(
                    f"graphs of {least} to {most} nodes; smaller ones are padded with isolated "
                    f"nodes to {most}, which no statistics count\n"
                )
        output.print(trace_table(traces))
        if not self.statistics:
            count = sum(map(len, datasets.values()))
            written = f", written in {writing:.1f} s" if paths else ""
            output.print(f"{count:,} graphs and their traces made in {making:.1f} s{written}")
        for folder, files in groupby(paths, key=lambda path: path.parent):
            names = [path.name for path in files]
            wrote(f"{folder / names[0]}" + f" and {len(names) - 1} more" * (len(names) > 1))
        if paths:
            next_step(f"algotransfer data --statistics {paths[0]}")
        elif not self.statistics:
            next_step("add --out PATH to write this data")

    def _check(self) -> None:
        """Check all options before anything is computed."""
        ALGORITHMS.check(*self.algorithm)
        FAMILIES.check(*self.family)
        if self.preset is not None:
            PRESETS.check(self.preset)
        CLRS_TASKS.check(*self.task)
        for way, excluded in EXCLUDES.items():
            if (chosen := given_options(self, [way])) and (given := given_options(self, excluded)):
                raise UserError(f"{chosen[0]} and {given[0]} cannot be combined")
        if self.task and self.preset is None:
            raise UserError("--task names a task of CLRS-30; add --preset clrs30")
        if self.source is not None and not self.graph:
            raise UserError("--source names a node of your own graphs; add --graph FILE")
        if self.out is not None:
            if self.out.suffix not in ("", ".npz") and not self.out.is_dir():
                raise UserError(
                    f"--out {self.out}: datasets are written as .npz files; name a file that ends "
                    "in .npz, or a folder without a suffix"
                )
            if self.out.suffix == ".npz" and (self.preset or len(self.algorithm) != 1):
                raise UserError(
                    f"{self.out} can hold one dataset with the traces of one algorithm; name one "
                    "with --algorithm, or set --out to a folder for several files"
                )
            if self.out.suffix == ".npz":
                check_file(self.out, [".npz"])
            else:
                check_folder(self.out)
                check_writable(self.out)

    def _datasets(self) -> dict[str, Dataset]:
        from algotransfer import datasets
        from algotransfer.cli.options import read_user_graph

        if self.statistics:
            return {str(path): datasets.load_dataset(path) for path in self.statistics}
        if self.preset:
            return self._splits(self.preset)
        if self.graph:
            graphs = [read_user_graph(path, self.source) for path in self.graph]
            for path, named in zip(self.graph, graphs, strict=True):
                self._check_graph(path, named)
            return {"own": datasets.from_graphs(graphs)}
        sampling = {name: getattr(self, name) for name in SAMPLING}
        return {self.split: datasets.make_dataset(**sampling, seed=self.seed)}

    def _check_graph(self, path: Path, named: NamedGraph) -> None:
        """Check that the chosen algorithms run on the graph of one file."""
        from algotransfer.algorithms import get_algorithm
        from algotransfer.algorithms.run import check_graphs

        for algorithm in self.algorithm:
            try:
                check_graphs(get_algorithm(algorithm), named.graph, names=named.names)
            except UserError as error:
                raise UserError(f"{path}: {error}") from error

    def _splits(self, preset: str) -> dict[str, Dataset]:
        from algotransfer.datasets import make_splits

        tasks = self.task or (CLRS_TASKS if PRESETS[preset].has_tasks else [None])
        return {
            split if task is None else f"{task}/{split}": dataset
            for task in tasks
            for split, dataset in make_splits(preset, self.seed, task)
        }

    def _trace(
        self, datasets: Mapping[str, Dataset]
    ) -> tuple[dict[str, list[TraceStatistics]], list[Path], float]:
        """Trace each dataset with each algorithm, and save it if `--out` is given.

        **Returns:** the statistics by dataset, the files written, and the seconds of writing.
        """
        from algotransfer.algorithms import get_algorithm
        from algotransfer.algorithms.run import check_graphs
        from algotransfer.cli.console import progress_bar
        from algotransfer.datasets import save_dataset, trace_statistics

        jobs = [
            (name, dataset, algorithm)
            for name, dataset in datasets.items()
            for algorithm in self.algorithm or dataset.algorithms or _algorithms(dataset)
        ]
        for name, dataset, algorithm in jobs:  # before the first file is written
            try:
                check_graphs(get_algorithm(algorithm), dataset.graphs)
            except UserError as error:
                raise UserError(f"{name}: {error}") from error
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
                dataset.forget()  # all traces of the paper's preset take 2 GiB
                bar.advance(task)
        return statistics, paths, writing

    def _path(self, dataset: str, algorithm: str) -> Path | None:
        if self.out is None or self.out.suffix == ".npz":
            return self.out
        folder = self.out / dataset if self.preset else self.out
        return folder / f"{algorithm}.npz"


def _algorithms(dataset: Dataset) -> Iterable[str]:
    """Return the algorithms to trace by default: all that fit, or of a task the one trained on it.

    Algorithms for directed graphs alone are left out without a notice if graphs are undirected.
    """
    from algotransfer.algorithms.run import check_structure, check_weights
    from algotransfer.files import notify

    task = dataset.arguments.get("task")
    if task is not None:
        return CLRS_TASKS[task].algorithms[:1]
    fitting, left_out = [], []
    for name, algorithm in ALGORITHMS.items():
        if algorithm.graphs == "acyclic" and not dataset.graphs.directed:
            continue
        try:
            check_structure(algorithm, dataset.graphs)
            check_weights(algorithm, dataset.graphs)
            fitting.append(name)
        except UserError:
            left_out.append(name)
    if left_out:
        notify(
            f"left out {', '.join(left_out)}, which do not fit these graphs; --algorithm NAME says "
            "why"
        )
    return fitting
