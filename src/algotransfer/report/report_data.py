"""The report's content: every table, sentence and figure, computed once for all formats."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

import pandas

from algotransfer.evaluation.result_tables import number
from algotransfer.report.agreement import measure_agreement
from algotransfer.report.cells import (
    all_cells,
    count_range,
    extra_cells,
    over_seeds,
    paper_cells,
    read_at,
    reference_cells,
    seed_values,
    table_cells,
)
from algotransfer.report.claims import PAPER_BASES
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
    ReportTable,
    make_extra_tables,
    make_paper_tables,
)
from algotransfer.report.sections import (
    ReportFigure,
    Section,
    make_agreement_section,
    make_claims_section,
)
from algotransfer.report.verdicts import HALTS, judge_claims

LEGEND = (
    "Each cell has our number first, then the paper's, in brackets or below. Ours is the mean ± "
    "standard deviation over seeds (the population's, not an estimate for more seeds); each seed "
    "is a mean over the three graph families. All seeds of an experiment count; their number "
    "differs between experiments. `tables.csv` has the median and the range over seeds "
    "of every cell. The paper has one run; its ± is the standard deviation over families. P is the "
    "percentile of the paper's number among our seeds: 0 if all seeds have a larger number, 100 if "
    "all have a smaller one. `pred` and `next` are error rates, `key` is a mean squared error, "
    "`term` is better when larger. † marks runs whose settings are not the paper's. Rows without a "
    "number of seeds are references, which need no network."
)
GAPS = "A – stands where we have no run."
SHARED_DATA = (
    "All seeds share one training set and one test set, so ± and intervals cover initial weights, "
    "order of batches and sampling, not the choice of graphs."
)
LINES = "Lines are medians over seeds, thin lines single seeds, crosses the paper's numbers."
HOPS = (
    "Means over graphs and seeds; the shade spans all seeds. The dotted line is a random "
    "neighbour. Nodes many hops away are nodes of grids."
)


@dataclass(frozen=True)
class ReportData:
    """Everything that a report says."""

    introduction: tuple[str, ...]
    sections: tuple[Section, ...]
    cells: pandas.DataFrame  # of all tables, one line each
    examples: Mapping[tuple[str, ...], str]  # addresses of `explore` pages by experiment
    title: str = "Results beside the paper's"

    @property
    def summary(self) -> str:
        """The sentences that the command line prints."""
        first = {section.name: section.paragraphs[:1] for section in self.sections}
        return "\n".join(first.get("claims", ()) + first.get("agreement", ()))

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
    """Compute the report from the tables of `collect` and `collect_hops`.

    Tables and figures show rows whose answer was read at the end of the rollout; claims are also
    judged by rows with another `halt`. The introduction ends with `note`.
    """
    by_halt = {halt: seed_values(results, halt) for halt in HALTS}
    values, results = by_halt["told"], read_at(results, "told")
    ours, references = over_seeds(values), reference_cells(values)
    cells: Any = table_cells(values, ours)
    extra = extra_cells(cells, ours, EXTRA_METRICS)
    tables = make_paper_tables(cells, references)
    extra_tables = make_extra_tables(extra, references)
    gaps = [GAPS] * (not all(table.complete for table in tables))
    notes = [text for text in (describe_device_dependence(ours), count_runs(results), note) if text]
    introduction = (LEGEND, *gaps, SHARED_DATA, *notes)
    own = own_networks(ours)
    sections = [make_claims_section(judge_claims(by_halt, paper_cells()))]
    if own is not None:
        sections.append(Section("own", "Past the paper", (compare_own_networks(own),), (own,)))
    sections.append(make_agreement_section(measure_agreement(cells)))
    sections.append(Section("figures", "Figures", figures=tuple(_figures(values, hops))))
    for table in tables:
        folded = (extra_tables[table.name],) if table.name in extra_tables else ()
        sections.append(Section(table.name, table.name, tables=(table,), folded=folded))
    sections += [Section(t.name, t.name, tables=(t,)) for t in size_tables(results)]
    every = all_cells(cells, extra, references)
    return ReportData(introduction, tuple(sections), every, examples)


def count_runs(results: Any) -> str:
    """Return a sentence with the numbers of experiments and seeds, and the rules for ∞."""
    networks = results[results["row"] == "network"]
    seeds = networks.groupby(EXPERIMENT)["seed"].nunique()
    counts = seeds.value_counts().sort_index()
    by_count = ", ".join(f"{total} with {count} seeds" for count, total in counts.items())
    printed = set(paper_cells()[EXPERIMENT].itertuples(index=False, name=None))
    known = len(printed.intersection(seeds.index))
    diverged = networks[networks["diverged"]].drop_duplicates([*EXPERIMENT, "seed"])
    rules = ", ".join(sorted(networks["infinity"].unique()))
    return (
        f"{known} of the paper's {len(printed)} experiments and {len(seeds) - known} of our own: "
        f"{by_count}; {len(diverged)} seeds diverged; rule for ∞: {rules}."
    )


def describe_device_dependence(ours: Any) -> str:
    """Return a paragraph about ‡ and the number of cells with it; empty without CPU values."""
    cells = ours[ours["cpu_difference"].notna() & (ours["graph"] == "mean")]
    if not len(cells):
        return ""
    # Rounded, because equal values may have means that differ in their last bits.
    cells = cells.assign(difference=cells["cpu_difference"].abs().round(9))
    counts = []
    for (model, num_nodes), lines in cells.groupby(["model", "num_nodes"]):
        largest = lines.groupby("metric")["difference"].max()
        shown = [f"{number(largest[m], 2)} in `{m}`" for m in ("pred", "tree") if m in largest]
        marked = (lines["difference"] > lines["std"]).sum()
        text = f"{model} at {num_nodes} nodes {marked} of {len(lines)}"
        counts.append(text + (f" (largest difference {' and '.join(shown)})" if shown else ""))
    return (
        "‡ marks a number that depends on the device. Nearly all of ours were measured on a GPU; "
        f"{count_range(cells['cpu_seeds'], 'seeds')} of an experiment were evaluated again on a "
        "CPU (`device-sensitivity.csv`). Where their mean differs by more than the standard "
        "deviation over all seeds, the number is marked: rounding decides between nearly equal "
        "options. "
        f"Marked means over families, of those that were compared: {', '.join(counts)}. "
        "`tables.csv` has the differences."
    )


def _figures(values: Any, hops: Any | None) -> Iterator[ReportFigure]:
    for target in PAPER_BASES:
        title = f"{target}, no algorithm: error against the number of nodes"
        yield ReportFigure(title, LINES, partial(draw_methods, values, target))
        title = f"{target}, no algorithm, no transfer: error of all networks"
        caption = f"{LINES} Lines end where errors are infinite. {GRID_SHAPES}"
        yield ReportFigure(title, caption, partial(draw_networks, values, target))
    for target in PAPER_BASES if hops is not None else ():
        title = f"{target}, no algorithm: predecessor error by distance from the source"
        yield ReportFigure(title, HOPS, partial(draw_hops, hops, target))
