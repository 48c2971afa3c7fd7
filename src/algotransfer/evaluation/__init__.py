"""Evaluation: networks run free on test graphs, every metric of every graph, tidy tables."""

from algotransfer.evaluation.evaluate import evaluate_networks

__all__ = ["evaluate_networks"]
