"""The report's content: every table, sentence and figure, computed once for all formats."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from algotransfer.evaluation.result_tables import number
from algotransfer.report.agreement import Check, check_small_graphs
from algotransfer.report.cells import all_cells, paper_cells, seed_values
from algotransfer.report.claims import CLAIMS, SMALLEST, SOURCES
from algotransfer.report.collect import EXPERIMENT
from algotransfer.report.extra_networks import (
    GRID_SHAPES,
    compare_own_networks,
    own_networks,
    size_tables,
)
from algotransfer.report.figures import draw_hops, draw_methods, draw_networks
from algotransfer.report.report_tables import (
    EXTRA_METRICS,
    ReportRow,
    ReportTable,
    make_extra_tables,
    make_paper_tables,
)
from algotransfer.report.verdicts import CONFIDENCE, Verdict, judge_all

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

LEGEND = (
    "Each cell has our number first, then the paper's, in brackets or below. Ours is the mean ± "
    "standard deviation over seeds (the population's, not an estimate for more seeds); each seed "
    "is a mean over the three graph families. The paper has one run; its ± is the standard "
    "deviation over families. `pred` and `next` are error rates, `key` is a mean squared error, "
    "`term` is better when larger. † marks runs whose settings are not the paper's. Reference "
    "rows need no network."
)
GAPS = "A – stands where we have no run."
RULE = (
    f"A verdict is a rule, not an opinion: all comparisons of a claim, paired over seeds, with a "
    f"{CONFIDENCE:.0%} interval; in brackets, how many of the comparisons agree one by one. With "
    "three seeds *undecided* means too little data, not no effect; intervals are not corrected for "
    "the number of claims. The paper has one run, so that its own numbers hold a claim *mostly* if "
    "most comparisons and their geometric mean agree, and are *mixed* if one of the two does. "
    f"Errors below {SMALLEST:.0e} count as that. † marks verdicts on runs whose settings are not "
    "the paper's."
)
MEDIANS = (
    "Medians over seeds; left / right is the median of the seeds' own ratios, by which a "
    "comparison agrees or not"
)
LINES = "Lines are medians over seeds, thin lines single seeds, crosses the paper's numbers."
HOPS = (
    "Means over graphs and seeds; the shade spans all seeds. The dotted line is a random "
    "neighbour. Nodes many hops away are nodes of grids."
)


@dataclass(frozen=True)
class ReportFigure:
    """A figure that is drawn only in formats that show it; `draw` returns None without runs."""

    title: str
    caption: str
    draw: Callable[[], Figure | None]


@dataclass(frozen=True)
class Section:
    """A part of the report: paragraphs, tables, folded tables and figures, in this order."""

    name: str
    title: str
    paragraphs: tuple[str, ...] = ()
    tables: tuple[ReportTable, ...] = ()
    folded: tuple[ReportTable, ...] = ()
    figures: tuple[ReportFigure, ...] = ()


@dataclass(frozen=True)
class ReportData:
    """Everything that a report says.

    **Arguments:**

    - `introduction`: paragraphs before the first section.
    - `claims`: the section that README pages show too.
    - `sections`: all sections in order, `claims` among them.
    - `cells`: every cell of all tables, one line each.
    - `examples`: addresses of `explore` pages by experiment and number of nodes.
    """

    introduction: tuple[str, ...]
    claims: Section
    sections: tuple[Section, ...]
    cells: pandas.DataFrame
    examples: Mapping[tuple[str, ...], str]

    @property
    def summary(self) -> str:
        """The sentences that the command line prints."""
        (agreement,) = [section for section in self.sections if section.name == "agreement"]
        return "\n".join(agreement.paragraphs)

    @property
    def number_tables(self) -> list[ReportTable]:
        """All tables whose cells have our numbers and the paper's."""
        tables = [t for section in self.sections for t in (*section.tables, *section.folded)]
        return [table for table in tables if table.columns]


