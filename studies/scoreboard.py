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


SYSTEMS = {
    "relax": System("**relax**", "ours: `python studies/clrs30.py score --model relax`"),
    "ne": System("**NE**", "ours: `python studies/clrs30.py score --model ne`"),
    "ne++": System("**NE++**", "ours: `python studies/clrs30.py score --model ne++`"),
    "ne-extra10": System(
        "**NE, 10 extra steps**", "ours: `python studies/clrs30.py score --model ne --extra-steps 10`"
    ),
    "ne++-extra10": System(
        "**NE++, 10 extra steps**",
        "ours: `python studies/clrs30.py score --model ne++ --extra-steps 10`",
    ),
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
            "source": about.source,
        }
        # The wide test sets of floyd_warshall have one source per graph and no diagonal.
        name = f"{task}, off the diagonal" if (task, test) == ("floyd_warshall", "wide") else task
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
                "source": "ours: `python studies/salsa_graphs.py`",
            }
        )
    return rows


def scoreboard() -> pandas.DataFrame:
    """Return all rows, ours and those of others, as text."""
    cited = pandas.read_csv(CITED, dtype=str, keep_default_na=False)
    ours = [*clrs30_rows(pandas.read_csv(CLRS30)), *salsa_rows(pandas.read_csv(SALSA))]
    table = pandas.concat([pandas.DataFrame(ours).fillna(""), cited])[COLUMNS]
    score = pandas.to_numeric(table["micro_f1"])
    order = table.assign(score=-score, position=table["task"].map(_position))
    return order.sort_values(["position", "score", "system"], kind="stable")[COLUMNS]


def page(table: pandas.DataFrame) -> str:
    """Return the Markdown page of the table."""
    parts = [HEAD]
    tested = table["test_data"].str.startswith("CLRS-30")
    for task in TASKS:
        rows = table[tested & (table["task"] == task)]
        if len(rows):
            columns = ["system", "hints", "steps_given", "micro_f1", "seeds", "training_data"]
            parts.append(f"### `{task}`" if "," not in task else f"### `{task.replace(', ', '`, ')}")
            parts.append(_markdown(rows, [*columns, "source"]))
    wide = table[table["test_data"].str.startswith("wide")]
    parts += [WIDE, _markdown(wide, ["task", "system", "test_data", "micro_f1", "graph_accuracy"])]
    salsa = table[~tested & ~table["test_data"].str.startswith("wide")]
    columns = ["task", "system", "hints", "training_data", "test_data", "node_accuracy"]
    parts += [SALSA_HEAD, _markdown(salsa, [*columns, "graph_accuracy", "seeds", "source"]), TAIL]
    return "\n\n".join(part.strip() for part in parts) + "\n"


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


HEAD = """
# Scoreboard: CLRS-30 and SALSA-CLRS

Compare graph tasks of CLRS-30 across systems: what each was trained on, whether it saw the steps of the algorithm (hints), and its score. Systems in bold are ours, by the command in the last column; all others are quoted from the source named there. The table is `results/scoreboard.csv`; `python studies/scoreboard.py` makes it and this page.

Scores are percentages. micro-F1 is CLRS-30's, on 32 graphs of 64 nodes: one wrong pointer is 0.05. Ranges of our scores are over seeds; ± is the standard error that the source gives. "Steps given" says whether the network is told the number of steps of the algorithm.

Read the rows with care. `relax` has the relaxation loop of these algorithms built in ([The relaxation executor](relaxation.md)), so it has less to learn than the general networks that it stands beside. Systems were trained on different data. The table lists what we could read, not all that was published: no row is claimed to be the best.

## CLRS-30, official test graphs

For `floyd_warshall`, the score without the diagonal stands apart: dm-clrs' answer on the diagonal depends on self-loops ([why](how-to/bridges.md#score)).
"""

WIDE = """
## CLRS-30, wider test graphs

Graphs of the same distribution that are in none of the official splits, since 32 graphs cannot tell 100 from 99.9. Graph accuracy is the share of graphs without an error among reached nodes.
"""

SALSA_HEAD = """
## SALSA-CLRS

Families and sizes of SALSA-CLRS (Minder et al., 2023), drawn by our generators; `studies/salsa_graphs.md` lists the differences, such as the range of weights. Our numbers are those of the worst seed. Node accuracy is the share of nodes with the right predecessor, graph accuracy the share of graphs without an error.
"""

TAIL = """
## Not quoted

We looked for these numbers and could read only abstracts or summaries by others, so no row quotes them:

- Rodionov & Prokhorenkova, *Neural Algorithmic Reasoning Without Intermediate Supervision* (2023, no hints): the abstract has no numbers.
- Georgiev et al., *Deep Equilibrium Algorithmic Reasoning* (2024, DEAR, no hints): the abstract has no numbers, and the tables of the page about it that we read are pictures.
- Bohde et al., *On the Markov Property of Neural Algorithmic Reasoning* (2024, G-ForgetNet, with hints): the abstract has no numbers.
- Mahdavi et al., *Towards Better Out-of-Distribution Generalization of Neural Algorithmic Reasoning Tasks* (2023): no text of it was found.
- Minder et al., *SALSA-CLRS* (2023): abstract, code and parameters were read; the tables were not.
- Rodionov & Prokhorenkova, *Discrete Neural Algorithmic Reasoning* (2024, DNAR): only the sentence of the abstract is quoted.

## Add a row

`CONTRIBUTING.md` says how, under "Scoreboard".
"""


def main() -> None:
    table = scoreboard()
    table.to_csv(SCOREBOARD, index=False, lineterminator="\n")
    PAGE.write_text(page(table), encoding="utf-8")
    print(f"wrote {SCOREBOARD.relative_to(ROOT)} and {PAGE.relative_to(ROOT)}: {len(table)} rows")


if __name__ == "__main__":
    main()
