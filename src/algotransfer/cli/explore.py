"""`algotransfer explore`: an execution to step through, as one HTML file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional, arg

from algotransfer.cli.output_paths import check_file
from algotransfer.errors import UserError
from algotransfer.names import ALGORITHM_NAMES, FAMILY_NAMES, check_name

if TYPE_CHECKING:
    from algotransfer.graphs import NamedGraph


@dataclass(frozen=True)
class Explore:
    """See an execution step by step: the algorithm, and beside it what trained networks do.

    Writes one HTML file that opens in any browser, without a network connection. Without a model
    it shows the algorithm alone.
    """

    models: Positional[tuple[str, ...]] = ()
    """Run folders, weights files, or names of weights that come with the package; all of them have
    learned one algorithm."""
    graph: Path | None = None
    """Your own graph: an edge list (.csv with source,target,weight) or GraphML (.graphml)."""
    family: Annotated[str, arg(metavar="{" + ",".join(FAMILY_NAMES) + "}")] = "er"
    """Otherwise a graph is sampled, one that no training has seen: its family."""
    nodes: int = 20
    """Number of nodes of the sampled graph."""
    seed: int = 0
    """Another seed samples another graph."""
    algorithm: Annotated[
        tuple[str, ...],
        arg(metavar="{" + ",".join(ALGORITHM_NAMES) + "}", help_behavior_hint="(dijkstra)"),
    ] = ()
    """What to show without a model; the page can switch between several."""
    source: str | None = None
    """Node to start from, by name or index."""
    model_seed: int | None = None
    """Which of the models' seeds; by default the first that did not diverge."""
    blind: bool = False
    """Tell the networks nothing of the answer, as `execute` does; by default they are told what
    `evaluate` tells them: what stands for ∞ and, without the steps, their number."""
    out: Path = Path("explore.html")
    """File to write (.html)."""

    def run(self) -> None:
        """Runs the algorithm and the networks, writes the page, says where they part."""
        self._check()
        from algotransfer.cli.console import next_step, output, progress_bar, wrote
        from algotransfer.explorer import explore
        from algotransfer.explorer.explore import sample_title

        title = self.graph.name if self.graph else sample_title(self.family, self.nodes, self.seed)
        with progress_bar() as bar:
            task = bar.add_task("the algorithm", total=len(self.models) + 1)
            viewer = explore(
                self._graph(),
                self.models,
                algorithm=self.algorithm or None,
                seed=self.model_seed,
                blind=self.blind,
                title=title,
                progress=lambda label: bar.update(task, description=label, advance=1),
            )
        for network in viewer.scene["networks"]:
            said = network["divergence"]["sentence"]
            output.print(f"{network['label']}: {said}", soft_wrap=True)
        viewer.save(self.out)
        wrote(self.out)
        next_step("open it in a browser" if self.models else "name a trained model to compare")

    def _check(self) -> None:
        """Refuses what cannot be meant, before anything is computed."""
        check_name("graph family", self.family, FAMILY_NAMES)
        for name in self.algorithm:
            check_name("algorithm", name, ALGORITHM_NAMES)
        if self.out.suffix != ".html":
            raise UserError(f"--out {self.out}: expected a name that ends in .html")
        check_file(self.out)
        sampling = (self.family, self.nodes, self.seed)
        if self.graph is not None and sampling != (Explore.family, Explore.nodes, Explore.seed):
            raise UserError(
                "--graph is a graph of your own; leave out --family, --nodes and --seed, which "
                "sample one"
            )

    def _graph(self) -> NamedGraph:
        from algotransfer.cli.user_graph import read_own
        from algotransfer.graphs import from_networkx, sample_graphs, to_networkx

        if self.graph is not None:
            return read_own(self.graph, self.source)
        graph = sample_graphs(self.family, 1, self.nodes, self.seed, split="test")[0]
        if self.source is not None and not self.source.isdecimal():
            raise UserError(f"--source {self.source}: nodes of a sampled graph are numbers")
        source = int(graph.source) if self.source is None else int(self.source)
        return from_networkx(to_networkx(graph), source)
