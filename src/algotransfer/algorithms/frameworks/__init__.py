"""The two frameworks of the paper: parallel (its Algorithm 1) and sequential (Algorithm 2)."""

from algotransfer.algorithms.frameworks.comparison import Comparison, Comparisons
from algotransfer.algorithms.frameworks.framework import EngineState, Framework, initial_state
from algotransfer.algorithms.frameworks.parallel import PARALLEL
from algotransfer.algorithms.frameworks.sequential import SEQUENTIAL

__all__ = [
    "PARALLEL",
    "SEQUENTIAL",
    "Comparison",
    "Comparisons",
    "EngineState",
    "Framework",
    "initial_state",
]
