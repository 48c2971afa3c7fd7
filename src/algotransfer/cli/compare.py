"""`algotransfer compare`: several trained models on the same graphs."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional

from algotransfer.cli.options import Json, check_folder, choice, given_options, optional
from algotransfer.datasets.presets import PAPER_FAMILIES
from algotransfer.errors import UserError
from algotransfer.graphs.registry import FAMILIES


@dataclass(frozen=True)
class CompareCommand:
    """Compare trained models on the same test graphs, seed by seed.

    Ratios compare a model with the first one; the interval is that of Welch's test on log errors.
    """

    models: Positional[tuple[str, ...]]
    """Run folders, weights files, or names of trained models (`algotransfer list`)."""
    num_nodes: tuple[int, ...] = (20, 50, 100)
    """Numbers of nodes of the test graphs."""
    family: Annotated[tuple[str, ...], choice(FAMILIES)] = PAPER_FAMILIES
    """Families of the test graphs."""
    num_graphs: int = 20
    """Number of test graphs of each family and size."""
    data: Annotated[tuple[Path, ...], optional("FILE")] = ()
    """Data files (.npz) to compare on instead."""
    metric: str = "pred"
    """Error to compare: pred (wrong predecessors), key, or another metric of `evaluate`."""
    out: Annotated[Path | None, optional("FOLDER")] = None
    """Folder for the tables (.csv, .tex) and the figure (.png)."""
    json: Json = False

    def run(self) -> None:
        """Compare, print the table, write the files."""
        FAMILIES.check(*self.family)
        if not self.models:
            raise UserError("compare needs MODELS: run folders, weights files or names of models")
        sampling = given_options(self, ("num_nodes", "family", "num_graphs"))
        if self.data and sampling:
            raise UserError(f"{sampling[0]} samples test graphs; leave it out with --data")
        if self.out is not None:
            check_folder(self.out)
        from algotransfer.cli.console import (
            announce,
            count_graphs,
            next_step,
            output,
            print_json,
            wrote,
        )
        from algotransfer.trained_models import find_weights

        for model in self.models:
            find_weights(model)  # fail before graphs are sampled
        announce(f"comparing {', '.join(self.models)}; a first call compiles")
        from algotransfer.datasets import load_dataset
        from algotransfer.evaluation.evaluate import unseen_graphs
        from algotransfer.evaluation.result_tables import plain_table
        from algotransfer.report.compare import compare

        if self.data:
            datasets = [load_dataset(path) for path in self.data]
        else:
            datasets = unseen_graphs(self.num_nodes, self.num_graphs, self.family).values()
        with count_graphs("comparing") as progress:
            comparison = compare(self.models, datasets, metric=self.metric, progress=progress)
        if self.json:
            print_json(comparison.table)
        heads = comparison.heads()
        table = plain_table(heads[:1], heads[1:])
        for row in comparison.rows():
            table.add_row(*row)
        output.print(table)
        output.print(comparison.explanation())
        if self.out is not None:
            comparison.save(self.out)
            wrote(self.out)
        else:
            next_step("add --out FOLDER to keep the tables and a figure")
