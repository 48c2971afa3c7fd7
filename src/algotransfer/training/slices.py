"""`environment.json`: which commit trained which epochs of a run, on which device, in what time.

A run may be trained in slices, on several machines; every slice leaves an entry of its own.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from algotransfer.training.runs import environment, write_json

ENVIRONMENT = "environment.json"


def read_slices(folder: Path) -> list[dict[str, Any]]:
    """The entries of a run, oldest first."""
    path = folder / ENVIRONMENT
    if not path.exists():
        return []
    content = json.loads(path.read_text())
    return content.get("slices", [content])  # runs of version 0.1 kept the last one only


class Slice:
    """The entry of the work that goes on now; on disk from its beginning, whatever happens."""

    def __init__(self, folder: Path, part: str, epochs: int | None = None):
        """Begins an entry.

        **Arguments:**

        - `part`: `training` or `evaluation`.
        - `epochs`: those that training goes on from; what was done beyond them is forgotten.
        """
        self.path = folder / ENVIRONMENT
        self.before = read_slices(folder)
        self.entry: dict[str, Any] = {**environment(), "part": part, "seconds": {}}
        if epochs is not None:
            self.before = [entry for entry in self.before if _first_epoch(entry) <= epochs]
            self.entry["epochs"] = [epochs + 1, epochs]
        self.save()

    def save(self, epochs: int | None = None, **seconds: float) -> None:
        """Writes what is known by now: the last epoch that is safe, and what the time went into."""
        if epochs is not None:
            self.entry["epochs"][1] = epochs
        rounded = {name: round(value, 2) for name, value in seconds.items()}
        self.entry["seconds"] = {**self.entry["seconds"], **rounded}
        write_json(self.path, {"slices": [*self.before, self.entry]})


def _first_epoch(entry: dict[str, Any]) -> int:
    return entry["epochs"][0] if "epochs" in entry else 1
