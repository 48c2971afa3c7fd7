"""`algotransfer evaluate`: a trained model on test graphs, beside the paper's numbers."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from tyro.conf import Positional, arg

from algotransfer.cli.places import check_file
from algotransfer.names import FAMILY_NAMES, check_name


@dataclass(frozen=True)
class Evaluate:
    """Measure a trained model on graphs it has not seen, next to the paper's numbers.

    The model runs free: nothing at test time reads the truth, except what stands for ∞ under the
    instance rule and, without the algorithm's steps, their number.
    """

    model: Positional[str]
    """A run folder, a weights file, or the name of weights that come with the package."""
    num_nodes: tuple[int, ...] = (20, 50, 100)
    """Sizes of the test graphs."""
    graph: Annotated[tuple[str, ...], arg(metavar="{" + ",".join(FAMILY_NAMES) + "}")] = (
        FAMILY_NAMES
    )
    """Families of the test graphs."""
    num_graphs: int = 500
    """Test graphs of each family and size."""
    data: tuple[Path, ...] = ()
    """Evaluate on your own data files (.npz) instead."""
    clrs: Path | None = None
    """Evaluate on graphs imported from dm-clrs instead (see the documentation)."""
    infinity: float | Literal["instance"] | None = None
    """What the network sees for ∞; by default what it saw in training."""
    out: Path | None = None
    """File for the table (.csv); by default `evaluation.csv` in the run folder."""
    keep: bool = False
    """Keep what the run folder's table has of graphs of other sizes."""

    def run(self) -> None:
        """Evaluates, prints, writes."""
        for name in self.graph:
            check_name("graph family", name, FAMILY_NAMES)
        if self.data and self.clrs:
            raise ValueError("--data and --clrs cannot go together")
        if self.keep and self.out:
            raise ValueError("--keep is for the table in a run folder; leave out --out")
        check_file(self.out)
        from algotransfer.locks import locked
        from algotransfer.training.runs import WEIGHTS

        # A folder that only has the name of committed weights is not their run.
        folder = Path(self.model)
        if self.out is not None or not (folder / WEIGHTS).is_file():
            self._evaluate()
            return
        if self.infinity is not None:
            raise ValueError(
                "--infinity: the table in a run folder is for what was seen in training; add --out"
            )
        with locked(folder):
            self._evaluate(folder)

    def _evaluate(self, folder: Path | None = None) -> None:
        from algotransfer.cli.console import next_step, output, progress_bar, wrote
        from algotransfer.evaluation import beside_paper, beside_paper_table, summary_table
        from algotransfer.evaluation.runs import (
            EVALUATION,
            evaluate,
            read_evaluation,
            save_evaluation,
        )
        from algotransfer.files import write_atomically
        from algotransfer.training import load_model

        if folder is not None and self.keep and (folder / EVALUATION).exists():
            read_evaluation(folder)  # before the work, which would be lost
        model = load_model(self.model)
        if self.infinity is not None:
            experiment = dataclasses.replace(model.experiment, infinity=self.infinity)
            model = dataclasses.replace(model, experiment=experiment)
        datasets = self._datasets(model.experiment.target)
        with progress_bar() as bar:
            task = bar.add_task("evaluating", total=None)
            frame = evaluate(
                model, datasets, lambda done, total: bar.update(task, completed=done, total=total)
            )
        output.print(summary_table(frame))
        if len(beside_paper(frame, model.experiment)):
            output.print()
            output.print(beside_paper_table(frame, model.experiment))
        if folder is not None:
            wrote(save_evaluation(folder, frame, self.keep))
        elif self.out is not None:
            write_atomically(self.out, frame.to_csv(index=False).encode())
            wrote(self.out)
        else:
            next_step("add --out FILE.csv to keep this table")
            return
        next_step(f"algotransfer execute {self.model} GRAPH.csv")

    def _datasets(self, target: str):
        if self.data:
            from algotransfer.datasets import load_dataset

            return [load_dataset(path) for path in self.data]
        if self.clrs:
            from algotransfer.bridges.clrs import import_clrs
            from algotransfer.datasets import from_graphs

            feedback = import_clrs(self.clrs)
            check_name("algorithm in this file", target, feedback)
            return [from_graphs([feedback[target].graphs])]
        from algotransfer.evaluation.runs import unseen_graphs

        return unseen_graphs(self.num_nodes, self.num_graphs, self.graph)
