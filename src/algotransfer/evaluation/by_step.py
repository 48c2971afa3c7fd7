"""Errors by step: how the answer of a free-running network changes while it runs on."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Int

from algotransfer.datasets.dataset import Dataset
from algotransfer.evaluation.evaluate import Progress, graph_counter, list_datasets
from algotransfer.evaluation.evaluation_batch import EvaluationBatch, Report
from algotransfer.evaluation.training_range import fit_dataset
from algotransfer.training.runs import Model, load_model

if TYPE_CHECKING:
    import pandas

STEPS_PAST_END = 30
EVERY_STEP_UP_TO = 50  # later steps are thinned to every fifth
COLUMNS = ("seed", "family", "num_nodes", "step", "metric", "value", "num_graphs")


def evaluate_by_step(
    source: str | Path | Model,
    datasets: Dataset | Iterable[Dataset],
    *,
    past_end: int = STEPS_PAST_END,
    progress: Progress = lambda done, total: None,
) -> pandas.DataFrame:
    """Measure predecessor errors against the final answer after every step.

    **Arguments:**

    - `source`: a model, its name (see `list_models`), a run folder or a weights file.
    - `datasets`: one dataset or more; weights are rescaled as in `evaluate`.
    - `past_end`: steps to run beyond the number of nodes.

    **Returns:** one row per seed, family, number of nodes and step, thinned to every fifth step
    beyond step 50.
    """
    import pandas

    model = load_model(source)
    datasets = list_datasets(datasets)
    report, rows = graph_counter(progress, datasets), []
    for dataset in datasets:
        errors = errors_by_step(model, fit_dataset(model, dataset), past_end, report)
        for family in dataset.families:
            means = errors[:, dataset.family == family].mean(axis=1)
            count = int((dataset.family == family).sum())
            for seed, by_step in zip(model.seeds, means, strict=True):
                rows += [
                    (seed, family, dataset.num_nodes, step, "pred", float(value), count)
                    for step, value in enumerate(by_step, start=1)
                    if step <= EVERY_STEP_UP_TO or step % 5 == 0
                ]
    return pandas.DataFrame(rows, columns=list(COLUMNS))


def errors_by_step(
    model: Model,
    dataset: Dataset,
    past_end: int,
    report: Report = lambda num_graphs: None,
) -> Float[np.ndarray, "seeds graphs steps"]:
    """Return the predecessor errors of every graph after every step; see `pointer_errors`."""
    batch = EvaluationBatch.prepare(model, dataset.graphs, halt="settled")
    run = batch.run.with_steps(dataset.num_nodes + past_end)
    true = np.asarray(batch.end.final_pred)

    def errors(index: Int[np.ndarray, " chunk"]):
        pointer = np.asarray(run.run(dataset.graphs, index, "steps").pointer)
        return pointer_errors(pointer, true[index])

    return batch.on_all_graphs(errors, report)


def pointer_errors(pointer, true) -> Float[np.ndarray, "seeds graphs steps"]:
    """Share of reached nodes whose pointer differs from the final predecessor, after every step."""
    reached = true >= 0
    wrong = (pointer != true[:, None]) & reached[:, None]
    return wrong.sum(-1) / reached.sum(-1)[:, None]
