"""Example of a plugin: `register` is the entry point."""

from algotransfer.algorithms.registry import ALGORITHMS
from algotransfer.methods import METHODS, TransferMethod
from algotransfer.networks.registry import MODELS, PROCESSORS


def register() -> None:
    """Register by name; the modules are imported on first use, so that `--help` stays quick."""
    ALGORITHMS["costliest_edge"] = "detours.algorithms:costliest_edge"
    MODELS["gated"] = "detours.networks:GatedExecutor"
    PROCESSORS["sum_mpnn"] = "detours.networks:SumMPNN"
    METHODS["two_trained"] = TransferMethod(("base", "fresh"), (False, False))
