"""Claims as data: sentences of the paper and of ours, each with the comparisons that decide it.

We chose which of the paper's sentences to judge. A comparison has an error on the left and an
error, or a fixed level, on the right.
"""

from dataclasses import dataclass
from itertools import product
from typing import Literal

from algotransfer.evaluation.summary import PAPER_MODELS

CellKey = tuple[str, ...]  # supervision, model, method, source, target, num_nodes, metric
Comparison = tuple[CellKey, CellKey | float]

EQUIVALENCE = 1.25  # errors within this factor of each other count as equal
PAPER_BASES = {
    "dijkstra": "prim",
    "reliable_seq": "widest_seq",
    "bellman_ford": "bfs",
    "reliable_par": "widest_par",
}
PRETRAINING_BASES = {"reliable_seq": "prim+dijkstra+dfs", "reliable_par": "bfs+bellman_ford"}
SEQUENTIAL, PARALLEL = ("dijkstra", "reliable_seq"), ("bellman_ford", "reliable_par")
NETWORKS = tuple(PAPER_MODELS.values())
METRICS = {"pred": "predecessors", "key": "keys"}
TRANSFERS = ("freeze", "fine_tune", "two_processor")
EXTRA_STEPS_RUNS = (
    ("NE", "dijkstra", "none"),
    ("NE++", "dijkstra", "none"),
    ("NE++", "dijkstra", "multitask"),
    ("NE++", "reliable_seq", "none"),
)


@dataclass(frozen=True)
class Claim:
    """A sentence about left / right, and the comparisons that decide it."""

    name: str
    quote: str  # of the paper, with the section or table; empty for our own claims
    sentence: str
    comparisons: tuple[Comparison, ...]
    relation: Literal["below", "above", "within"] = "below"  # within: from 1 / bound to bound
    bound: float = 1.0

    @property
    def text(self) -> str:
        """The quotation, if any, and the sentence."""
        return f"{self.quote or 'Ours, not in the paper'}: {self.sentence}."

    @property
    def cells(self) -> set[CellKey]:
        """All cells of its comparisons."""
        return {side for pair in self.comparisons for side in pair if isinstance(side, tuple)}

    def agrees(self, factor: float) -> bool:
        """Whether a factor, left over right, is on the claim's side of the bound."""
        if self.relation == "within":
            return 1 / self.bound < factor < self.bound
        return factor < self.bound if self.relation == "below" else factor > self.bound


def cell_key(
    model: str,
    target: str,
    nodes: int = 100,
    metric: str = "pred",
    method: str = "none",
    supervision: str = "na",
    source: str | None = None,
) -> CellKey:
    """Return the key of a mean over families; the base is the paper's unless given."""
    if source is None:
        source = "" if method == "none" else PAPER_BASES[target]
    return supervision, model, method, source, target, str(nodes), metric


def _pretrained(target: str) -> CellKey:
    source = PRETRAINING_BASES[target]
    return cell_key("NE++", target, method="two_processor", source=source)


def _methods(
    lefts: tuple[str, ...], rights: tuple[str, ...], targets: tuple[str, ...], metric: str = "pred"
) -> tuple[Comparison, ...]:
    """Compare transfer methods at 100 nodes, for both networks."""
    return tuple(
        (cell_key(m, t, 100, metric, left), cell_key(m, t, 100, metric, right))
        for m, t, left, right in product(NETWORKS, targets, lefts, rights)
    )


def _networks(
    targets: tuple[str, ...], sizes: tuple[int, ...], metrics: tuple[str, ...], **other: str
) -> tuple[Comparison, ...]:
    """Compare NE++ with NE."""
    return tuple(
        (cell_key("NE++", *place, **other), cell_key("NE", *place, **other))
        for place in product(targets, sizes, metrics)
    )


def _best_and_mean() -> tuple[Comparison, ...]:
    """Compare training on the best of ten trajectories with training on their mean."""
    places = product(NETWORKS, SEQUENTIAL, (20, 50, 100), ("key", "pred"))
    return tuple((cell_key(*p), cell_key(*p, supervision="na_mean")) for p in places)


