"""The nine algorithms and the engines that run them; a tenth is one entry in `ALGORITHMS`."""

from algotransfer.algorithms.base import Algorithm, Trace
from algotransfer.algorithms.registry import ALGORITHMS, get_algorithm
from algotransfer.algorithms.run import run

__all__ = ["ALGORITHMS", "Algorithm", "Trace", "get_algorithm", "run"]
