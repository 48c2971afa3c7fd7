"""`algotransfer explore`: write a page that shows an execution step by step."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional

from algotransfer.algorithms.registry import ALGORITHMS
from algotransfer.cli.options import check_file, choice, given_options, optional
from algotransfer.errors import UserError, shown
from algotransfer.graphs.registry import FAMILIES

if TYPE_CHECKING:
    from algotransfer.graphs import NamedGraph


@dataclass(frozen=True)
class ExploreCommand:
    """Write a page on which an algorithm and trained networks run step by step, on any graph.

    The page is one HTML file that opens in any browser without a network connection. Edit the graph
    there, and algorithm and networks answer at once. Without a model it shows the algorithm alone.
    """

    models: Positional[tuple[str, ...]] = ()
    """Trained models of one algorithm: names (`algotransfer list models`), run folders or files."""
    graph: Annotated[Path | None, optional("FILE", "a sampled test graph")] = None
    """Your own graph: an edge list (.csv with source,target,weight) or GraphML (.graphml)."""
    family: Annotated[str, choice(FAMILIES)] = "er"
    """Family of the sampled graph."""
    num_nodes: int = 20
    """Number of nodes of the sampled graph."""
    seed: int = 0
    """Seed of the sampled graph."""
    algorithm: Annotated[tuple[str, ...], choice(ALGORITHMS, "dijkstra")] = ()
    """Algorithms to show without a model; the page switches between several."""
    source: Annotated[str | None, optional("NODE", "the first node, or the sampled one")] = None
    """Source node, by name or index."""
    model_seed: Annotated[int | None, optional("INT", "the first that did not diverge")] = None
    """Seed of the models to run."""
    blind: bool = False
    """Give the networks nothing of the true answer, as `execute` does. By default they get what
    `evaluate` gives them: the number for ∞ and, if trained without steps, the number of steps."""
    halt: Annotated[
        str | None, optional("{told,horizon,settled}", "told; with --blind, that of execute")
    ] = None
    """When the answer of a model that learned from answers alone is read: told (after the
    algorithm's number of steps), horizon (after the longest training rollout) or settled (once no
    predecessor has changed for five steps). The page can switch the rule."""
    out: Path = Path("explore.html")
    """File to write (.html)."""

    def run(self) -> None:
        """Write the page."""
        self._check()
        from algotransfer.cli.console import announce, next_step, wrote

        announce(f"writing {self.out}, in seconds; nothing is compiled")
        from algotransfer.explorer import explore
        from algotransfer.explorer.explore import sample_title

        sampled = sample_title(self.family, self.num_nodes, self.seed)
        title = self.graph.name if self.graph else sampled
        page = explore(
            self._graph(),
            self.models,
            algorithm=self.algorithm or None,
            seed=self.model_seed,
            blind=self.blind,
            halt=self.halt,
            title=title,
        )
        page.save(self.out)
        wrote(self.out)
        next_step("open it in a browser" if self.models else "name a trained model to compare")

    def _check(self) -> None:
        """Check all options before anything is computed."""
        FAMILIES.check(self.family)
        ALGORITHMS.check(*self.algorithm)
        check_file(self.out, [".html"])
        sampling = given_options(self, ("family", "num_nodes", "seed"))
        if self.graph is not None and sampling:
            raise UserError(f"{sampling[0]} samples a graph; leave it out with --graph")
        of_networks = given_options(self, ("model_seed", "blind", "halt"))
        if of_networks and not self.models:
            raise UserError(f"{of_networks[0]} is a setting of networks; name a trained model too")

    def _graph(self) -> NamedGraph:
        from algotransfer.cli.options import read_user_graph
        from algotransfer.graphs import from_networkx, sample_graphs, to_networkx
        from algotransfer.graphs.named import INTEGER

        if self.graph is not None:
            return read_user_graph(self.graph, self.source)
        graph = sample_graphs(self.family, 1, self.num_nodes, self.seed, split="test")[0]
        if self.source is not None and not INTEGER.fullmatch(self.source):
            given = shown(self.source)
            raise UserError(f"--source {given}; nodes of a sampled graph are numbers")
        source = int(graph.source) if self.source is None else int(self.source)
        return from_networkx(to_networkx(graph), source)
