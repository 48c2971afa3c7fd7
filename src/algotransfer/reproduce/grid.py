"""The paper's grid, read off its own tables: every row that was printed is an experiment."""

from __future__ import annotations

from algotransfer.experiment import Experiment
from algotransfer.paper import paper_tables

# In the order in which results are wanted most; breakdowns share the experiments of their tables.
TABLES = (
    "seq-na",
    "seq-multitask",
    "seq-transfer",
    "par-summary",
    "seq-tf",
    "par-tf",
    "par-transfer",
    "seq-na-mean",
    "multi-pretrain",
    "experiment-1",
    "experiment-2",
)


def paper_experiment(
    model: str, supervision: str, method: str, source: str, target: str
) -> Experiment:
    """The experiment behind a line of the paper's tables."""
    supervision, _, select = supervision.partition("_")
    return Experiment(
        model=model.lower(),  # type: ignore[arg-type]
        target=target,
        supervision=supervision,  # type: ignore[arg-type]
        method=method,  # type: ignore[arg-type]
        base=tuple(source.split("+")) if source else (),
        select="mean" if select else "best",
    )


def experiments(tables: tuple[str, ...] = TABLES) -> list[Experiment]:
    """All experiments that these tables need, each once, in order."""
    printed = paper_tables().fillna({"source": ""})
    columns = ["model", "supervision", "method", "source", "target"]
    found: list[Experiment] = []
    for table in tables:
        lines = printed.query("table == @table")
        if lines.empty:
            names = ", ".join(dict.fromkeys(printed["table"]))
            raise ValueError(f"the paper has no table {table!r}; choose among {names}")
        found += [
            paper_experiment(*line)
            for line in lines.drop_duplicates(columns)[columns].itertuples(index=False)
        ]
    return list(dict.fromkeys(found))