def make_report(
    results: Any,
    hops: Any | None = None,
    note: str = "",
    examples: Mapping[tuple[str, ...], str] = MappingProxyType({}),
) -> ReportData:
    """Compute the report.

    **Arguments:**

    - `results`: what `collect` returns.
    - `hops`: what `collect_hops` returns, if there is such a table.
    - `note`: a paragraph for the introduction, such as `time_note` returns.
    - `examples`: addresses of `explore` pages, from `write_examples`.
    """
    values = seed_values(results)
    tables, extra = make_paper_tables(values), make_extra_tables(values)
    gaps = [GAPS] * (not all(table.complete for table in tables))
    introduction = (*[LEGEND, *gaps, count_runs(results)], *[note] * bool(note))
    claims = _claims_section(judge_all(values, paper_cells()))
    own = own_networks(values)
    sections = [claims]
    if own is not None:
        sections.append(Section("own", "Past the paper", (compare_own_networks(own),), (own,)))
    sections.append(_agreement_section(check_small_graphs(values)))
    sections.append(Section("figures", "Figures", figures=(*_size_figures(values), *_hops(hops))))
    for table in tables:
        folded = (extra[table.name],) if table.name in extra else ()
        sections.append(Section(table.name, table.name, tables=(table,), folded=folded))
    sections += [Section(t.name, t.name, tables=(t,)) for t in size_tables(results)]
    cells = all_cells(values, EXTRA_METRICS)
    return ReportData(introduction, claims, tuple(sections), cells, examples)


def count_runs(results: Any) -> str:
    """Return a sentence with the numbers of experiments and seeds, and the rules for ∞."""
    networks = results[results["row"] == "network"]
    seeds = networks.groupby(EXPERIMENT)["seed"].nunique()
    printed = set(paper_cells()[EXPERIMENT].itertuples(index=False, name=None))
    known = len(printed.intersection(seeds.index))
    diverged = networks[networks["diverged"]].drop_duplicates([*EXPERIMENT, "seed"])
    rules = ", ".join(sorted(networks["infinity"].unique()))
    least, most = seeds.min(), seeds.max()
    return (
        f"{known} of the paper's {len(printed)} experiments and {len(seeds) - known} of our own, "
        f"{least if least == most else f'{least} to {most}'} seeds each, "
        f"{len(diverged)} seeds diverged; rule for ∞: {rules}."
    )


def _claims_section(verdicts: Sequence[Verdict]) -> Section:
    heads = ("claim", "our runs", "factor, left over right", "the paper's numbers")
    rows = tuple(
        ReportRow(
            (f"{v.claim.sentence}.", _in_our_runs(v), _factor(v), v.paper),
            kind=v.ours.split()[0],
            details=_comparisons(v),
        )
        for v in verdicts
    )
    table = ReportTable("claims", "Judged by rule, paired over seeds", heads, rows)
    found = Counter(verdict.ours for verdict in verdicts if verdict.claim in CLAIMS)
    counts = ", ".join(f"{count} × {words}" for words, count in found.most_common())
    score = f"The paper's {found.total()} claims in our runs: {counts}."
    return Section("claims", "The paper's claims, and ours", (score, RULE), (table,))


def _in_our_runs(verdict: Verdict) -> str:
    total, mark = len(verdict.claim.pairs), " †" * verdict.marked
    if not verdict.seeds:
        return f"{verdict.ours}{mark} ({verdict.judged} of {total} comparisons)"
    return f"**{verdict.ours}**{mark} ({verdict.agree} of {total})"


def _factor(verdict: Verdict) -> str:
    claim = verdict.claim
    bound = f"claimed: {'below' if claim.below else 'above'} {number(claim.bound)}"
    if not verdict.seeds:
        return bound
    low, high = (number(end, 2) for end in verdict.interval)
    return f"{number(verdict.factor, 2)} [{low}, {high}], {verdict.seeds} seeds; {bound}"


def _comparisons(verdict: Verdict) -> ReportTable:
    sides = ("left", "right", "left / right")
    heads = (*sides[:2], *(f"ours, {side}" for side in sides), "paper, left", "paper, right")
    rows = []
    for line in verdict.lines:
        found = (*line.ours, line.ratio, *line.paper)
        numbers = ["–" if value != value else number(value) for value in found]
        rows.append(ReportRow((line.left, line.right, *numbers)))
    return ReportTable("comparisons", MEDIANS, heads, tuple(rows))


def _agreement_section(check: Check) -> Section:
    misses = [f"misses: {miss}" for miss in check.misses]
    return Section("agreement", "Graphs of the training size", (check.words, *misses))


def _size_figures(values: Any) -> list[ReportFigure]:
    figures = []
    for target in SOURCES:
        title = f"{target}, no algorithm: error against the number of nodes"
        figures.append(ReportFigure(title, LINES, partial(draw_methods, values, target)))
        title = f"{target}, no algorithm, no transfer: error of all networks"
        caption = f"{LINES} Lines end where errors are infinite. {GRID_SHAPES}"
        figures.append(ReportFigure(title, caption, partial(draw_networks, values, target)))
    return figures


def _hops(hops: Any | None) -> list[ReportFigure]:
    title = "{}, no algorithm: predecessor error by distance from the source"
    return [
        ReportFigure(title.format(target), HOPS, partial(draw_hops, hops, target))
        for target in (SOURCES if hops is not None else ())
    ]
