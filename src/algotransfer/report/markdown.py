"""The paper's tables in Markdown, our numbers beside its own in every cell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from algotransfer.evaluation.summary import per_seed
from algotransfer.evaluation.tables import number
from algotransfer.paper import paper_tables
from algotransfer.report.collect import EXPERIMENT

if TYPE_CHECKING:
    import pandas

INTRODUCTION = """# Results

Written by `algotransfer report` from the tidy table beside it; do not edit.

A cell reads **ours** (the paper's): ours is the median over seeds, with the smallest and the
largest in brackets where there are several; all are means over the three families of graphs. The
paper has one run. Predecessor (`pred`) and next-node (`next`) are error rates, `key` is a mean
squared error. Cells without a number of ours have not been run.
"""


def write_markdown(results: pandas.DataFrame) -> str:
    """Every table of the paper for which there is a run.

    **Arguments:**

    - `results`: what `collect` returns.
    """
    paper: Any = paper_tables().fillna({"source": ""})
    paper = paper[paper["graph"] == "mean"]
    ours = _medians(results)
    parts = [INTRODUCTION, _runs(results)]
    for table in paper["table"].unique():
        lines = paper[paper["table"] == table].merge(
            ours, on=[*EXPERIMENT, "num_nodes", "metric"], how="left"
        )
        if lines["median"].notna().any():
            parts.append(_table(table, lines))
    parts.append(_references(results))
    return "\n".join(parts)


def _medians(results: Any) -> pandas.DataFrame:
    """Median, smallest and largest over seeds of the mean over families."""
    networks = results[results["row"] == "network"].assign(hop=None)
    groups = networks.groupby(EXPERIMENT, sort=False)
    parts = [
        per_seed(frame).assign(**dict(zip(EXPERIMENT, key, strict=True))) for key, frame in groups
    ]
    import pandas

    seeds = pandas.concat(parts)
    return seeds.groupby([*EXPERIMENT, "num_nodes", "metric"], as_index=False, sort=False).agg(
        median=("mean", "median"), low=("mean", "min"), high=("mean", "max"), seeds=("mean", "size")
    )


def _runs(results: Any) -> str:
    networks = results[results["row"] == "network"]
    seeds = networks.groupby([*EXPERIMENT, "infinity"], sort=False).agg(
        seeds=("seed", "nunique"), diverged=("diverged", "sum")
    )
    diverged = networks[networks["diverged"]].drop_duplicates([*EXPERIMENT, "seed"])
    rules = ", ".join(sorted(networks["infinity"].unique()))
    return (
        f"{len(seeds)} experiments, {seeds['seeds'].min()} to {seeds['seeds'].max()} seeds each, "
        f"{len(diverged)} diverged; rule for ∞: {rules}.\n"
    )


def _table(name: str, lines: Any) -> str:
    metrics = list(dict.fromkeys(lines["metric"]))
    head = ["target", "model", "method", "base", "nodes", *metrics]
    rows = [f"## {name}\n", _row(head), _row(["---"] * 5 + ["---:"] * len(metrics))]
    keys = ["target", "model", "method", "source", "num_nodes"]
    for key, cells in lines.groupby(keys):
        by_metric = cells.set_index("metric")
        rows.append(_row([str(word) for word in key] + [_cell(by_metric.loc[m]) for m in metrics]))
    return "\n".join(rows) + "\n"


def _cell(line) -> str:
    paper = f"({number(line['value'])})"
    if line["median"] != line["median"]:  # no run
        return paper
    spread = f" [{number(line['low'], 2)}, {number(line['high'], 2)}]" if line["seeds"] > 1 else ""
    return f"**{number(line['median'])}**{spread} {paper}"


def _references(results: Any) -> str:
    """What no network is needed for: predecessor errors of the references."""
    rows = results[(results["row"] != "network") & (results["metric"] == "pred")]
    means = rows.groupby(["target", "row", "num_nodes"], sort=False)["value"].mean()
    text = ["## References: predecessor error rates\n", _row(["target", "row", "nodes", "pred"])]
    text.append(_row(["---", "---", "---", "---:"]))
    for (target, row, nodes), value in means.items():
        text.append(_row([target, row, str(nodes), number(value)]))
    return "\n".join(text) + "\n"


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"
