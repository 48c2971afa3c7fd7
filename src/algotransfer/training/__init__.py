"""Training: supervisions, transfer methods, all seeds in one program, run folders."""

from algotransfer.trained_models import committed_weights, list_models
from algotransfer.training.runs import Model, load_model
from algotransfer.training.train import train

__all__ = ["Model", "committed_weights", "list_models", "load_model", "train"]
