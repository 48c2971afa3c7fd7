"""Evaluation: networks run free on test graphs, every metric of every graph, tidy tables."""

from algotransfer.evaluation.evaluate import evaluate
from algotransfer.evaluation.evaluate_networks import COLUMNS, evaluate_networks
from algotransfer.evaluation.harness import Execution, make_free_drivers, run_free
from algotransfer.evaluation.result_tables import beside_paper_table, summary_table
from algotransfer.evaluation.summary import beside_paper, per_seed, summary

__all__ = [
    "COLUMNS",
    "Execution",
    "beside_paper",
    "beside_paper_table",
    "evaluate",
    "evaluate_networks",
    "make_free_drivers",
    "per_seed",
    "run_free",
    "summary",
    "summary_table",
]
