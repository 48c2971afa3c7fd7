"""`algotransfer execute`: a trained model on your own graph."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tyro.conf import Positional

from algotransfer.cli.output_paths import check_file
from algotransfer.errors import UserError

if TYPE_CHECKING:
    from algotransfer.evaluation.execute import Answer

SHOWN = 40  # nodes in the table on the screen; a file holds all


@dataclass(frozen=True)
class Execute:
    """Run a trained model on your own graph and compare it with the algorithm itself."""

    model: Positional[str]
    """A run folder, a weights file, or the name of weights that come with the package."""
    graph: Positional[Path]
    """The graph: an edge list (.csv with source,target,weight) or GraphML (.graphml)."""
    source: str | None = None
    """Node to start from, by name or index; by default the first."""
    seed: int | None = None
    """Which of the model's seeds; by default the first that did not diverge."""
    steps: int | None = None
    """How many steps; by default as many as there are nodes."""
    infinity: float | None = None
    """What the network sees for ∞; by default the mean over its training graphs."""
    out: Path | None = None
    """File for the answers: .csv (a line per node) or .graphml (the graph with both answers)."""

    def run(self) -> None:
        """Executes, prints both answers side by side, writes them."""
        if self.out is not None and self.out.suffix not in (".csv", ".graphml"):
            raise UserError(f"--out {self.out}: expected a name that ends in .csv or .graphml")
        check_file(self.out)
        from algotransfer.cli.console import next_step, output, wrote
        from algotransfer.cli.dataset_tables import titled
        from algotransfer.cli.user_graph import read_own
        from algotransfer.evaluation.execute import execute
        from algotransfer.evaluation.result_tables import plain_table
        from algotransfer.files import write_atomically
        from algotransfer.graphs import write_graph

        own = read_own(self.graph, self.source)
        graph, names = own.graph, own.names
        answer = execute(
            self.model, graph, seed=self.seed, steps=self.steps, infinity=self.infinity
        )
        columns = ("node", "predecessor", "true predecessor", "key", "true key")
        rows = list(_rows(answer, names))
        table = plain_table(columns[:3], columns[3:])
        for row, wrong in list(zip(rows, answer.wrong, strict=True))[:SHOWN]:
            table.add_row(*_shown(row), style="red" if wrong else "")
        title = f"{answer.algorithm.title} from {names[int(graph.source)]}, seed {answer.seed}"
        output.print(titled(title, table))
        if len(rows) > SHOWN:
            output.print(f"… and {len(rows) - SHOWN} more nodes")
        output.print(
            f"{answer.wrong.sum()} of {answer.reached.sum()} reached nodes have another "
            f"predecessor than the algorithm gives them\nran {answer.steps} steps with "
            f"{answer.infinity:.4g} in place of ∞; nothing of the true answer was read"
        )
        if self.out is None:
            next_step("add --out FILE.csv or --out FILE.graphml to keep both answers")
            return
        if self.out.suffix == ".csv":
            text = io.StringIO()
            csv.writer(text, lineterminator="\n").writerows([columns, *rows])
            write_atomically(self.out, text.getvalue().encode())
        else:
            attributes = {
                name.replace(" ", "_"): [row[k] for row in rows]
                for k, name in enumerate(columns)
                if k
            }
            write_graph(self.out, graph, names, attributes)
        wrote(self.out)


def _rows(answer: Answer, names):
    for node, name in enumerate(names):
        true = answer.true_pred[node]
        yield (
            name,
            names[answer.pred[node]],
            names[true] if true >= 0 else "",
            float(answer.key[node]),
            float(answer.true_key[node]),
        )


def _shown(row) -> list[str]:
    *words, key, true_key = row
    return [*(str(word) for word in words), f"{key:.4g}", f"{true_key:.4g}"]
