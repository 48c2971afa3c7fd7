"""Sections of the report, and the wording of those on claims and on agreement."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from matplotlib.figure import Figure

from algotransfer.evaluation.result_tables import number
from algotransfer.report.agreement import FAR, NEAR, SUPERVISIONS, Agreement, AgreementCount
from algotransfer.report.cells import count_range
from algotransfer.report.claims import EQUIVALENCE, CellKey
from algotransfer.report.report_tables import ReportRow, ReportTable
from algotransfer.report.statistics import CONFIDENCE
from algotransfer.report.verdicts import (
    HALTS,
    LARGEST_ERROR,
    SMALLEST_ERROR,
    Effect,
    JudgedClaim,
    Verdict,
)

RULE = (
    "How claims are judged. We chose these sentences of the paper. Each stands for comparisons of "
    "an error on the left with one on the right; the factor is left / right, a geometric mean over "
    f"the seeds of each error and then over comparisons, with its {CONFIDENCE:.0%} interval. All "
    "comparisons weigh the same, also those with more seeds. Seeds are unpaired: the test is "
    "Welch's, on log errors, with p-values corrected by Holm's method for all tests of this "
    f"table. A claim *holds* or is *contradicted* if p is below {1 - CONFIDENCE:.2f}; otherwise it "
    "is *undecided*: too few seeds, not evidence of no effect. A claim of no difference holds if "
    f"the factor is significantly between 1 / {EQUIVALENCE} and {EQUIVALENCE} (two one-sided "
    "tests). In brackets: the comparisons whose own factor is on the claim's side. Errors below "
    f"{SMALLEST_ERROR:.0e} count as that, and key errors above {LARGEST_ERROR:,.0f} = 51², the "
    "squared error of answering 0 at the largest distance that the paper names, count as that: two "
    "exploded keys are equal. "
    "The paper has one run, so its own numbers have no interval: a claim holds *mostly* if most "
    "comparisons and their geometric mean agree, and is *mixed* if only one of the two does. "
    "† marks verdicts on runs whose settings are not the paper's."
)
COMPARISONS = "Medians over seeds (number of seeds, range); 95 % intervals, uncorrected"


@dataclass(frozen=True)
class ReportFigure:
    """A figure that is drawn only in formats that show it; `draw` returns None without runs."""

    title: str
    caption: str
    draw: Callable[[], Figure | None]


@dataclass(frozen=True)
class Section:
    """A part of the report: paragraphs, tables, notes, folded tables and figures, in this order."""

    name: str
    title: str
    paragraphs: tuple[str, ...] = ()
    tables: tuple[ReportTable, ...] = ()
    notes: tuple[str, ...] = ()
    folded: tuple[ReportTable, ...] = ()
    figures: tuple[ReportFigure, ...] = ()


def make_claims_section(judged: Sequence[JudgedClaim]) -> Section:
    """Return the claims with a column of verdicts for each halting rule that has runs."""
    halts = [halt for halt in HALTS if any(halt in claim.verdicts for claim in judged)]
    heads = ["claim"]
    for halt in halts:
        heads += [f"our runs, {HALTS[halt]}", "factor"]
    rows = []
    for claim in judged:
        texts = [claim.claim.text]
        for halt in halts:
            verdict = claim.verdicts.get(halt)
            texts += [_verdict(verdict), _factor(verdict)] if verdict else ["", ""]
        told = claim.verdicts["told"]
        texts.append(claim.paper)
        rows.append(
            ReportRow(tuple(texts), kind=told.word.split()[0], details=_comparisons(claim, halts))
        )
    table = ReportTable(
        "claims", "Claims and verdicts", (*heads, "the paper's numbers"), tuple(rows)
    )
    scores = [_score(judged, halt) for halt in halts]
    return Section("claims", "Claims of the paper, and ours", tuple(scores), (table,), (RULE,))


def make_agreement_section(agreement: Agreement) -> Section:
    """Return how far our medians are from the paper's numbers, by class and known reason."""
    total = agreement.total
    summary = (
        f"Our medians over seeds beside {total.cells} numbers of the paper (means over families, "
        f"each once): {total.within_near} within {NEAR - 1:.0%} ({_share(total.within_near, total)}"
        f"), {total.within_far} within a factor of {FAR:.0f} ({_share(total.within_far, total)}); "
        f"ours is above the paper's by more than {NEAR - 1:.0%} in {total.above}, below in "
        f"{total.below}. In {total.in_range} cells the paper's single run lies within the range of "
        "our seeds."
        + (f" {agreement.missing} cells have no run." if agreement.missing else "")
        + " All metrics here are errors, so below is better."
    )
    heads = (
        "class",
        "",
        "cells",
        f"within {NEAR - 1:.0%}",
        f"within {FAR:.0f}×",
        "ours above",
        "ours below",
        "paper in our range",
    )
    names = {"num_nodes": "nodes"}
    rows = [_count_row(("all", ""), total)]
    for (column, name), count in agreement.classes.items():
        label = SUPERVISIONS.get(name, name)
        rows.append(_count_row((names.get(column, column), label), count))
    title = f"Agreement with the paper by class (above, below: by more than {NEAR - 1:.0%})"
    classes = ReportTable("agreement-classes", title, heads, tuple(rows))
    known = [_count_row((reason.name, reason.reason), c) for reason, c in agreement.reasons.items()]
    known.append(_count_row(("all other cells", "No reason is known."), agreement.unexplained))
    heads = ("cells of", "known reason for differences", *heads[2:])
    reasons = ReportTable("agreement-reasons", "Where a reason is known", heads, tuple(known))
    return Section("agreement", "Agreement with the paper", (summary,), (classes, reasons))


