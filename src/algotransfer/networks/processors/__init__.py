"""Processors by name. A new one is a `Processor` and a line in `PROCESSORS`."""

from algotransfer.networks.processors.max_mpnn import MaxMPNN, NodePairs
from algotransfer.networks.processors.processor import EdgeInputs, Processor, apply_processors

__all__ = ["PROCESSORS", "EdgeInputs", "MaxMPNN", "NodePairs", "Processor", "apply_processors"]

PROCESSORS: dict[str, type[Processor]] = {"max_mpnn": MaxMPNN}
