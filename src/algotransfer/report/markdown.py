"""The report in Markdown: claims, the check, and all tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape
from typing import Any

from algotransfer.evaluation.tables import number
from algotransfer.report.cells import device_note, paper_cells, seed_values
from algotransfer.report.check import Check, check_small_graphs
from algotransfer.report.claims import CLAIMS, SMALLEST
from algotransfer.report.collect import EXPERIMENT
from algotransfer.report.judging import CONFIDENCE, Verdict, judge_all
from algotransfer.report.own import own_networks, size_tables, what_changes
from algotransfer.report.tables import Table, extra_tables, paper_tables_beside_ours

INTRODUCTION = """# Results

Written by `algotransfer report` from the tidy tables beside it; do not edit.

A cell reads **ours** (the paper's). Ours is the mean ± standard deviation over seeds (of all of
them, not an estimate for more); each seed is a mean over the three families of graphs. The paper
has one run; its ± is the standard deviation over families. `pred` and `next` are error rates, `key`
is a mean squared error, `term` is better when larger. Where there are no brackets, the paper has no
such number. † marks a run whose settings are not the paper's.
"""
GAPS = "Where there is a – instead of ours, nothing has been run.\n"
RULE = (
    f"A verdict is a rule, not an opinion: all comparisons of a claim, paired over seeds, with a "
    f"{CONFIDENCE:.0%} interval; in brackets, how many of the comparisons agree one by one. With "
    "three seeds *undecided* means too little data, not no effect; intervals are not corrected for "
    "the number of claims. The paper has one run, so that its own numbers hold a claim *mostly* if "
    "most comparisons and their geometric mean agree, and are *mixed* if one of the two does. "
    f"Errors below {SMALLEST:.0e} count as that. † marks verdicts on runs whose settings are not "
    "the paper's."
)


def write_markdown(results: Any, note: str = "") -> str:
    """The whole page.

    **Arguments:**

    - `results`: what `collect` returns.
    - `note`: a paragraph for the beginning.
    """
    values = seed_values(results)
    tables, extra = paper_tables_beside_ours(values), extra_tables(values)
    parts = [INTRODUCTION, *[GAPS] * (not all(table.whole for table in tables))]
    parts += [f"{text}\n" for text in [device_note(values)] if text]
    parts += [run_count(results), *[f"{plain(note)}\n"] * bool(note)]
    parts += ["## The paper's claims, and ours\n", claims_table(judge_all(values, paper_cells()))]
    own = own_networks(values)
    if own is not None:
        parts += [f"## Past the paper\n\n{what_changes(own)}\n", markdown_table(own)]
    parts += ["## Graphs of the training size\n", check_list(check_small_graphs(values))]
    for table in tables:
        parts += [f"## {table.name}\n", f"{table.title}.\n", markdown_table(table)]
        if table.name in extra:
            parts += ["Beside the paper:\n", markdown_table(extra[table.name])]
    for table in size_tables(results):
        parts += [f"## {table.name}\n", f"{table.title}.\n", markdown_table(table)]
    return "\n".join(parts)


def run_count(results: Any) -> str:
    """How many experiments and seeds there are, how many diverged, and under which rule for ∞."""
    networks = results[results["row"] == "network"]
    seeds = networks.groupby(EXPERIMENT)["seed"].nunique()
    printed = set(paper_cells()[EXPERIMENT].itertuples(index=False, name=None))
    known = len(printed.intersection(seeds.index))
    diverged = networks[networks["diverged"]].drop_duplicates([*EXPERIMENT, "seed"])
    rules = plain(", ".join(sorted(networks["infinity"].unique())))
    least, most = seeds.min(), seeds.max()
    return (
        f"{known} of the paper's {len(printed)} experiments and {len(seeds) - known} of our own, "
        f"{least if least == most else f'{least} to {most}'} seeds each, "
        f"{len(diverged)} seeds diverged; rule for ∞: {rules}.\n"
    )


def claims_table(verdicts: Sequence[Verdict]) -> str:
    """A line per claim: how it fares in our runs and in the paper's own numbers."""
    heads = ["claim", "our runs", "factor, left over right", "the paper's numbers"]
    lines = [score(verdicts), "", _row(heads), _row(["---"] * len(heads))]
    for verdict in verdicts:
        lines.append(
            _row([f"{verdict.claim.sentence}.", runs(verdict), factor(verdict), verdict.paper])
        )
    return "\n".join([*lines, "", RULE, ""])


def score(verdicts: Sequence[Verdict]) -> str:
    """How many of the paper's claims our runs decide, and how."""
    found = Counter(verdict.ours for verdict in verdicts if verdict.claim in CLAIMS)
    counts = ", ".join(f"{count} × {words}" for words, count in found.most_common())
    return f"The paper's {found.total()} claims in our runs: {counts}."


def runs(verdict: Verdict) -> str:
    """The verdict of our runs in words."""
    total, mark = len(verdict.claim.pairs), " †" * verdict.marked
    if not verdict.seeds:
        return f"{verdict.ours}{mark} ({verdict.judged} of {total} comparisons)"
    return f"**{verdict.ours}**{mark} ({verdict.agree} of {total})"


def factor(verdict: Verdict) -> str:
    """The factor with its interval, and the bound that it is held against."""
    claim = verdict.claim
    bound = f"claimed: {'below' if claim.below else 'above'} {number(claim.bound)}"
    if not verdict.seeds:
        return bound
    low, high = (number(end, 2) for end in verdict.interval)
    return f"{number(verdict.factor, 2)} [{low}, {high}], {verdict.seeds} seeds; {bound}"


def check_list(check: Check) -> str:
    """The sentence, and the cells that miss."""
    return "\n".join([check.words, "", *[f"- misses: {plain(miss)}" for miss in check.misses], ""])


def markdown_table(table: Table) -> str:
    """Rows and columns with ours before the paper's in every cell."""
    heads = [*table.heads, *[f"{metric}, {nodes}" for metric, nodes in table.columns]]
    lines = [_row(heads), _row(["---"] * len(table.heads) + ["---:"] * len(table.columns))]
    for row in table.rows:
        words = [plain(word) for word in row.words]
        if row.marks:
            words[1] += " †"
        lines.append(_row([*words, *[_cell(cell.ours, cell.theirs) for cell in row.cells]]))
    notes = [f"† {plain(mark)}" for mark in table.marks] + [f"*{table.note}*"] * bool(table.note)
    return "\n".join([*lines, "", *notes, ""])


def plain(text: str) -> str:
    """Text from a table of results as Markdown that shows it: one line, and no HTML."""
    return escape(" ".join(text.splitlines()), quote=False)


def _cell(ours: str, theirs: str) -> str:
    if not theirs:
        return ours and f"**{ours}**"
    return f"**{ours}** ({theirs})" if ours else f"– ({theirs})"


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"
