"""`algotransfer report`: write results next to the paper's, from runs or committed tables."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from algotransfer.cli.options import optional
from algotransfer.errors import UserError


@dataclass(frozen=True)
class ReportCommand:
    """Write the paper's tables with reproduced numbers, a check of its claims, and figures."""

    folder: Annotated[Path | None, optional("PATH", "the tables in --out")] = None
    """Folder of runs to collect results from."""
    out: Path = Path("results")
    """Folder for the tidy tables and the reports made of them: Markdown, LaTeX, CSV, HTML."""
    weights: Annotated[Path | None, optional("PATH")] = None
    """Folder to copy the weights of the runs to, named after their experiments (plus their hash,
    if settings differ from the paper's or the name is taken)."""
    examples: bool = False
    """Write live pages of the networks in --folder, or else in the package (`explore`), and link
    the HTML page to them."""

    def run(self) -> None:
        """Collect the results and write the reports."""
        from algotransfer.cli.console import next_step, output, wrote
        from algotransfer.report.report_data import make_report
        from algotransfer.report.write_report import RESULTS, read_tables, time_note, write_report

        if self.folder is not None:
            self._collect(self.folder)
        elif not (self.out / RESULTS).exists():
            raise UserError(
                f"there is no {self.out / RESULTS}; name a folder of runs with --folder"
            )
        results, hops = read_tables(self.out)
        note = time_note(self.out)
        examples = self._write_examples(results) if self.examples else {}
        data = make_report(results, hops, note, examples)
        for path in write_report(data, self.out):
            wrote(path)
        output.print(data.summary, soft_wrap=True)
        output.print(note, soft_wrap=True)
        next_step(f"open {self.out / 'report.html'}")

    def _write_examples(self, results: Any) -> dict[tuple[str, ...], str]:
        from algotransfer.cli.console import progress_bar, wrote
        from algotransfer.report.example_pages import (
            EXAMPLES_FOLDER,
            find_models,
            write_examples,
        )

        models = find_models(self.folder, results)
        with progress_bar() as progress:
            pages = write_examples(models, self.out)
            total = len(models)
            found = dict(progress.track(pages, total, description="explore pages"))
        wrote(self.out / EXAMPLES_FOLDER)
        return found

    def _collect(self, folder: Path) -> None:
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
        from algotransfer.report.write_report import CALLS, ENVIRONMENTS, HOPS, RESULTS
        from algotransfer.reproduce.call_log import read_calls
        from algotransfer.training.runs import WEIGHTS, write_json

        tables = {RESULTS: collect(folder), HOPS: collect_hops(folder)}
        records = {ENVIRONMENTS: environments(folder), CALLS: {"calls": read_calls(folder)}}
        self.out.mkdir(parents=True, exist_ok=True)
        for name, table in tables.items():
            content = table.to_csv(index=False, float_format="%.6g")
            write_atomically(self.out / name, content.encode())
            wrote(self.out / name)
        for name, record in records.items():
            write_json(self.out / name, record)
            wrote(self.out / name)
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
