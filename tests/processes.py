"""Programs in processes of their own, where code is quick to compile rather than quick to run."""

import os
import subprocess
import sys
from pathlib import Path

QUICK_TO_COMPILE = "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"


def run_python(code: str, *words: str, folder: Path) -> str:
    """Runs a few lines of Python in a folder; returns what they print, and fails if they do."""
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        cwd=folder,
        env={**os.environ, "XLA_FLAGS": QUICK_TO_COMPILE},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
