"""Finished runs as one tidy table, with the paper's words for what each of them is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from algotransfer.evaluation.runs import EVALUATION
from algotransfer.evaluation.summary import paper_key
from algotransfer.training.runs import WEIGHTS, load_model

if TYPE_CHECKING:
    import pandas

ENVIRONMENT = "environment.json"
EXPERIMENT = ["supervision", "model", "method", "source", "target"]


def environments(folder: str | Path) -> dict[str, Any]:
    """What every finished run was made with, by experiment and hash."""
    return {
        f"{path.parent.parent.name}/{path.parent.name}": json.loads(path.read_text())
        for path in sorted(Path(folder).glob(f"*/*/{ENVIRONMENT}"))
        if (path.parent / WEIGHTS).exists()
    }


def read_results(path: str | Path) -> pandas.DataFrame:
    """Reads a table that `collect` made and somebody kept."""
    import pandas

    return pandas.read_csv(path, dtype={"source": str}).fillna({"source": ""})


def collect(folder: str | Path) -> pandas.DataFrame:
    """Evaluations of all finished runs below a folder; breakdowns by hop distance stay there.

    **Returns:** the columns of `evaluate_networks` but `hop`, and in front of them those by which
    the paper's tables name an experiment, `infinity`, and the run's hash. A diverged seed has
    `diverged` set.
    """
    import pandas

    parts = []
    for path in sorted(Path(folder).glob(f"*/*/{EVALUATION}")):
        run = path.parent
        if not (run / WEIGHTS).exists():
            continue  # evaluated weights were removed: nothing that could be checked
        model = load_model(run)
        frame: Any = pandas.read_csv(path)
        frame = frame[frame["hop"].isna()].drop(columns="hop")
        for place, (column, value) in enumerate(paper_key(model.experiment).items()):
            frame.insert(place, column, value)
        frame.insert(len(EXPERIMENT), "infinity", str(model.experiment.infinity))
        frame.insert(len(EXPERIMENT) + 1, "run", run.name)
        diverged = dict(zip(model.seeds, model.diverged, strict=True))
        frame["diverged"] = frame["seed"].map(diverged).fillna(False).astype(bool)
        parts.append(frame)
    if not parts:
        raise ValueError(
            f"{folder} holds no evaluated runs; make some with `algotransfer reproduce`"
        )
    return pandas.concat(parts, ignore_index=True)
