"""`algotransfer report`: write up any runs, or the paper's tables with reproduced numbers."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import Positional

from algotransfer.cli.options import check_folder, optional
from algotransfer.errors import UserError


@dataclass(frozen=True)
class ReportCommand:
    """Write a report of runs: settings, errors by size, learning curves; or the paper's tables.

    With RUNs, it has what `evaluate` saved in them. Without, it has the paper's tables with
    reproduced numbers, a check of its claims, and figures.
    """

    runs: Annotated[Positional[tuple[str, ...]], optional("RUN", "the paper's tables")] = ()
    """Evaluated runs of any experiments: run folders, their names, or folders of runs."""
    folder: Annotated[Path | None, optional("PATH", "the tables in --out")] = None
    """Folder of runs of the paper's experiments (`algotransfer reproduce`) to collect from."""
    out: Annotated[Path | None, optional("PATH", "results; with RUNs, report")] = None
    """Folder for the tidy tables and the reports made of them: Markdown, LaTeX, CSV, HTML."""
    weights: Annotated[Path | None, optional("PATH")] = None
    """Folder to copy the weights of --folder to, named after their experiments (plus their hash,
    if settings differ from the paper's or the name is taken)."""
    examples: bool = False
    """Write live pages of the networks in --folder, or else in the package (`explore`), and link
    the HTML page to them."""

    def run(self) -> None:
        """Collect the results and write the reports."""
        from algotransfer.cli.console import announce, next_step, output, wrote

        if self.runs:
            for name in ("folder", "weights", "examples"):
                if getattr(self, name):
                    raise UserError(
                        f"--{name} belongs to the report of the paper's tables; leave it out, or "
                        "leave out the runs"
                    )
        if self.weights is not None and self.folder is None:
            raise UserError("--weights copies the weights of --folder; add it, or leave both out")
        out = self.out or Path("report" if self.runs else "results")
        for folder in filter(None, (out, self.weights)):
            check_folder(folder)
        announce(f"writing a report to {out}, in seconds" + ", then pages" * self.examples)
        from algotransfer.report.write_report import write_report

        data, note = self._of_runs(out) if self.runs else self._of_paper(out)
        for path in write_report(data, out):
            wrote(path)
        for text in filter(None, (data.summary, note)):
            output.print(text, soft_wrap=True)
        next_step(f"open {out / 'report.html'}")

    def _of_runs(self, out: Path) -> tuple[Any, str]:
        from algotransfer.cli.console import wrote
        from algotransfer.report.run_report import find_runs, make_run_report
        from algotransfer.report.write_report import RESULTS, write_table

        data, results = make_run_report(find_runs(self.runs))
        out.mkdir(parents=True, exist_ok=True)
        write_table(out / RESULTS, results)
        wrote(out / RESULTS)
        return data, ""

    def _of_paper(self, out: Path) -> tuple[Any, str]:
        from algotransfer.report.report_data import make_report
        from algotransfer.report.write_report import RESULTS, read_tables, time_note

        if self.folder is not None:
            self._collect(self.folder, out)
        elif not (out / RESULTS).exists():
            raise UserError(
                f"there is no {out / RESULTS}; name your runs (`algotransfer report RUN RUN`), or "
                "a folder of the paper's experiments with --folder"
            )
        results, hops = read_tables(out)
        note = time_note(out)
        examples = self._write_examples(results, out) if self.examples else {}
        return make_report(results, hops, note, examples), note

    def _write_examples(self, results: Any, out: Path) -> dict[tuple[str, ...], str]:
        from algotransfer.cli.console import progress_bar, wrote
        from algotransfer.report.example_pages import (
            EXAMPLES_FOLDER,
            find_models,
            write_examples,
        )

        models = find_models(self.folder, results)
        with progress_bar() as progress:
            pages = write_examples(models, out)
            total = len(models)
            found = dict(progress.track(pages, total, description="explore pages"))
        wrote(out / EXAMPLES_FOLDER)
        return found

    def _collect(self, folder: Path, out: Path) -> None:
        """Write tables, environments and weights of all finished runs."""
        from algotransfer.cli.console import wrote
        from algotransfer.files import write_atomically
        from algotransfer.report.collect import (
            collect,
            collect_hops,
            environments,
            marks,
            trained_runs,
        )
        from algotransfer.report.write_report import CALLS, ENVIRONMENTS, HOPS, RESULTS, write_table
        from algotransfer.reproduce.call_log import read_calls
        from algotransfer.training.runs import WEIGHTS, write_json

        tables = {RESULTS: collect(folder), HOPS: collect_hops(folder)}
        records = {ENVIRONMENTS: environments(folder), CALLS: {"calls": read_calls(folder)}}
        out.mkdir(parents=True, exist_ok=True)
        for name, table in tables.items():
            write_table(out / name, table)
            wrote(out / name)
        for name, record in records.items():
            write_json(out / name, record)
            wrote(out / name)
        if self.weights is not None:
            self.weights.mkdir(parents=True, exist_ok=True)
            taken: set[str] = set()  # runs with other seeds share the experiment
            for run, model in trained_runs(folder):
                name = run.parent.name
                if name in taken or marks(model):
                    name = f"{name}-{run.name}"
                taken.add(name)
                target = self.weights / f"{name}.npz"
                write_atomically(target, (run / WEIGHTS).read_bytes())
                wrote(target)
