"""`algotransfer discover`: learn the step of an algorithm from its answers."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from algotransfer.algorithms.registry import ALGORITHMS
from algotransfer.cli.options import check_file, choice, given_options, optional
from algotransfer.errors import UserError
from algotransfer.graphs.registry import FAMILIES


@dataclass(frozen=True)
class DiscoverCommand:
    """Learn the step of an algorithm from inputs and outputs alone, as a readable program."""

    target: Annotated[str, choice(ALGORITHMS)]
    """Algorithm whose final keys and predecessors are learned from; its steps are not used."""
    family: Annotated[tuple[str, ...], choice(FAMILIES)] = ("er", "ba", "grid")
    """Families of the training graphs."""
    num_graphs: int = 100
    """Number of training graphs of each family."""
    num_nodes: int = 20
    """Number of nodes of every training graph."""
    seed: int = 0
    """Seed of the training graphs."""
    data: Annotated[Path | None, optional("FILE")] = None
    """Dataset (.npz) to learn from instead of sampled graphs."""
    out: Annotated[Path | None, optional("PATH")] = None
    """File (.json) for the program."""

    def run(self) -> None:
        """Sample graphs, learn the step, print the program, write it."""
        ALGORITHMS.check(self.target)
        FAMILIES.check(*self.family)
        sampling = given_options(self, ("family", "num_graphs", "num_nodes", "seed"))
        if self.data is not None and sampling:
            raise UserError(f"{sampling[0]} samples training graphs; leave it out with --data")
        check_file(self.out, [".json"])
        from algotransfer.cli.console import announce, next_step, output, wrote

        announce(
            f"learning the step of {self.target} from answers; this takes seconds, or minutes if "
            "there is no such step"
        )
        from algotransfer.datasets import load_dataset, make_dataset
        from algotransfer.symbolic.discover import discover
        from algotransfer.symbolic.grammar import grammar

        start = time.perf_counter()
        if self.data is not None:
            dataset = load_dataset(self.data)
        else:
            dataset = make_dataset(self.family, self.num_graphs, self.num_nodes, self.seed)
        output.print(
            f"learning from the answers on {len(dataset):,} graphs, in {len(grammar(2)):,} terms"
        )
        program = discover(self.target, dataset.graphs)
        output.print(f"\n{program.source()}", soft_wrap=True)  # code stays valid
        output.print(f"learned in {time.perf_counter() - start:.1f} s")
        if self.out is None:
            next_step("add --out FILE.json to keep the program")
            return
        program.save(self.out)
        wrote(self.out)
        next_step(f"algotransfer certify {self.out}")
