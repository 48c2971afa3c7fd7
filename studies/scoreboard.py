"""Make the scoreboard: `results/scoreboard.csv` and the page `docs/scoreboard.md`.

    python studies/scoreboard.py

Our rows come from `results/clrs30.csv` and `results/salsa-graphs.csv`, those of others from
`studies/scoreboard_cited.csv`, which is written by hand. CONTRIBUTING.md says how to add a row.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pandas

ROOT = Path(__file__).resolve().parents[1]
CITED = ROOT / "studies" / "scoreboard_cited.csv"
CLRS30 = ROOT / "results" / "clrs30.csv"
SALSA = ROOT / "results" / "salsa-graphs.csv"
SCOREBOARD = ROOT / "results" / "scoreboard.csv"
PAGE = ROOT / "docs" / "scoreboard.md"
TEMPLATE = ROOT / "studies" / "scoreboard_page.md"

COLUMNS = [
    "system",
    "hints",
    "steps_given",
    "task",
    "training_data",
    "test_data",
    "micro_f1",
    "spread",
    "node_accuracy",
    "graph_accuracy",
    "seeds",
    "source",
]
SCORES = ("spread", "micro_f1", "node_accuracy", "graph_accuracy")  # may be empty
OFFICIAL = "CLRS-30, 64 nodes"
CLRS30_TRAINING = "CLRS-30: 1,000 graphs of 16 nodes"
PAPER_TRAINING = "15,000 graphs of 20 nodes (`er`, `ba`, `grid`)"
TASKS = (
    "bfs",
    "bellman_ford",
    "dijkstra",
    "dag_shortest_paths",
    "floyd_warshall",
    "floyd_warshall, off the diagonal",
    "floyd_warshall, one source per graph",
    "mst_kruskal",
    "mst_prim",
)


class System(NamedTuple):
    """What the scoreboard says about a system of `results/clrs30.csv`, by its name there."""

    name: str
    source: str
    hints: str = "no"
    steps_given: str = "yes"
    training_data: str = CLRS30_TRAINING


def committed(options: str) -> str:
    """Return the command that scores committed networks."""
    return f"ours: `python studies/clrs30.py score {options} --folder studies/runs/clrs30`"


def trained(options: str) -> str:
    """Return the command that scores networks whose weights are not committed."""
    return f"ours: `python studies/clrs30.py score {options}` (no committed weights: `train` first)"


SYSTEMS = {
    "discover": System(
        "**discover**",
        "ours: `python studies/clrs30_discover.py`",
        steps_given="no",
        training_data="CLRS-30: 200 graphs of 16 nodes, another fifth of the 1,000 for every seed",
    ),
    "relax": System("**relax**", committed("--model relax")),
    "relax-no-simplicity": System(
        "**relax without simplicity loss**",
        committed("--model relax-no-simplicity") + ", planned after a look at the test scores of "
        "`relax`",
    ),
    "ne": System("**NE**", trained("--model ne")),
    "ne++": System("**NE++**", trained("--model ne++")),
    "ne-extra10": System("**NE, 10 extra steps**", trained("--model ne --extra-steps 10")),
    "ne++-extra10": System("**NE++, 10 extra steps**", trained("--model ne++ --extra-steps 10")),
    "clrs-mpnn": System(
        "**MPNN of dm-clrs without hints**", "ours: `python studies/clrs30_mpnn.py train`"
    ),
}
# By system and target, how training differs from the other networks of a system.
REMARKS = {
    ("ne++", "minimax_par"): "; trained on a CPU with `--max-epochs 100` instead of 500, which "
    "stopped one of five seeds",
    ("ne++-extra10", "prim"): "; trained on a CPU with `--max-epochs 100` instead of 500, which "
    "stopped four of five seeds",
    ("ne++-extra10", "minimax_par"): "; trained on a CPU with `--max-epochs 100` instead of 500, "
    "which stopped no seed",
}


def clrs30_rows(table: pandas.DataFrame) -> list[dict]:
    """Return one row for each of our systems, tasks and test sets: mean and range over seeds."""
    unknown = set(table["system"]) - set(SYSTEMS)
    if unknown:
        raise SystemExit(f"results/clrs30.csv has {sorted(unknown)}; describe them in SYSTEMS")
    rows = []
    groups = ["system", "target", "task", "test", "num_nodes", "num_graphs"]
    for key, group in table.groupby(groups, sort=False):
        system, target, task, test, num_nodes, num_graphs = key
        values = {metric: 100 * part["value"] for metric, part in group.groupby("metric")}
        about = SYSTEMS[system]
        row = {
            "system": about.name + (f" of `{target}`" if target != task else ""),
            "hints": about.hints,
            "steps_given": about.steps_given,
            "training_data": about.training_data,
            "test_data": OFFICIAL if test == "official" else _wide(num_nodes, num_graphs),
            "graph_accuracy": _number(values["exact"].mean()) if "exact" in values else "",
            "seeds": str(group["seed"].nunique()),
            "source": about.source + REMARKS.get((system, target), ""),
        }
        # Wide scores include the source itself: without self-loops it is its own predecessor.
        is_one_source = (task, test) == ("floyd_warshall", "wide")
        name = f"{task}, one source per graph" if is_one_source else task
        rows.append({**row, "task": name, **_score(values["micro_f1"])})
        if "off_diagonal" in values:
            name = f"{task}, off the diagonal"
            rows.append({**row, "task": name, **_score(values["off_diagonal"])})
    return rows


def salsa_rows(table: pandas.DataFrame) -> list[dict]:
    """Return one row for each network, task, family and size: worst seed, and number of seeds."""
    rows = []
    groups = ["system", "training", "task", "family", "num_nodes", "num_graphs"]
    for key, group in table.groupby(groups, sort=False):
        system, training, task, family, num_nodes, num_graphs = key
        worst = 100 * group.groupby("metric")["value"].min()
        rows.append(
            {
                "system": f"**relax** of `{system.removeprefix('relax-')}`",
                "hints": "no",
                "steps_given": "yes",
                "task": task,
                "training_data": CLRS30_TRAINING if training == "CLRS-30" else PAPER_TRAINING,
                "test_data": f"`{family}`, {num_graphs} graphs of {num_nodes:,} nodes",
                "node_accuracy": _number(worst["node_accuracy"]),
                "graph_accuracy": _number(worst["graph_accuracy"]),
                "spread": "worst seed",
                "seeds": str(group["seed"].nunique()),
                "source": "ours: `python studies/salsa_graphs.py --out results/salsa-graphs.csv`",
            }
        )
    return rows


def check_cited(cited: pandas.DataFrame) -> None:
    """End with a sentence about the first row of another system that is wrong or incomplete."""
    for number, row in enumerate(cited.to_dict("records"), start=1):
        where = f"row {number} of {CITED.name} ({row['system'] or 'no system'})"
        if row["task"] not in TASKS:
            raise SystemExit(f"{where} has the task {row['task']!r}; expected one of {TASKS}")
        missing = [column for column in COLUMNS if column not in SCORES and not row[column].strip()]
        if missing:
            raise SystemExit(f"{where} has no {', '.join(missing)}; write 'not stated'")
        if not any(row[column].strip() for column in SCORES[1:]):
            raise SystemExit(f"{where} has no score; fill in one of {', '.join(SCORES[1:])}")


def scoreboard() -> pandas.DataFrame:
    """Return all rows, ours and those of others, as text."""
    cited = pandas.read_csv(CITED, dtype=str, keep_default_na=False).fillna("")
    check_cited(cited)
    ours = [*clrs30_rows(pandas.read_csv(CLRS30)), *salsa_rows(pandas.read_csv(SALSA))]
    table = pandas.concat([pandas.DataFrame(ours).fillna(""), cited])[COLUMNS]
    score = pandas.to_numeric(table["micro_f1"])
    order = table.assign(score=-score, position=table["task"].map(_position))
    return order.sort_values(["position", "score", "system"], kind="stable")[COLUMNS]


def page(table: pandas.DataFrame) -> str:
    """Return the page of the table: `scoreboard_page.md` with its three parts filled in."""
    is_official = table["test_data"].str.startswith("CLRS-30")
    is_wide = table["test_data"].str.startswith("wide")
    is_smaller = table["test_data"].str.contains(" (?:160|800) nodes")  # in the CSV only
    parts = []
    for task in TASKS:
        rows = table[is_official & (table["task"] == task)]
        if len(rows):
            columns = ["system", "hints", "steps_given", "micro_f1", "seeds", "training_data"]
            columns += ["test_data", "source"]
            name, *rest = task.split(", ")
            parts += [", ".join([f"### `{name}`", *rest]), _markdown(rows, columns)]
    columns = ["task", "system", "hints", "training_data", "test_data", "node_accuracy"]
    return TEMPLATE.read_text(encoding="utf-8").format(
        official="\n\n".join(parts),
        wide=_markdown(
            table[is_wide], ["task", "system", "test_data", "micro_f1", "graph_accuracy", "seeds"]
        ),
        salsa=_markdown(
            table[~is_official & ~is_wide & ~is_smaller],
            [*columns, "graph_accuracy", "seeds", "source"],
        ),
    )


def _markdown(rows: pandas.DataFrame, columns: list[str]) -> str:
    titles = {"micro_f1": "micro-F1", "steps_given": "steps given"}
    lines = ["| " + " | ".join(titles.get(c, c.replace("_", " ")) for c in columns) + " |"]
    lines.append("|" + "---|" * len(columns))
    for row in rows.to_dict("records"):
        row["micro_f1"] = f"{row['micro_f1']} {row['spread']}".strip()
        lines.append("| " + " | ".join(str(row[column]) for column in columns) + " |")
    return "\n".join(lines)


def _position(task: str) -> int:
    return TASKS.index(task) if task in TASKS else len(TASKS)


def _wide(num_nodes: int, num_graphs: int) -> str:
    return f"wide, {num_graphs:,} graphs of {num_nodes:,} nodes"


def _score(values: pandas.Series) -> dict[str, str]:
    low, high = _number(values.min()), _number(values.max())
    return {"micro_f1": _number(values.mean()), "spread": f"({low}–{high})"}


def _number(value: float) -> str:
    """Return a percentage with two digits, or with more where it would be rounded to 100."""
    text = f"{value:.2f}"
    return text if text != "100.00" or value == 100 else f"{value:.4f}"


def main() -> None:
    table = scoreboard()
    table.to_csv(SCOREBOARD, index=False, lineterminator="\n")
    PAGE.write_text(page(table), encoding="utf-8")
    print(f"wrote {SCOREBOARD.relative_to(ROOT)} and {PAGE.relative_to(ROOT)}: {len(table)} rows")


if __name__ == "__main__":
    main()