PAPER_CLAIMS = (
    *(
        Claim(
            f"multi-task, {word}",
            f"“Multi-task helps systematic generalisation” (§6.1), {word}",
            "on sequential algorithms at 100 nodes, multi-task errs less than no transfer",
            _methods(("multitask",), ("none",), SEQUENTIAL, metric),
        )
        for metric, word in METRICS.items()
    ),
    *(
        Claim(
            f"multi-task and transfer, {word}",
            f"“Multi-task learning is the correct approach to transfer knowledge” (§6.1), {word}",
            "on sequential algorithms at 100 nodes, multi-task errs less than freeze, fine_tune "
            "and two_processor",
            _methods(("multitask",), TRANSFERS, SEQUENTIAL, metric),
        )
        for metric, word in METRICS.items()
    ),
    Claim(
        "multi-task networks",
        "“In this setting NE++ always outperforms the simpler architecture” (§7)",
        "with multi-task, NE++ has a lower predecessor error than NE on all four targets at 20, 50 "
        "and 100 nodes",
        _networks((*SEQUENTIAL, *PARALLEL), (20, 50, 100), ("pred",), method="multitask"),
    ),
    Claim(
        "transfer harms",
        "“They harm systematic generalisation in terms of Pred. prediction in all cases” (§6.1)",
        "on sequential algorithms at 100 nodes, freeze, fine_tune and two_processor err more than "
        "no transfer",
        _methods(TRANSFERS, ("none",), SEQUENTIAL),
        "above",
    ),
    Claim(
        "transfer does not help",
        "“None of the transfer methods help generalise either task significantly” (§6.1)",
        "the same comparisons: predecessor errors are not lower by a tenth or more",
        _methods(TRANSFERS, ("none",), SEQUENTIAL),
        "above",
        0.9,
    ),
    Claim(
        "transfer, keys",
        "“The only benefit that can be observed is better generalisation on Key accuracy” (§6.1)",
        "on sequential algorithms at 100 nodes, keys of the three transfer methods err less than "
        "without transfer",
        _methods(TRANSFERS, ("none",), SEQUENTIAL, "key"),
    ),
    Claim(
        "pre-training",
        "“Pre-training on several tasks does not improve classic transfer” (Tab. 5)",
        "at 100 nodes the predecessor error of NE++ two_processor on the most reliable path is not "
        "lower with several bases than with one, by a tenth or more",
        tuple(
            (_pretrained(target), cell_key("NE++", target, method="two_processor"))
            for target in PRETRAINING_BASES
        ),
        "above",
        0.9,
    ),
    Claim(
        "pre-training and multi-task",
        "“Multi-task learning with the target algorithm is still the best approach” (§6.1)",
        "the same networks: multi-task errs less than pre-training on several algorithms",
        tuple(
            (cell_key("NE++", target, method="multitask"), _pretrained(target))
            for target in PRETRAINING_BASES
        ),
    ),
    Claim(
        "expressivity",
        "“Expressivity can harm systematic generalisation” (§6.1)",
        "with teacher forcing on Dijkstra at 50 and 100 nodes, NE++ errs more than NE in next "
        "nodes, keys and predecessors",
        _networks(("dijkstra",), (50, 100), ("next", "key", "pred"), supervision="tf"),
        "above",
    ),
    Claim(
        "expressivity, most reliable path",
        "“On Most reliable both do equally well on Key and Pred.” (§6.1)",
        "with teacher forcing at 20, 50 and 100 nodes, NE++ and NE differ by less than a factor of "
        f"{EQUIVALENCE}",
        _networks(("reliable_seq",), (20, 50, 100), ("key", "pred"), supervision="tf"),
        "within",
        EQUIVALENCE,
    ),
    Claim(
        "no algorithm",
        "“Size-generalisation is lacking without intermediate steps” (Tab. 2)",
        "on sequential algorithms without transfer, the predecessor error at 100 nodes is more "
        "than twice that at 20",
        tuple((cell_key(m, t), cell_key(m, t, 20)) for m, t in product(NETWORKS, SEQUENTIAL)),
        "above",
        2.0,
    ),
    Claim(
        "parallel",
        "“Parallel algorithms are significantly easier than sequential ones” (§6.2)",
        "without the algorithm and without transfer, at 100 nodes, predecessor errors on "
        "Bellman–Ford are lower than on Dijkstra, and on the parallel most reliable path lower "
        "than on the sequential one",
        tuple(
            (cell_key(model, parallel), cell_key(model, sequential))
            for model in NETWORKS
            for parallel, sequential in zip(PARALLEL, SEQUENTIAL, strict=True)
        ),
    ),
    Claim(
        "parallel multi-task, keys",
        "Multi-task “significantly improves Key prediction compared to NA” (§6.2)",
        "on parallel algorithms at 100 nodes, keys of multi-task err less than without transfer",
        _methods(("multitask",), ("none",), PARALLEL, "key"),
    ),
    Claim(
        "parallel multi-task, predecessors",
        "“… while keeping Pred. similar” (§6.2)",
        "on parallel algorithms at 100 nodes, predecessor errors of multi-task and no transfer "
        f"differ by less than a factor of {EQUIVALENCE}",
        _methods(("multitask",), ("none",), PARALLEL),
        "within",
        EQUIVALENCE,
    ),
    Claim(
        "trajectories",
        "The best of ten trajectories “helps stabilise and improve training compared to taking the "
        "mean” (§4.2)",
        "on sequential algorithms at 20, 50 and 100 nodes, keys and predecessors err less",
        _best_and_mean(),
    ),
)

OWN_CLAIMS = (
    Claim(
        "trajectories, no difference",
        "",
        "the same comparisons: the best of ten trajectories and their mean differ by less than a "
        f"factor of {EQUIVALENCE}",
        _best_and_mean(),
        "within",
        EQUIVALENCE,
    ),
    Claim(
        "relax",
        "",
        "without the algorithm, the relaxation executor (relax) errs less on Dijkstra at 100 nodes "
        "than NE and NE++ at the 20 nodes of their training graphs",
        tuple((cell_key("relax", "dijkstra"), cell_key(m, "dijkstra", 20)) for m in NETWORKS),
    ),
    Claim(
        "relax, level",
        "",
        "relax errs in less than one predecessor of 100 at 100 nodes, over all four targets",
        tuple((cell_key("relax", target), 0.01) for target in PAPER_BASES),
    ),
    Claim(
        "extra steps",
        "",
        "networks trained with up to ten extra steps err less at 100 nodes than the same networks "
        "without: NE and NE++ on Dijkstra, NE++ multi-task on Dijkstra, NE++ on the most reliable "
        "path",
        tuple(
            (
                cell_key(model, target, method=method, supervision="na_extra10"),
                cell_key(model, target, method=method),
            )
            for model, target, method in EXTRA_STEPS_RUNS
        ),
    ),
)
