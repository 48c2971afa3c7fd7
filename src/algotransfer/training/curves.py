"""Learning curves of a run: read from its log, and drawn as a figure."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from algotransfer.errors import UserError
from algotransfer.files import write_atomically
from algotransfer.training.runs import METRICS

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

CURVES = "curves.png"
LOSSES = {"train_loss": "training loss", "validation_loss": "validation loss"}


def read_losses(folder: Path) -> pandas.DataFrame:
    """Return the columns `seed`, `epoch`, `train_loss` and `validation_loss`, empty without a log.

    Losses that are not finite are NaN.
    """
    import pandas

    log = folder / METRICS
    lines = log.read_bytes().splitlines() if log.is_file() else []
    columns = ["seed", "epoch", *LOSSES]
    try:
        rows = [[row[name] for name in columns] for row in map(json.loads, lines)]
        frame = pandas.DataFrame(rows, columns=columns)
        return frame.astype({"seed": int, "epoch": int} | dict.fromkeys(LOSSES, float))
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        raise UserError(
            f"{log} is not the log of a training ({error!s:.80}); fetch it again, or remove it"
        ) from error


def draw_losses(axes: Axes, losses: Any, column: str, colour: str, label: str) -> None:
    """Draw a loss by epoch: a thin line per seed, and the median while all seeds train."""
    for _, seed in losses.groupby("seed"):
        axes.plot(seed["epoch"], seed[column], color=colour, alpha=0.4, lw=1)
    epochs = losses.groupby("epoch")[column]
    common = epochs.median()[epochs.size() == losses["seed"].nunique()]
    axes.plot(common.index, common, color=colour, lw=2, label=label)


def write_curves(folder: Path, title: str) -> Path | None:
    """Draw the losses of a run by epoch into its folder; None if its log is missing or empty."""
    losses = read_losses(folder)
    if not len(losses):
        return None
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.2, 3.6), layout="constrained")
    axes = figure.subplots()
    for (column, label), colour in zip(LOSSES.items(), ("#0072B2", "#D55E00"), strict=True):
        draw_losses(axes, losses, column, colour, label)
    axes.set_yscale("log")
    axes.set_xlabel("epoch")
    axes.set_ylabel("loss")
    axes.set_title(title, loc="left", fontsize=9)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize="small")
    image = io.BytesIO()
    figure.savefig(image, format="png", dpi=120)
    write_atomically(folder / CURVES, image.getvalue())
    return folder / CURVES
