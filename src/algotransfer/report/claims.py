"""Claims as data: the paper's eight and two of ours, each a list of comparisons of errors."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product

SMALLEST, LARGEST = 1e-6, 1e30  # errors beyond count as these, so that every ratio is a number
Cell = tuple[str, ...]  # supervision, model, method, source, target, num_nodes, metric


@dataclass(frozen=True)
class Error:
    """An error of one experiment, or the least of several; or how much it grows from a size on."""

    cells: tuple[Cell, ...]
    grown_from: tuple[Cell, ...] = ()

    @property
    def words(self) -> str:
        """What it is, in a few words."""
        supervision, model, method, source, target, nodes, metric = self.cells[0]
        if len(self.cells) > 1:
            return f"the best other method, {target}, {nodes} nodes, {metric}"
        start = f"{self.grown_from[0][-2]} to " if self.grown_from else ""
        parts = [f"{model} {supervision}", method, source, target, f"{start}{nodes} nodes", metric]
        return ", ".join(part for part in parts if part)

    def value(self, numbers: Mapping[Cell, float]) -> float:
        """Its value, or NaN where numbers are missing."""
        least = min((_number(numbers, cell) for cell in self.cells), key=_nan_first)
        if self.grown_from:
            least -= _number(numbers, self.grown_from[0])
        return math.nan if math.isnan(least) else min(max(least, SMALLEST), LARGEST)


@dataclass(frozen=True)
class Claim:
    """One sentence, of the paper or of ours, and how it is judged.

    **Arguments:**

    - `pairs`: errors on the left and on the right of each comparison.
    - `bound`: the factor, left over right, that separates the claim from its contrary.
    - `below`: whether the claim is a factor below the bound; otherwise one above it.
    - `low`: errors that must also be small, at most `level` each.
    """

    name: str
    sentence: str
    pairs: tuple[tuple[Error, Error], ...]
    bound: float = 1.0
    below: bool = True
    low: tuple[Error, ...] = ()
    level: float = 0.05

    @property
    def cells(self) -> set[Cell]:
        """All cells that it is about."""
        errors = [*(error for pair in self.pairs for error in pair), *self.low]
        return {cell for error in errors for cell in (*error.cells, *error.grown_from)}

    def agrees(self, factor: float) -> bool:
        """Whether a factor is on the claim's side."""
        return factor < self.bound if self.below else factor > self.bound


def _number(numbers: Mapping[Cell, float], cell: Cell) -> float:
    value = numbers.get(cell, math.nan)
    return LARGEST if math.isinf(value) else value


def _nan_first(value: float) -> float:
    return -math.inf if math.isnan(value) else value  # the least of several needs all of them


MODELS = ("NE", "NE++")
TRANSFERS = ("freeze", "fine_tune", "two_processor")
SOURCES = {
    "dijkstra": "prim",
    "reliable_seq": "widest_seq",
    "bellman_ford": "bfs",
    "reliable_par": "widest_par",
}
SEVERAL = {"reliable_seq": "prim+dijkstra+dfs", "reliable_par": "bfs+bellman_ford"}
SEQUENTIAL, PARALLEL = ("dijkstra", "reliable_seq"), ("bellman_ford", "reliable_par")
SIZES = ("20", "50", "100")
LASTING = (
    ("NE", "dijkstra", "none"),
    ("NE++", "dijkstra", "none"),
    ("NE++", "dijkstra", "multitask"),
    ("NE++", "reliable_seq", "none"),
)


def _cell(model: str, target: str, nodes: str, metric: str = "pred", **other: str) -> Cell:
    words = {"supervision": "na", "method": "none", "source": "", **other}
    if words["method"] != "none" and not words["source"]:
        words["source"] = SOURCES[target]
    return (
        words["supervision"],
        model,
        words["method"],
        words["source"],
        target,
        nodes,
        metric,
    )


def _error(*place: str, **other: str) -> Error:
    return Error((_cell(*place, **other),))


def _pretrained(target: str, nodes: str) -> Cell:
    """NE++ beside a processor that several algorithms have shaped."""
    return _cell("NE++", target, nodes, method="two_processor", source=SEVERAL[target])


def _other_methods(nodes: str) -> list[Cell]:
    """All that NE++ multi-task is compared with on the most reliable path, one base at most."""
    all_of_them = product(MODELS, ("none", *TRANSFERS, "multitask"))
    others = [place for place in all_of_them if place != ("NE++", "multitask")]
    return [_cell(model, "reliable_seq", nodes, method=method) for model, method in others]


def _growth(model: str, target: str) -> Error:
    return Error((_cell(model, target, "100"),), (_cell(model, target, "20"),))