def _score(judged: Sequence[JudgedClaim], halt: str) -> str:
    verdicts = [c.verdicts[halt] for c in judged if c.claim.quote and halt in c.verdicts]
    found = Counter(verdict.word for verdict in verdicts)
    counts = ", ".join(f"{count} × {word}" for word, count in found.most_common())
    return (
        f"{len(verdicts)} claims of the paper, chosen by us, in our runs, answers read at the "
        f"{HALTS[halt]} (`{halt}`): {counts}."
    )


def _verdict(verdict: Verdict) -> str:
    mark, total = " †" * verdict.marked, len(verdict.comparisons)
    if verdict.effect is None:
        known = sum(effect is not None for effect in verdict.comparisons)
        return f"{verdict.word}{mark} ({known} of {total} comparisons)"
    return f"**{verdict.word}**{mark} ({verdict.agree} of {total})"


def _factor(verdict: Verdict) -> str:
    claim, effect = verdict.claim, verdict.effect
    relation = {"within": f"between 1 / {number(claim.bound)} and"}.get(
        claim.relation, claim.relation
    )
    bound = f"claimed: {relation} {number(claim.bound)}"
    if effect is None:
        return bound
    p_value = "p below 0.001" if verdict.p_value < 0.001 else f"p = {number(verdict.p_value, 2)}"
    return f"{_interval(effect)}, {count_range(effect.seeds, 'seeds')}, {p_value}; {bound}"


def _comparisons(judged: JudgedClaim, halts: Sequence[str]) -> ReportTable:
    """Return each comparison's errors and factors, under every halting rule, and the paper's."""
    heads = ["left", "right"]
    for halt in halts:
        heads += [f"left, {HALTS[halt]}", "right", "factor"]
    rows = []
    for place, pair in enumerate(judged.claim.comparisons):
        texts = [_name(side) for side in pair]
        for halt in halts:
            verdict = judged.verdicts.get(halt)
            if verdict is None:
                texts += ["", "", ""]
                continue
            effect = verdict.comparisons[place]
            texts += [_errors(side, verdict) for side in pair]
            texts.append(_interval(effect) if effect else "–")
        texts += [_paper_number(side, judged) for side in pair]
        rows.append(ReportRow(tuple(texts)))
    heads += ["the paper, left", "right"]
    return ReportTable("comparisons", COMPARISONS, tuple(heads), tuple(rows))


def _name(side: CellKey | float) -> str:
    if not isinstance(side, tuple):
        return f"the level {number(side)}"
    supervision, model, method, source, target, nodes, metric = side
    parts = [f"{model} {supervision}", method, source, target, f"{nodes} nodes", metric]
    return ", ".join(part for part in parts if part)


def _errors(side: CellKey | float, verdict: Verdict) -> str:
    if not isinstance(side, tuple):
        return number(side)
    errors = verdict.errors.get(side)
    if not errors:
        return "–"
    low, high = number(min(errors)), number(max(errors))
    return f"{number(median(errors))} ({len(errors)} seeds, {low}–{high})"


def _paper_number(side: CellKey | float, judged: JudgedClaim) -> str:
    value = judged.printed.get(side, math.nan) if isinstance(side, tuple) else side
    return "–" if math.isnan(value) else number(value)


def _interval(effect: Effect) -> str:
    low, high = (number(end, 2) for end in effect.interval)
    return f"{number(effect.factor, 2)} [{low}, {high}]"


def _count_row(texts: tuple[str, str], count: AgreementCount) -> ReportRow:
    shares = (count.within_near, count.within_far, count.above, count.below, count.in_range)
    cells = [f"{part} ({_share(part, count)})" for part in shares]
    return ReportRow((*texts, str(count.cells), *cells))


def _share(part: int, count: AgreementCount) -> str:
    return f"{part / count.cells:.0%}" if count.cells else "–"
