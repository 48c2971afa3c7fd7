"""Graph algorithms and the two frameworks that run them; register more in `ALGORITHMS`."""

from typing import TYPE_CHECKING

from algotransfer.lazy import make_lazy

if TYPE_CHECKING:
    from algotransfer.algorithms.algorithm import Algorithm as Algorithm
    from algotransfer.algorithms.algorithm import Trace as Trace
    from algotransfer.algorithms.frameworks import PARALLEL as PARALLEL
    from algotransfer.algorithms.frameworks import SEQUENTIAL as SEQUENTIAL
    from algotransfer.algorithms.frameworks import Framework as Framework
    from algotransfer.algorithms.registry import ALGORITHMS as ALGORITHMS
    from algotransfer.algorithms.registry import get_algorithm as get_algorithm
    from algotransfer.algorithms.run import run as run

make_lazy(__name__)
