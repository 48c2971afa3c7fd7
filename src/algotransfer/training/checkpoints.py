"""Checkpoints: all that a run's future depends on, written atomically, refused if it is another's.

Beside `checkpoint.npz` lies `metrics.jsonl`; after a kill it may be ahead of the checkpoint, so
resuming cuts it back to the epoch it goes on from.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from algotransfer.archive import load_arrays, save_arrays
from algotransfer.files import write_atomically
from algotransfer.training.loop import SeedState
from algotransfer.training.runs import CHECKPOINT
from algotransfer.training.trees import from_arrays, to_arrays

FORMAT = "algotransfer checkpoint 1"


def save_checkpoint(folder: Path, config: dict[str, Any], states: SeedState, epoch: int) -> None:
    """Writes the states of all seeds after an epoch."""
    header = {"format": FORMAT, "config": config, "epoch": epoch}
    save_arrays(folder / CHECKPOINT, to_arrays(states), header)


def load_checkpoint(
    folder: Path, config: dict[str, Any], like: SeedState
) -> tuple[SeedState, int] | None:
    """The states to go on from and the epochs they have behind them; None if there are none."""
    path = folder / CHECKPOINT
    if not path.exists():
        return None
    arrays, card = load_arrays(path)
    if card.get("format") != FORMAT:
        raise ValueError(f"{path} has format {card.get('format')!r}, expected {FORMAT!r}")
    if card["config"] != config:
        raise ValueError(
            f"{path} belongs to another configuration: {first_difference(card['config'], config)}; "
            "train into another folder, or remove that one"
        )
    return from_arrays(like, arrays, f"{path}"), card["epoch"]


def first_difference(theirs: Any, ours: Any, path: str = "") -> str:
    """Names the first place where two JSON documents differ."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        for key in sorted(theirs.keys() | ours.keys()):
            if theirs.get(key) != ours.get(key):
                return first_difference(theirs.get(key), ours.get(key), f"{path}.{key}".strip("."))
    return f"{path} is {theirs!r} there and {ours!r} here"


def cut_metrics(path: Path, epoch: int) -> None:
    """Drops what was logged after an epoch, and a last line that was cut off by a kill."""
    if not path.exists():
        return
    kept = []
    for line in path.read_text().splitlines():
        try:
            row = json.loads(line)
        except json.JSONDecodeError:
            break
        if row["epoch"] > epoch:
            break
        kept.append(line + "\n")
    write_atomically(path, "".join(kept).encode())
