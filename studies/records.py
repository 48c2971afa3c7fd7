"""Write the rows of a study together with the machine that produced them."""

from __future__ import annotations

import json
import os
import platform
from importlib.metadata import version
from pathlib import Path

RESULTS = Path(__file__).resolve().parents[1] / "runs" / "studies"


def write(path: Path, rows: list[dict], packages: tuple[str, ...] = ("jax",)) -> None:
    """Write `rows` as JSON, with core count, Python version, load and package versions."""
    machine = {
        "cores": os.cpu_count(),
        "processor": platform.machine(),
        "python": platform.python_version(),
        "load_average": os.getloadavg()[1],  # over five minutes
        **{package: version(package) for package in packages},
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"machine": machine, "rows": rows}, indent=2) + "\n")
    print(f"wrote {os.path.relpath(path)}")
