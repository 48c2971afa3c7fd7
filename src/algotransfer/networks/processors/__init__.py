"""Processors: the abstract `Processor` and the paper's max-MPNN."""

from algotransfer.networks.processors.max_mpnn import MaxMPNN, NodePairs
from algotransfer.networks.processors.processor import EdgeInputs, Processor, apply_processors

__all__ = ["EdgeInputs", "MaxMPNN", "NodePairs", "Processor", "apply_processors"]
