"""Verdicts on claims, from our seeds and from the paper's own numbers.

A claim holds or is contradicted if the geometric mean of its factors, left over right, is
significantly on one side of the claim's bound; otherwise it is undecided. Seeds are independent
samples: each experiment contributes the mean over its seeds of the log errors that the claim needs,
and Welch's standard error of that mean.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from algotransfer.report.claims import OWN_CLAIMS, PAPER_CLAIMS, CellKey, Claim, Comparison
from algotransfer.report.statistics import CONFIDENCE, Contrast, holm, welch_contrast

# Bounds of errors before their logarithm is taken. Largest: the squared error of answering 0 at
# the largest distance that the paper names, 51.
SMALLEST_ERROR, LARGEST_ERROR = 1e-6, 51.0**2
HALTS = {"told": "end of the rollout", "horizon": "training horizon"}
MISSING, UNPRINTED = "not enough runs", "not in the paper"

SeedErrors = Mapping[CellKey, Mapping[Any, float]]  # by cell and seed


@dataclass(frozen=True)
class Effect:
    """The geometric mean of factors, left over right, with its 95 % interval."""

    factor: float
    interval: tuple[float, float]
    seeds: tuple[int, int]  # the least and the most of the experiments compared
    contrast: Contrast


@dataclass(frozen=True)
class Verdict:
    """How our runs decide a claim under one halting rule."""

    claim: Claim
    word: str  # `holds`, `contradicted`, `undecided`, or `MISSING`
    effect: Effect | None  # of all comparisons; None if one of them has fewer than two seeds
    p_value: float  # after Holm's correction for all tests of the report
    comparisons: tuple[Effect | None, ...]
    errors: Mapping[CellKey, list[float]]  # of all seeds
    marked: bool  # whether a run has settings that are not the paper's

    @property
    def agree(self) -> int:
        """The number of comparisons whose factor is on the claim's side."""
        return sum(e is not None and self.claim.agrees(e.factor) for e in self.comparisons)


@dataclass(frozen=True)
class JudgedClaim:
    """A claim, its verdicts by halting rule, and how the paper's own numbers fit it."""

    claim: Claim
    verdicts: Mapping[str, Verdict]
    paper: str
    printed: Mapping[CellKey, float]  # the paper's numbers


def judge_claims(
    values: Mapping[str, Any], paper: Any, claims: Sequence[Claim] = (*PAPER_CLAIMS, *OWN_CLAIMS)
) -> list[JudgedClaim]:
    """Judge claims by `seed_values` of every halting rule, and by the paper's numbers.

    Every claim has a verdict for `told`; for other halting rules only those whose runs were
    evaluated with that rule.
    """
    drafts: list[tuple[str, Verdict]] = []
    for halt, of_halt in values.items():
        errors, marked = seed_errors(of_halt), {*_keys(_mean_cells(of_halt).query("marks != ''"))}
        drafts += [(halt, _measure_claim(claim, errors, marked)) for claim in claims]
    drafts = [(halt, v) for halt, v in drafts if v.effect is not None or halt == "told"]
    adjusted = iter(holm([v.p_value for _, v in drafts if v.effect is not None]))
    verdicts: dict[str, dict[str, Verdict]] = defaultdict(dict)
    for halt, verdict in drafts:
        if verdict.effect is not None:
            p_value, word = next(adjusted), "undecided"
            if p_value < 1 - CONFIDENCE:
                agrees = verdict.claim.agrees(verdict.effect.factor)
                word = "holds" if agrees else "contradicted"
            verdict = replace(verdict, word=word, p_value=p_value)
        verdicts[verdict.claim.name][halt] = verdict
    means = paper[paper["graph"] == "mean"]
    printed = dict(zip(_keys(means), means["paper"], strict=True))
    return [JudgedClaim(c, verdicts[c.name], _judge_paper(c, printed), printed) for c in claims]


