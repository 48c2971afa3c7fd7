"""Training: supervisions, transfer methods, all seeds in one program, run folders."""

from algotransfer.training.runs import Model, committed_weights, load_model
from algotransfer.training.train import train

__all__ = ["Model", "committed_weights", "load_model", "train"]
