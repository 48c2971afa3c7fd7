"""Agreement with the paper: how far our medians are from its numbers, in both directions."""

from dataclasses import dataclass
from typing import Any

from algotransfer.report.cells import CELL
from algotransfer.report.claims import PARALLEL, SEQUENTIAL

NEAR, FAR = 1.25, 2.0  # factors between our median and the paper's number
FRAMEWORKS = {**dict.fromkeys(SEQUENTIAL, "sequential"), **dict.fromkeys(PARALLEL, "parallel")}
SUPERVISIONS = {
    "tf": "teacher forcing",
    "na": "no algorithm, best of ten trajectories",
    "na_mean": "no algorithm, mean of ten trajectories",
}


@dataclass(frozen=True)
class AgreementCount:
    """Counts of cells by the ratio of our median to the paper's number.

    `within_near`, `above` and `below` add up to `cells`; `within_far` includes `within_near`.
    """

    cells: int
    within_near: int
    within_far: int
    above: int
    below: int
    in_range: int  # cells where the paper's number is between our least and our largest seed


@dataclass(frozen=True, eq=False)
class KnownReason:
    """Cells for which docs/deviations.md states a reason, and the reason."""

    name: str
    where: dict[str, tuple[Any, ...]]
    reason: str


KNOWN_REASONS = (
    KnownReason(
        "NE++ multi-task, sequential, 50 and 100 nodes",
        {
            "model": ("NE++",),
            "method": ("multitask",),
            "source": ("prim", "widest_seq"),
            "num_nodes": (50, 100),
        },
        "Most of our seeds lose their answer after the number of steps seen in training "
        "(“Targets missed so far” on the deviations page).",
    ),
    KnownReason(
        "most reliable path, sequential, teacher forcing",
        {"supervision": ("tf",), "target": ("reliable_seq",)},
        "The paper swaps NE and NE++ between two of its tables (deviation S5).",
    ),
)


@dataclass(frozen=True)
class Agreement:
    """Counts of all cells, by class, and where a reason is known."""

    total: AgreementCount
    missing: int  # cells of the paper that we have not run
    classes: dict[tuple[str, str], AgreementCount]
    reasons: dict[KnownReason, AgreementCount]
    unexplained: AgreementCount


def measure_agreement(cells: Any) -> Agreement:
    """Compare every mean of `table_cells` with the median over our seeds, each cell once."""
    cells = cells[(cells["graph"] == "mean") & cells["paper"].notna()].drop_duplicates(CELL)
    run = cells[cells["median"].notna()]
    run = run.assign(framework=run["target"].map(FRAMEWORKS))
    classes = {}
    for column in ("supervision", "framework", "num_nodes", "metric"):
        for name in dict.fromkeys(run[column]):
            classes[column, str(name)] = _count(run[run[column] == name])
    reasons, explained = {}, run["target"].isna()  # none yet
    for reason in KNOWN_REASONS:
        chosen = run["target"].notna()
        for column, names in reason.where.items():
            chosen &= run[column].isin(names)
        reasons[reason] = _count(run[chosen])
        explained |= chosen
    missing = len(cells) - len(run)
    return Agreement(_count(run), missing, classes, reasons, _count(run[~explained]))


def _count(cells: Any) -> AgreementCount:
    ratio = cells["median"] / cells["paper"]
    return AgreementCount(
        len(cells),
        int(((ratio >= 1 / NEAR) & (ratio <= NEAR)).sum()),
        int(((ratio >= 1 / FAR) & (ratio <= FAR)).sum()),
        int((ratio > NEAR).sum()),
        int((ratio < 1 / NEAR).sum()),
        int(((cells["low"] <= cells["paper"]) & (cells["paper"] <= cells["high"])).sum()),
    )
