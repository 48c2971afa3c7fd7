"""Provenance of every training slice of a run, in `environment.json`.

A run may be trained in slices, on several machines; every slice leaves an entry of its own.
"""

import json
from pathlib import Path
from typing import Any

from algotransfer.experiment import fingerprint
from algotransfer.files import DamagedFile, set_aside
from algotransfer.training.runs import environment, write_json

ENVIRONMENT = "environment.json"


def read_provenance(folder: Path) -> list[dict[str, Any]]:
    """Return the entries of a run, oldest first; none if they cannot be read."""
    path = folder / ENVIRONMENT
    if not path.exists():
        return []
    try:
        return read_entries(path)
    except DamagedFile:
        return []


def read_entries(path: Path) -> list[dict[str, Any]]:
    """Return the entries of a file; raise `DamagedFile` unless it holds what was written."""
    try:
        content = json.loads(path.read_bytes())
        slices = content["slices"]
        known = all(isinstance(entry["device"]["platform"], str) for entry in slices)
        whole = content["sha256"] == fingerprint({"slices": slices})
        if known and whole and isinstance(slices, list):
            return slices
    except (ValueError, TypeError, KeyError, RecursionError):
        pass
    raise DamagedFile(f"{path} is damaged")


class ProvenanceRecord:
    """The entry of the slice in progress, on disk from its beginning."""

    def __init__(self, folder: Path, part: str, epochs: int | None = None):
        """Begin an entry; drop those of slices after the `epochs` from which training resumes."""
        self.path = folder / ENVIRONMENT
        try:
            self.before = read_entries(self.path) if self.path.exists() else []
        except DamagedFile as error:  # the run itself does not depend on it
            set_aside(self.path, error)
            self.before = []
        self.entry: dict[str, Any] = {**environment(), "part": part, "seconds": {}}
        if epochs is not None:
            self.before = [e for e in self.before if e.get("epochs", [1])[0] <= epochs]
            self.entry["epochs"] = [epochs + 1, epochs]
        self.save()

    def save(self, epochs: int | None = None, **seconds: float) -> None:
        """Write the last epoch of a checkpoint and the seconds of each part."""
        if epochs is not None:
            self.entry["epochs"][1] = epochs
        rounded = {name: round(value, 2) for name, value in seconds.items()}
        self.entry["seconds"] = {**self.entry["seconds"], **rounded}
        content = {"slices": [*self.before, self.entry]}
        write_json(self.path, {**content, "sha256": fingerprint(content)})
