"""The paper's grid, read off its own tables: every row that was printed is an experiment."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

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
        model=model.lower(),
        target=target,
        supervision=supervision,  # type: ignore[arg-type]
        method=method,
        base=tuple(source.split("+")) if source else (),
        select="mean" if select else "best",
    )


def experiments(
    tables: tuple[str, ...] = TABLES, models: tuple[str, ...] = (), targets: tuple[str, ...] = ()
) -> list[Experiment]:
    """All experiments that these tables need, each once, in order.

    **Arguments:**

    - `models`: networks to train; by default those that the tables print. A network that the paper
        does not have gets all of the tables' experiments.
    - `targets`: algorithms to learn; by default all that the tables print.
    """
    printed = experiments_by_table()
    for table in tables:
        if table not in printed:
            names = ", ".join(printed)
            raise ValueError(f"the paper has no table {table!r:.80}; choose among {names}")
    found = list(dict.fromkeys(found for table in tables for found in printed[table]))
    own = set(models) - {experiment.model for all_of in printed.values() for experiment in all_of}
    wanted = [
        dataclasses.replace(experiment, model=model)
        for experiment in found
        for model in models or (experiment.model,)
        if (model == experiment.model or model in own)
        and (not targets or experiment.target in targets)
    ]
    if not wanted:
        raise ValueError(
            f"no experiment of {', '.join(tables)} learns {' or '.join(targets) or 'anything'} "
            f"with {' or '.join(models) or 'any network'}; there the targets are "
            f"{', '.join(sorted({e.target for e in found}))} and the networks "
            f"{', '.join(sorted({e.model for e in found}))}"
        )
    return list(dict.fromkeys(wanted))


def experiments_by_table() -> dict[str, list[Experiment]]:
    """Each of the paper's 20 tables with the experiments that it prints."""
    columns = ["table", "model", "supervision", "method", "source", "target"]
    lines = paper_tables().fillna({"source": ""})[columns].drop_duplicates()
    found: dict[str, list[Experiment]] = {}
    for table, *line in lines.itertuples(index=False):
        found.setdefault(table, []).append(paper_experiment(*line))
    return found


def one_of_each(experiments: Sequence[Experiment]) -> list[Experiment]:
    """The first experiment of every class of algorithms, network and method."""
    from algotransfer.algorithms import get_algorithm

    first: dict[tuple[str, ...], Experiment] = {}
    for experiment in experiments:
        framework = get_algorithm(experiment.target).framework
        first.setdefault((framework, experiment.model, experiment.method), experiment)
    return list(first.values())