def _pairs(make: Callable[..., tuple[Error, Error]], *axes: tuple[str, ...]):
    return tuple(make(*place) for place in product(*axes))


CLAIMS = (
    Claim(
        "capacity",
        "More capacity hurts generalisation under teacher forcing: on Dijkstra at 50 and 100 "
        "nodes NE++ errs more than NE",
        _pairs(
            lambda nodes, metric: (
                _error("NE++", "dijkstra", nodes, metric, supervision="tf"),
                _error("NE", "dijkstra", nodes, metric, supervision="tf"),
            ),
            ("50", "100"),
            ("next", "key", "pred"),
        ),
        below=False,
    ),
    Claim(
        "no algorithm",
        "Without the algorithm, networks reach low predecessor errors of sequential algorithms "
        "(at most 0.2) at 20 nodes and lose them at 100: at least twice the error",
        _pairs(
            lambda model, target: (_error(model, target, "100"), _error(model, target, "20")),
            MODELS,
            SEQUENTIAL,
        ),
        bound=2.0,
        below=False,
        low=tuple(_error(model, target, "20") for model, target in product(MODELS, SEQUENTIAL)),
        level=0.2,
    ),
    Claim(
        "transfer",
        "freeze, fine_tune and two_processor do not improve the predecessor error of sequential "
        "algorithms at 100 nodes over no transfer (by a tenth or more)",
        _pairs(
            lambda model, target, method: (
                _error(model, target, "100", method=method),
                _error(model, target, "100"),
            ),
            MODELS,
            SEQUENTIAL,
            TRANSFERS,
        ),
        bound=0.9,
        below=False,
    ),
    Claim(
        "multi-task",
        "Multi-task learning improves the key error of sequential algorithms at 100 nodes by "
        "orders of magnitude: tenfold or more",
        _pairs(
            lambda model, target: (
                _error(model, target, "100", "key", method="multitask"),
                _error(model, target, "100", "key"),
            ),
            MODELS,
            SEQUENTIAL,
        ),
        bound=0.1,
    ),
    Claim(
        "best method",
        "NE++ multi-task has the lowest predecessor error of all on the most reliable path "
        "(sequential)",
        _pairs(
            lambda nodes: (
                _error("NE++", "reliable_seq", nodes, method="multitask"),
                Error((*_other_methods(nodes), _pretrained("reliable_seq", nodes))),
            ),
            SIZES,
        ),
    ),
    Claim(
        "pre-training",
        "Pre-training on several algorithms does not rescue transfer: at 100 nodes predecessors "
        "are not better than without (by a tenth or more)",
        tuple(
            (Error((_pretrained(target, "100"),)), _error("NE++", target, "100"))
            for target in SEVERAL
        ),
        bound=0.9,
        below=False,
    ),
    Claim(
        "parallel",
        "Parallel algorithms lose less than sequential ones: without the algorithm, the "
        "predecessor error grows less from 20 to 100 nodes",
        tuple(
            (_growth(model, parallel), _growth(model, sequential))
            for model in MODELS
            for parallel, sequential in zip(PARALLEL, SEQUENTIAL, strict=True)
        ),
    ),
    Claim(
        "trajectories",
        "The best of 10 trajectories beats their mean",
        _pairs(
            lambda model, target, nodes, metric: (
                _error(model, target, nodes, metric),
                _error(model, target, nodes, metric, supervision="na_mean"),
            ),
            MODELS,
            SEQUENTIAL,
            SIZES,
            ("key", "pred"),
        ),
    ),
)

OWN_CLAIMS = (
    Claim(
        "own state",
        "Ours, past the paper: without the algorithm, an executor whose only state is the "
        "algorithm's own (relax) errs less on Dijkstra at 100 nodes than NE and NE++ at the 20 of "
        "their training, and on all four targets in at most one predecessor of 100",
        _pairs(
            lambda model: (
                _error("relax", "dijkstra", "100"),
                _error(model, "dijkstra", "20"),
            ),
            MODELS,
        ),
        low=tuple(_error("relax", target, "100") for target in SOURCES),
        level=0.01,
    ),
    Claim(
        "lasting",
        "Ours, past the paper: networks whose answer must last up to ten steps after the end in "
        "training (extra_steps) err less at 100 nodes than the same networks without: NE and NE++ "
        "on Dijkstra, NE++ multi-task on Dijkstra, NE++ on the most reliable path",
        tuple(
            (
                _error(model, target, "100", method=method, supervision="na_extra10"),
                _error(model, target, "100", method=method),
            )
            for model, target, method in LASTING
        ),
    ),
)
