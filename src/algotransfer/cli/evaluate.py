"""`algotransfer evaluate`: measure a trained model on test graphs."""

import dataclasses
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from tyro.conf import Positional

from algotransfer.cli.options import (
    Json,
    check_data,
    check_file,
    choice,
    given_options,
    optional,
)
from algotransfer.datasets.presets import CLRS_TASKS, PAPER_FAMILIES, PRESETS, answered_task
from algotransfer.errors import UserError
from algotransfer.evaluation.registry import HALTING_RULES
from algotransfer.graphs.registry import FAMILIES
from algotransfer.registry import check_name

OFFICIAL = "clrs30"  # the preset whose score is also computed as in dm-clrs


@dataclass(frozen=True)
class EvaluateCommand:
    """Measure a trained model on graphs it has not seen, next to the paper's numbers.

    The model runs on its own outputs. From the true answer it gets only the number that stands for
    ∞ (instance rule) and, if it was trained without the algorithm's steps, their number.
    """

    model: Positional[str]
    """Trained model: a name (`algotransfer list models`), a run folder or a weights file."""
    num_nodes: tuple[int, ...] = (20, 50, 100)
    """Numbers of nodes of the test graphs."""
    family: Annotated[tuple[str, ...], choice(FAMILIES)] = PAPER_FAMILIES
    """Families of the test graphs."""
    num_graphs: Annotated[int | None, optional("INT", "500 for a run folder, else 50")] = None
    """Number of test graphs of each family and size; the paper has 500."""
    data: Annotated[tuple[Path, ...], optional("FILE")] = ()
    """Data files (.npz) to evaluate on instead."""
    preset: Annotated[str | None, choice(PRESETS, "none")] = None
    """Preset whose test graphs to evaluate on instead."""
    task: Annotated[str | None, choice(CLRS_TASKS, "the model's")] = None
    """Task of CLRS-30 to evaluate on, for its presets."""
    clrs: Annotated[Path | None, optional("FILE")] = None
    """Graphs exported from dm-clrs to evaluate on instead (see the documentation)."""
    infinity: Annotated[
        float | Literal["instance"] | None, optional("FLOAT|instance", "as in training")
    ] = None
    """Number that stands for ∞ in the network's input: chosen per graph (instance), or fixed."""
    halt: Annotated[str, choice(HALTING_RULES)] = "told"
    """When the answer of a model that learned from answers alone is read: told (after the
    algorithm's number of steps, as in the paper), horizon (after the longest training rollout) or
    settled (once no predecessor has changed for five steps)."""
    out: Annotated[
        Path | None, optional("FILE", "evaluation.csv in the run folder, else MODEL-evaluation.csv")
    ] = None
    """File for the table (.csv)."""
    keep: bool = False
    """Keep the rows of other graph sizes in the table of the run folder."""
    json: Json = False

    def run(self) -> None:
        """Evaluate, print the table, write it."""
        self._check()
        from algotransfer.cli.console import announce

        announce(f"evaluating {self.model} on {self._graphs()}; a first call compiles")
        from algotransfer.locks import locked

        folder = self._run_folder()
        with nullcontext() if folder is None else locked(folder):
            self._evaluate(folder)

    def _check(self) -> None:
        """Check all options before anything is computed."""
        FAMILIES.check(*self.family)
        HALTING_RULES.check(self.halt)
        if self.preset is not None:
            PRESETS.check(self.preset)
        given = given_options(self, ("data", "clrs", "preset"))
        if len(given) > 1:
            raise UserError(f"{given[0]} and {given[1]} cannot be combined")
        sampling = given_options(self, ("num_nodes", "family", "num_graphs"))
        if given and sampling:
            raise UserError(f"{sampling[0]} samples test graphs; leave it out with {given[0]}")
        if self.task is not None and self.preset is None:
            raise UserError("--task names a task of CLRS-30; add --preset clrs30")
        if self.keep and self.out:
            raise UserError("--keep applies to the table in a run folder; leave out --out")
        for path in self.data:
            check_data(path)
        if self._run_folder() is None:
            if self.keep:
                raise UserError(
                    f"--keep applies to the table in a run folder; {self.model} is no run"
                )
            check_file(self._file(), [".csv"], self.data)
        elif self.infinity is not None or self.halt != "told":
            raise UserError(
                "--infinity and --halt: the table in a run folder is for the defaults; add --out"
            )

    def _evaluate(self, folder: Path | None) -> None:
        from algotransfer.algorithms import get_algorithm
        from algotransfer.cli.console import count_graphs, next_step, output, print_json, wrote
        from algotransfer.cli.tables import titled
        from algotransfer.evaluation import beside_paper, beside_paper_table, summary, summary_table
        from algotransfer.evaluation.evaluate import (
            EVALUATION,
            evaluate,
            read_evaluation,
            save_evaluation,
        )
        from algotransfer.files import write_atomically
        from algotransfer.training import load_model

        if folder is not None and self.keep and (folder / EVALUATION).exists():
            read_evaluation(folder)  # fail before the work if it cannot be extended
        model = load_model(self.model)
        if self.infinity is not None:
            experiment = dataclasses.replace(model.experiment, infinity=self.infinity)
            model = dataclasses.replace(model, experiment=experiment)
        target = get_algorithm(model.experiment.target)
        datasets = self._datasets(target.name)
        with count_graphs("evaluating") as progress:
            frame: Any = evaluate(model, datasets, progress, self.halt)
        task = self._task(target.name)
        if task is not None and not CLRS_TASKS[task].asks_for_predecessors(target.name):
            frame = frame[frame["metric"] != "micro_f1"]  # it is not the score of this task
        document = {
            "model": self.model,
            "summary": summary(frame),
            "paper": beside_paper(frame, model.experiment),
        }
        output.print(summary_table(frame))
        if self.preset == OFFICIAL and target.predicts_predecessors:
            from algotransfer.evaluation.clrs_scores import clrs_scores, clrs_table

            scores = clrs_scores(model, self.task, halt=self.halt)
            output.print(titled("Score of CLRS-30", clrs_table(scores)))
            document["clrs30"] = scores
        if len(document["paper"]):
            output.print()
            output.print(beside_paper_table(frame, model.experiment))
        if self.json:
            print_json(document)
        if folder is not None:
            replaced = (folder / EVALUATION).exists() and not self.keep
            wrote(save_evaluation(folder, frame, self.keep))
            if replaced:
                output.print("replaced the earlier table; --keep keeps its rows of other sizes")
        else:
            file = self._file()
            replaced = file.exists() and self.out is None
            write_atomically(file, frame.to_csv(index=False).encode())
            wrote(file)
            if replaced:
                output.print("replaced the earlier table; --out FILE writes to another file")
        next_step(f"algotransfer execute {self.model} GRAPH.csv")

    def _graphs(self) -> str:
        """Return a description of the test graphs."""
        if self.data or self.clrs:
            return ", ".join(map(str, self.data or (self.clrs,)))
        if self.preset:
            return f"the test graphs of {self.preset}"
        sizes = ", ".join(map(str, self.num_nodes))
        return f"{self._count()} graphs of each of {', '.join(self.family)} with {sizes} nodes"

    def _count(self) -> int:
        """Return the number of graphs of each family and size."""
        if self.num_graphs is not None:
            return self.num_graphs
        return 50 if self._run_folder() is None else 500

    def _run_folder(self) -> Path | None:
        """Return the run folder to write the table to; None for --out, files and the package."""
        from algotransfer.trained_models import WEIGHTS, find_weights

        found = find_weights(self.model)
        kept_elsewhere = self.out is not None or Path(self.model).is_file()
        return None if kept_elsewhere or found.name != WEIGHTS else found.parent

    def _file(self) -> Path:
        """Return the file of the table, if it is not that of a run folder."""
        from algotransfer.trained_models import find_weights

        return self.out or Path(f"{find_weights(self.model).stem}-evaluation.csv")

    def _task(self, target: str) -> str | None:
        """Return the task of CLRS-30 to evaluate on; None for other graphs."""
        has_tasks = self.preset is not None and PRESETS[self.preset].has_tasks
        return answered_task(target, self.task) if has_tasks else None

    def _datasets(self, target: str):
        if self.data:
            from algotransfer.datasets import load_dataset

            return [load_dataset(path) for path in self.data]
        if self.preset:
            from algotransfer.datasets import make_test_sets

            # A preset without tasks refuses --task.
            return make_test_sets(self.preset, task=self._task(target) or self.task)
        if self.clrs:
            from algotransfer.bridges.clrs import import_clrs
            from algotransfer.datasets import from_graphs

            feedback = import_clrs(self.clrs)
            check_name("algorithm in this file", target, feedback)
            return [from_graphs([feedback[target].graphs])]
        from algotransfer.evaluation.evaluate import unseen_graphs

        return unseen_graphs(self.num_nodes, self._count(), self.family)
