"""Nine graph algorithms and the two frameworks that run them."""

from algotransfer.algorithms.algorithm import Algorithm, Trace
from algotransfer.algorithms.frameworks import PARALLEL, SEQUENTIAL, Framework
from algotransfer.algorithms.registry import ALGORITHMS, get_algorithm
from algotransfer.algorithms.run import run

__all__ = [
    "ALGORITHMS",
    "PARALLEL",
    "SEQUENTIAL",
    "Algorithm",
    "Framework",
    "Trace",
    "get_algorithm",
    "run",
]
