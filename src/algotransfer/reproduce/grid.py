"""The experiments behind the paper's tables."""

import dataclasses
import functools
from collections.abc import Sequence

from algotransfer.errors import UserError
from algotransfer.experiment import Experiment
from algotransfer.paper import paper_experiments
from algotransfer.registry import check_name

# By priority. Breakdowns by family share the experiments of their tables.
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
    """Return the experiment behind a row of the paper's tables."""
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
    """Return the experiments of the tables without repetition, in the order of the tables.

    **Arguments:**

    - `models`: networks to train; by default those of the tables. A network that the paper does
        not have gets all experiments of the tables.
    - `targets`: algorithms to learn; by default all targets of the tables.
    """
    printed = experiments_by_table()
    for table in tables:
        check_name("table of the paper", table, printed)
    candidates = [experiment for table in tables for experiment in printed[table]]
    new_models = set(models) - {e.model for row in printed.values() for e in row}
    wanted = [
        dataclasses.replace(experiment, model=model)
        for experiment in candidates
        for model in models or (experiment.model,)
        if (model == experiment.model or model in new_models)
        and (not targets or experiment.target in targets)
    ]
    if not wanted:
        raise UserError(
            f"no experiment of {', '.join(tables)} learns {' or '.join(targets) or 'anything'} "
            f"with {' or '.join(models) or 'any network'}; there the targets are "
            f"{', '.join(sorted({e.target for e in candidates}))} and the networks "
            f"{', '.join(sorted({e.model for e in candidates}))}"
        )
    return list(dict.fromkeys(wanted))


@functools.cache
def experiments_by_table() -> dict[str, list[Experiment]]:
    """Return the experiments of each of the paper's 20 tables."""
    return {
        table: [paper_experiment(*row) for row in rows]
        for table, rows in paper_experiments().items()
    }


def one_of_each(experiments: Sequence[Experiment]) -> list[Experiment]:
    """Return the first experiment of every framework, network and method."""
    from algotransfer.algorithms import get_algorithm

    first: dict[tuple[str, ...], Experiment] = {}
    for experiment in experiments:
        framework = get_algorithm(experiment.target).framework.name
        first.setdefault((framework, experiment.model, experiment.method), experiment)
    return list(first.values())
