"""The rule by which our runs and the paper's own numbers are held against claims.

A claim is a list of comparisons: an error on the left is said to be some factor of one on the
right. For every seed the logarithms of these ratios are averaged; the interval is Student's, at
95 %, over seeds. The claim holds if the whole interval is on its side of the bound, and is
contradicted if the whole interval is on the other side; otherwise runs do not decide it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from algotransfer.report.claims import CLAIMS, OWN_CLAIMS, Cell, Claim, Error

CONFIDENCE = 0.95
MISSING = "not enough runs yet"
UNPRINTED = "not in the paper"


@dataclass(frozen=True)
class Line:
    """One comparison in numbers: medians over our seeds, and what the paper printed.

    `ratio` is the median of the seeds' own ratios, by which a comparison agrees or not.
    """

    left: str
    right: str
    ours: tuple[float, float]
    ratio: float
    paper: tuple[float, float]


@dataclass(frozen=True)
class Verdict:
    """How a claim fares: in words, and the numbers behind.

    **Arguments:**

    - `factor`, `interval`: left over right, the geometric mean of all comparisons and seeds.
    - `agree`, `judged`: comparisons whose median over seeds agrees, and those that have two seeds.
    - `marked`: whether a run behind it has settings that are not the paper's.
    """

    claim: Claim
    ours: str
    paper: str
    lines: tuple[Line, ...]
    factor: float = math.nan
    interval: tuple[float, float] = (math.nan, math.nan)
    agree: int = 0
    judged: int = 0
    seeds: int = 0
    marked: bool = False


def judge(claim: Claim, values: Any, paper: Any) -> Verdict:
    """Judges a claim by our runs, paired over seeds, and by the paper's own numbers.

    **Arguments:**

    - `values`: what `seed_values` returns.
    - `paper`: what `paper_cells` returns.
    """
    theirs = _numbers(paper, "paper")
    printed = _printed(claim, theirs)
    networks = values[(values["row"] == "network") & (values["graph"] == "mean")]
    seeds = {seed: _numbers(of_seed) for seed, of_seed in networks.groupby("seed")}
    marked = bool(claim.cells & _numbers(networks[networks["marks"] != ""]).keys())
    ratios = np.array([_ratios(claim, numbers) for numbers in seeds.values()])  # [seed, pair]
    ratios = ratios.reshape(-1, len(claim.pairs))
    there = np.isfinite(ratios)
    judged = int(np.sum(there.sum(axis=0) >= 2))
    ratios = ratios[np.all(there, axis=1)]
    medians = np.median(ratios, axis=0) if len(ratios) else [math.nan] * len(claim.pairs)
    lines = tuple(
        _line(*pair, ratio, list(seeds.values()), theirs)
        for pair, ratio in zip(claim.pairs, map(_power, medians), strict=True)
    )
    small = _median_errors(claim.low, list(seeds.values()))
    if len(ratios) < 2 or any(map(math.isnan, small)):
        return Verdict(claim, MISSING, printed, lines, judged=judged, marked=marked)
    means = ratios.mean(axis=1)
    centre, half = float(means.mean()), _half_width(means)
    low, high = centre - half, centre + half
    bound = math.log10(claim.bound)
    inside, outside = (high < bound, low > bound) if claim.below else (low > bound, high < bound)
    if any(error > claim.level for error in small):
        inside, outside = False, True
    words = "holds" if inside else "contradicted" if outside else "undecided"
    agree = sum(claim.agrees(line.ratio) for line in lines)
    interval = (_power(low), _power(high))
    numbers = (_power(centre), interval, agree, judged, len(ratios))
    return Verdict(claim, words, printed, lines, *numbers, marked)


def judge_all(values: Any, paper: Any) -> list[Verdict]:
    """Verdicts on all claims, the paper's first."""
    return [judge(claim, values, paper) for claim in (*CLAIMS, *OWN_CLAIMS)]


def _line(
    left: Error, right: Error, ratio: float, seeds: list[Mapping[Cell, float]], theirs
) -> Line:
    ours = _median_errors((left, right), seeds)
    paper = (left.value(theirs), right.value(theirs))
    return Line(left.words, right.words, (ours[0], ours[1]), ratio, paper)


def _printed(claim: Claim, numbers: Mapping[Cell, float]) -> str:
    """The verdict on single numbers: in how many comparisons, and whether on the whole."""
    ratios = [ratio for ratio in _ratios(claim, numbers) if math.isfinite(ratio)]
    if not ratios:
        return UNPRINTED
    agree = sum(claim.agrees(_power(ratio)) for ratio in ratios)
    total = claim.agrees(_power(float(np.mean(ratios))))
    if any(error > claim.level for error in _median_errors(claim.low, [numbers])):
        total = False
    return f"{_word(agree, len(ratios), total)} ({agree} of {len(ratios)})"


def _word(agree: int, judged: int, total: bool) -> str:
    """One number per cell has no interval: most comparisons and their mean must both agree."""
    if agree == judged and total:
        return "holds"
    most = agree > judged / 2
    return "mostly" if most and total else "mixed" if most or total else "does not hold"


def _ratios(claim: Claim, numbers: Mapping[Cell, float]) -> list[float]:
    """Logarithms, base 10, of left over right."""
    return [
        math.log10(left.value(numbers)) - math.log10(right.value(numbers))
        for left, right in claim.pairs
    ]


def _median_errors(errors: tuple[Error, ...], seeds: list[Mapping[Cell, float]]) -> list[float]:
    values = [[error.value(numbers) for numbers in seeds] for error in errors]
    known = [[value for value in of_error if not math.isnan(value)] for of_error in values]
    return [float(np.median(of_error)) if of_error else math.nan for of_error in known]


def _half_width(means: np.ndarray) -> float:
    from scipy.stats import t

    error = means.std(ddof=1) / math.sqrt(len(means))
    return float(t.ppf((1 + CONFIDENCE) / 2, len(means) - 1) * error)


def _power(exponent: float) -> float:
    return float(10.0 ** min(max(exponent, -300), 300))


def _numbers(frame: Any, column: str = "value") -> dict[Cell, float]:
    """Numbers of the means over families by cell."""
    frame = frame[frame["graph"] == "mean"]
    names = ["supervision", "model", "method", "source", "target", "num_nodes", "metric"]
    keys = (tuple(map(str, key)) for key in frame[names].itertuples(index=False))
    return dict(zip(keys, frame[column], strict=True))
