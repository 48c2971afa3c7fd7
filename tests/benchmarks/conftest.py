import sys
from pathlib import Path

# Benchmarks are scripts that import each other from their folder.
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
