"""`algotransfer execute`: run a trained model on the user's graph."""

from __future__ import annotations

import csv
import io
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional

from algotransfer.cli.options import Json, check_file, optional

if TYPE_CHECKING:
    from algotransfer.evaluation.execute import Answer
    from algotransfer.graphs import NamedGraph

ROWS_ON_SCREEN = 40  # the file has all nodes
COLUMNS = ("node", "predecessor", "true predecessor", "key", "true key")


@dataclass(frozen=True)
class ExecuteCommand:
    """Run a trained model on your own graph and compare it with the algorithm."""

    model: Positional[str]
    """Trained model: a name (`algotransfer list models`), a run folder or a weights file."""
    graph: Positional[Path]
    """Graph file: an edge list (.csv with source,target,weight) or GraphML (.graphml)."""
    source: Annotated[str | None, optional("NODE", "the first node")] = None
    """Source node, by name or index."""
    model_seed: Annotated[int | None, optional("INT", "the first that did not diverge")] = None
    """Seed of the model to run."""
    steps: Annotated[int | None, optional("INT", "as --halt says")] = None
    """Number of steps after which the answer is read."""
    halt: Annotated[str | None, optional("{told,horizon,settled}", "told or horizon")] = None
    """When the answer of a model that learned from answers alone is read: told (after as many steps
    as nodes; default for relax and --extra-steps), horizon (after the longest training rollout;
    default for others) or settled (once no predecessor has changed for five steps)."""
    infinity: Annotated[float | None, optional("FLOAT", "from the graph")] = None
    """Number that stands for ∞, in the units of the weights."""
    out: Annotated[Path | None, optional("PATH")] = None
    """File for both answers: .csv (one line per node) or .graphml."""
    json: Json = False

    def run(self) -> None:
        """Run the network, print both answers side by side, write them."""
        check_file(self.out, (".csv", ".graphml"), [self.graph])
        from algotransfer.cli.console import announce
        from algotransfer.trained_models import find_weights

        find_weights(self.model)
        announce(f"running {self.model} on {self.graph}; a first call compiles for some seconds")
        from algotransfer.cli.console import next_step, print_json, wrote
        from algotransfer.cli.options import read_user_graph
        from algotransfer.evaluation.execute import execute

        read = read_user_graph(self.graph, self.source)
        answer = execute(
            self.model,
            read,
            seed=self.model_seed,
            steps=self.steps,
            infinity=self.infinity,
            halt=self.halt,
        )
        rows = list(_rows(answer, read.names))
        source = read.names[int(read.graph.source)]
        _show(answer, source, rows)
        if self.json:
            print_json(
                {
                    "algorithm": answer.algorithm.name,
                    "source": source,
                    "seed": answer.seed,
                    "steps": answer.steps,
                    "infinity": answer.infinity,
                    "weight_factor": answer.weight_factor,
                    "reached": answer.reached.sum(),
                    "differ": answer.wrong.sum(),
                    "worse": answer.worse.sum(),
                    "nodes": [dict(zip(COLUMNS, row, strict=True)) for row in rows],
                }
            )
        if self.out is None:
            next_step("add --out FILE.csv or --out FILE.graphml to keep both answers")
            return
        _write(self.out, read, rows)
        wrote(self.out)


def _rows(answer: Answer, names: Sequence[Hashable]) -> Iterator[tuple]:
    """Yield the values of `COLUMNS` for every node."""
    for node, name in enumerate(names):
        true = answer.true_pred[node]
        yield (
            name,
            names[answer.pred[node]],
            names[true] if true >= 0 else "",
            float(answer.key[node]),
            float(answer.true_key[node]),
        )


def _show(answer: Answer, source: Hashable, rows: list[tuple]) -> None:
    """Print both answers side by side, and how far they differ."""
    from algotransfer.cli.console import output
    from algotransfer.cli.tables import titled
    from algotransfer.evaluation.result_tables import plain_table

    table = plain_table(COLUMNS[:3], COLUMNS[3:])
    for node, (*words, key, true_key) in enumerate(rows[:ROWS_ON_SCREEN]):
        style = "red" if answer.worse[node] else "yellow" if answer.wrong[node] else ""
        table.add_row(*map(str, words), f"{key:.4g}", f"{true_key:.4g}", style=style)
    output.print(titled(f"{answer.algorithm.title} from {source}, seed {answer.seed}", table))
    if len(rows) > ROWS_ON_SCREEN:
        output.print(f"… and {len(rows) - ROWS_ON_SCREEN} more nodes")
    output.print(
        f"{answer.wrong.sum()} of {answer.reached.sum()} predecessors differ from the "
        f"algorithm's, {answer.worse.sum()} of them worse\n"
        f"read after {answer.steps} steps, with {answer.infinity:.4g} in place of ∞; the "
        "network saw nothing of the true answer"
    )
    if answer.weight_factor != 1:
        output.print(f"the network saw the weights times {answer.weight_factor:.4g}")


def _write(path: Path, read: NamedGraph, rows: list[tuple]) -> None:
    from algotransfer.files import write_atomically
    from algotransfer.graphs import write_graph

    if path.suffix == ".csv":
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([COLUMNS, *rows])
        write_atomically(path, text.getvalue().encode())
    else:
        attributes = {
            name.replace(" ", "_"): [row[k] for row in rows] for k, name in enumerate(COLUMNS) if k
        }
        write_graph(path, read.graph, read.names, attributes)
