"""`algotransfer report`: results beside the paper's, from runs or from the committed table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Report:
    """Write the paper's tables with our numbers beside its own."""

    folder: Path | None = None
    """Runs to take results from; without it, the table that is already in --out."""
    out: Path = Path("results")
    """Folder for results.csv (tidy), results.md and what they were made with."""
    weights: Path | None = None
    """Also copy the weights of these runs into this folder, named after their experiments."""

    def run(self) -> None:
        """Collects, writes, says what it wrote."""
        from algotransfer.cli.console import next_step, wrote
        from algotransfer.files import write_atomically
        from algotransfer.report.collect import collect, environments, read_results
        from algotransfer.report.markdown import write_markdown
        from algotransfer.training.runs import write_json

        table = self.out / "results.csv"
        if self.folder is not None:
            results = collect(self.folder)
            self.out.mkdir(parents=True, exist_ok=True)
            write_atomically(table, results.to_csv(index=False).encode())
            wrote(table)
            write_json(self.out / "environments.json", environments(self.folder))
        elif table.exists():
            results = read_results(table)
        else:
            raise FileNotFoundError(f"there is no {table}; name a folder of runs with --folder")
        page = self.out / "results.md"
        write_atomically(page, write_markdown(results).encode())
        wrote(page)
        if self.weights is not None and self.folder is not None:
            self.weights.mkdir(parents=True, exist_ok=True)
            for path in sorted(self.folder.glob("*/*/weights.npz")):
                target = self.weights / f"{path.parent.parent.name}.npz"
                write_atomically(target, path.read_bytes())
                wrote(target)
        next_step(f"look at {page}")