def measure(comparisons: Sequence[Comparison], errors: SeedErrors) -> Effect | None:
    """Return the mean factor of comparisons, or None if an experiment has fewer than two seeds.

    Errors of one experiment at several sizes or in several metrics come from the same seeds, so
    their weighted logarithms are added up per seed before means and variances are taken.
    """
    level = 0.0
    weights: dict[CellKey, float] = defaultdict(float)
    for left, right in comparisons:
        weights[left] += 1 / len(comparisons)
        if isinstance(right, tuple):
            weights[right] -= 1 / len(comparisons)
        else:
            level -= math.log10(right) / len(comparisons)
    scores: dict[CellKey, dict[Any, list[float]]] = {}
    for cell, weight in weights.items():
        of_experiment = scores.setdefault(cell[:5], defaultdict(list))
        for seed, error in errors.get(cell, {}).items():
            of_experiment[seed].append(weight * log_error(error))
    cells = {experiment: sum(cell[:5] == experiment for cell in weights) for experiment in scores}
    samples = [
        [sum(parts) for parts in of_experiment.values() if len(parts) == cells[experiment]]
        for experiment, of_experiment in scores.items()
    ]
    counts = [len(sample) for sample in samples]
    if min(counts) < 2:
        return None
    contrast = welch_contrast(samples)
    contrast = Contrast(contrast.estimate + level, contrast.error, contrast.freedom)
    low, high = contrast.interval()
    seeds = min(counts), max(counts)
    return Effect(10**contrast.estimate, (10**low, 10**high), seeds, contrast)


def log_error(error: float) -> float:
    """Return the logarithm, base 10, of an error between its bounds."""
    return math.log10(min(max(error, SMALLEST_ERROR), LARGEST_ERROR))


def seed_errors(values: Any) -> SeedErrors:
    """Return errors of networks, means over families, by cell and seed, without NaN."""
    networks = _mean_cells(values)
    found: dict[CellKey, dict[Any, float]] = defaultdict(dict)
    rows = zip(_keys(networks), networks["seed"], networks["value"], strict=True)
    for key, seed, value in rows:
        if not math.isnan(value):
            found[key][seed] = value
    return found


def _measure_claim(claim: Claim, errors: SeedErrors, marked: set[CellKey]) -> Verdict:
    """Return a verdict without a word, with the uncorrected p-value."""
    effect = measure(claim.comparisons, errors)
    single = tuple(measure((pair,), errors) for pair in claim.comparisons)
    seeds = {cell: list(errors[cell].values()) for cell in claim.cells if cell in errors}
    p_value = _p_value(claim, effect) if effect else math.nan
    mark = bool(claim.cells & marked)
    return Verdict(claim, MISSING, effect, p_value, single, seeds, mark)


def _p_value(claim: Claim, effect: Effect) -> float:
    contrast, bound = effect.contrast, math.log10(claim.bound)
    if claim.relation != "within":
        return contrast.p_differs(bound)
    if claim.agrees(effect.factor):
        return contrast.p_within(bound)
    return contrast.p_differs(math.copysign(bound, contrast.estimate))


def _judge_paper(claim: Claim, numbers: Mapping[CellKey, float]) -> str:
    """Judge a claim by the paper's single numbers: all comparisons, most of them, or fewer."""
    ratios = []
    for left, right in claim.comparisons:
        beside = numbers.get(right, math.nan) if isinstance(right, tuple) else right
        if not math.isnan(beside) and left in numbers:
            ratios.append(log_error(numbers[left]) - log_error(beside))
    if not ratios:
        return UNPRINTED
    agree = sum(claim.agrees(10**ratio) for ratio in ratios)
    mean = claim.agrees(10 ** float(np.mean(ratios)))
    most = agree > len(ratios) / 2
    words = {(True, True): "mostly", (False, False): "does not hold"}
    word = "holds" if agree == len(ratios) else words.get((most, mean), "mixed")
    return f"{word} ({agree} of {len(ratios)})"


def _mean_cells(values: Any) -> Any:
    return values[(values["row"] == "network") & (values["graph"] == "mean")]


def _keys(frame: Any) -> list[CellKey]:
    names = ["supervision", "model", "method", "source", "target", "num_nodes", "metric"]
    return [tuple(map(str, key)) for key in frame[names].itertuples(index=False)]
