"""Scores of the CLRS-30 benchmark, computed as dm-clrs computes them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, Int, Num

from algotransfer.datasets import CLRS_TASKS
from algotransfer.datasets.clrs30 import OFFICIAL_SIZES, make_clrs_dataset, official_output
from algotransfer.datasets.presets import answered_task
from algotransfer.errors import UserError
from algotransfer.evaluation.evaluation_batch import EvaluationBatch
from algotransfer.evaluation.result_tables import plain_table
from algotransfer.evaluation.training_range import fit_graphs
from algotransfer.registry import check_name
from algotransfer.training.runs import Model, load_model

if TYPE_CHECKING:
    import pandas
    from rich.table import Table


def pointer_score(
    predicted: Int[np.ndarray, "*shape"],
    truth: Int[np.ndarray, "*shape"],
    where: Bool[np.ndarray, "*shape"] | None = None,
) -> float:
    """Return CLRS-30's micro-F1 of pointers: the share that is right, over all graphs and nodes.

    **Arguments:**

    - `where`: pointers that count; by default all.
    """
    return float(np.mean(predicted == truth, where=True if where is None else where))


def mask_score(predicted: Num[np.ndarray, "*shape"], truth: Num[np.ndarray, "*shape"]) -> float:
    """Return CLRS-30's micro-F1 of masks: the F1 score over all graphs and entries.

    **Arguments:**

    - `predicted`: probabilities, or 0 and 1.
    - `truth`: 0 and 1, or −1 for entries that do not count.
    """
    counts, positive, marked = truth != -1, truth > 0.5, predicted > 0.5
    hits = np.sum(counts & positive & marked)
    precision = hits / total if (total := np.sum(counts & marked & (truth < 0.5)) + hits) else 1.0
    missed = counts & positive & (predicted < 0.5)
    recall = hits / total if (total := np.sum(missed) + hits) else 1.0
    return float(2 * precision * recall / (precision + recall)) if precision + recall else 0.0


SCORES = {"pi": pointer_score, "Pi": pointer_score, "in_mst": mask_score}


def clrs_scores(
    source: str | Path | Model,
    task: str | None = None,
    split: str = "test",
    halt: str = "told",
) -> pandas.DataFrame:
    """Score a model on an official split of a CLRS-30 task, as dm-clrs would.

    **Arguments:**

    - `source`: a model, a run folder, a weights file, or the name of committed weights.
    - `task`: a name of `CLRS_TASKS`; by default the task of the model's target.
    - `split`: `train`, `validation` or `test`.
    - `halt`: as in `evaluate`.

    **Returns:** a row per seed with the columns `task`, `split`, `output` (its name in dm-clrs),
    `seed` and `score`. For `floyd_warshall`, `off_diagonal` is the score of pairs of different
    nodes, since the diagonal of dm-clrs' answer depends on self-loops.
    """
    import pandas

    model = load_model(source)
    target = model.experiment.target
    check_name("split", split, OFFICIAL_SIZES)
    task = answered_task(target, task)
    clrs_task = CLRS_TASKS[task]
    dataset = make_clrs_dataset(clrs_task, split, *OFFICIAL_SIZES[split])
    graphs = dataset.graphs
    asked = fit_graphs(model, clrs_task.graphs_for(target, graphs))
    batch = EvaluationBatch.prepare(model, asked.graphs, halt)
    if not batch.target.algorithm.predicts_predecessors:
        raise UserError(
            f"a network of {target} predicts no predecessors, which {task} asks for; evaluate one "
            f"of {', '.join(clrs_task.algorithms[1:])}"
        )
    key, pointer = batch.on_all_graphs(batch.answers)
    predicted = clrs_task.read(target, graphs, key / asked.key_factor[:, None], pointer)
    truth = official_output(clrs_task, split)
    rows = []
    for seed, output in zip(model.seeds, predicted, strict=True):
        row = {"task": task, "split": split, "output": clrs_task.output, "seed": seed}
        row["score"] = SCORES[clrs_task.output](output, truth)
        if clrs_task.output == "Pi":
            others = np.broadcast_to(~np.eye(truth.shape[-1], dtype=bool), truth.shape)
            row["off_diagonal"] = pointer_score(output, truth, others)
        rows.append(row)
    return pandas.DataFrame(rows)


def clrs_table(scores: pandas.DataFrame) -> Table:
    """Table of the scores of a model: median over seeds, and the range."""
    table = plain_table(["task", "output"], ["median of seeds", "worst", "best"])
    for column in ("score", "off_diagonal"):
        if column not in scores:
            continue
        (task,), (output,) = scores["task"].unique(), scores["output"].unique()
        values = scores[column]
        numbers = [f"{value:.4f}" for value in (values.median(), values.min(), values.max())]
        table.add_row(task, output + ", off the diagonal" * (column != "score"), *numbers)
    return table
