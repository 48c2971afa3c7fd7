"""Checkpoints: the complete state of a training, written atomically.

Beside `checkpoint.npz` lies `metrics.jsonl`; after a kill it may be ahead of the checkpoint, which
therefore keeps a copy of its own: resuming writes the log as it was then.
"""

from pathlib import Path
from typing import Any

import numpy as np

from algotransfer.array_files import load_arrays, save_arrays
from algotransfer.errors import UserError
from algotransfer.experiment import first_difference
from algotransfer.files import DamagedFile, set_aside, write_atomically
from algotransfer.training.named_arrays import from_arrays, to_arrays
from algotransfer.training.program import SeedState
from algotransfer.training.runs import CHECKPOINT, METRICS

FORMAT = "algotransfer checkpoint 1"


def save_checkpoint(folder: Path, config: dict[str, Any], states: SeedState, epoch: int) -> None:
    """Write the states of all seeds after an epoch, and a copy of the log."""
    header = {"format": FORMAT, "config": config, "epoch": epoch}
    log = np.frombuffer((folder / METRICS).read_bytes(), np.uint8)
    save_arrays(folder / CHECKPOINT, {**to_arrays(states), METRICS: log}, header)


def load_checkpoint(
    folder: Path, config: dict[str, Any], like: SeedState
) -> tuple[SeedState, int] | None:
    """Return the states to resume from and their number of epochs; None without a checkpoint.

    The log is set back to the same moment. A damaged checkpoint is set aside.
    """
    path = folder / CHECKPOINT
    if not path.exists():
        return None
    try:
        arrays, card = load_arrays(path)
    except DamagedFile as error:
        set_aside(path, error)
        return None
    if card.get("format") != FORMAT:
        raise UserError(f"{path} has format {card.get('format')!r:.80}, expected {FORMAT!r}")
    if card["config"] != config:
        raise UserError(
            f"{path} belongs to another configuration: {first_difference(card['config'], config)}; "
            "train into another folder, or remove that one"
        )
    log = arrays.pop(METRICS)
    states = from_arrays(like, arrays, f"{path}")
    write_atomically(folder / METRICS, log.tobytes())
    return states, card["epoch"]
