"""`algotransfer report`: results beside the paper's, from runs or from the committed table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Report:
    """Write the paper's tables with our numbers beside its own, its claims judged, and figures."""

    folder: Path | None = None
    """Runs to take results from; without it, the tables that are already in --out."""
    out: Path = Path("results")
    """Folder for the tidy tables and what is written from them: Markdown, LaTeX, CSV, HTML."""
    weights: Path | None = None
    """Also copy the weights of these runs into this folder, named after their experiments (and
    their hash, where settings are not the paper's or the name is taken)."""
    readme: Path | None = None
    """Also put the table of claims into this page, between the marks that it has for it."""

    examples: bool = False
    """Also write a page of the viewer for every network at hand, in --folder or else in the
    package, and link the numbers of the HTML page to them."""

    def run(self) -> None:
        """Collects, writes, says what it wrote."""
        from algotransfer.cli.console import next_step, output, wrote
        from algotransfer.report.cells import seed_values
        from algotransfer.report.check import check_small_graphs
        from algotransfer.report.write import (
            RESULTS,
            put_claims,
            read_tables,
            time_note,
            write_report,
        )

        if self.folder is not None:
            self._collect(self.folder)
        elif not (self.out / RESULTS).exists():
            raise FileNotFoundError(
                f"there is no {self.out / RESULTS}; name a folder of runs with --folder"
            )
        results, hops = read_tables(self.out)
        note = time_note(self.out)
        examples = self._write_examples(results) if self.examples else {}
        for path in write_report(results, hops, self.out, note, examples):
            wrote(path)
        if self.readme is not None:
            put_claims(self.readme, results)
            wrote(self.readme)
        check = check_small_graphs(seed_values(results))
        output.print(check.words, soft_wrap=True)
        for miss in check.misses:
            output.print(f"  misses: {miss}", soft_wrap=True)
        output.print(note, soft_wrap=True)
        next_step(f"look at {self.out / 'report.html'}")

    def _write_examples(self, results: Any) -> dict[tuple[str, ...], str]:
        from algotransfer.cli.console import progress_bar, wrote
        from algotransfer.report.examples import FOLDER, SIZES, models_at_hand, write_examples

        models = models_at_hand(self.folder, results)
        with progress_bar() as progress:
            pages = write_examples(models, self.out)
            total = len(models) * len(SIZES)
            found = dict(progress.track(pages, total, description="examples for the viewer"))
        wrote(self.out / FOLDER)
        return found

    def _collect(self, folder: Path) -> None:
        """Tidy tables, environments and weights of all finished runs."""
        from algotransfer.cli.console import wrote
        from algotransfer.files import write_atomically
        from algotransfer.report.collect import (
            collect,
            collect_hops,
            environments,
            marks,
            trained_runs,
        )
        from algotransfer.report.write import CALLS, ENVIRONMENTS, HOPS, RESULTS
        from algotransfer.reproduce.log import CALLS as CALL_FOLDER
        from algotransfer.reproduce.log import check_calls, read_calls
        from algotransfer.training.runs import WEIGHTS, write_json

        tables = {RESULTS: collect(folder), HOPS: collect_hops(folder)}
        calls = read_calls(folder)
        check_calls(calls, folder / CALL_FOLDER)
        self.out.mkdir(parents=True, exist_ok=True)
        for name, table in tables.items():
            write_atomically(
                self.out / name, table.to_csv(index=False, float_format="%.6g").encode()
            )
            wrote(self.out / name)
        write_json(self.out / ENVIRONMENTS, environments(folder))
        wrote(self.out / ENVIRONMENTS)
        write_json(self.out / CALLS, {"calls": calls})
        wrote(self.out / CALLS)
        if self.weights is not None:
            self.weights.mkdir(parents=True, exist_ok=True)
            taken: set[str] = set()  # a run of other seeds has the same experiment
            for run, model in trained_runs(folder):
                name = run.parent.name
                if name in taken or marks(model):
                    name = f"{name}-{run.name}"
                taken.add(name)
                target = self.weights / f"{name}.npz"
                write_atomically(target, (run / WEIGHTS).read_bytes())
                wrote(target)
