"""Write the rows of a study together with the machine that produced them."""

from __future__ import annotations

import json
import os
import platform
from importlib.metadata import version
from pathlib import Path

RESULTS = Path(__file__).resolve().parents[1] / "runs" / "studies"


def write(path: Path, rows: list[dict]) -> None:
    """Write `rows` as JSON, with core count, load, and versions of Python and JAX."""
    machine = {
        "cores": os.cpu_count(),
        "processor": platform.machine(),
        "python": platform.python_version(),
        "load_average": os.getloadavg()[1],  # over five minutes
        "jax": version("jax"),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"machine": machine, "rows": rows}, indent=2) + "\n")
    print(f"wrote {os.path.relpath(path)}")
