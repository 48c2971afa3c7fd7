import sys
from pathlib import Path

# Benchmarks are scripts: they find each other in their own folder.
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
