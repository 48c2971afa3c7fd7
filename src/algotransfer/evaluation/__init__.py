"""Evaluation: networks run free on test graphs, every metric of every graph, tidy tables."""

from algotransfer.evaluation.evaluate import COLUMNS, evaluate_networks
from algotransfer.evaluation.execution import Execution, execute_freely, free_drivers
from algotransfer.evaluation.runs import evaluate
from algotransfer.evaluation.summary import beside_paper, per_seed, summary
from algotransfer.evaluation.tables import beside_paper_table, summary_table

__all__ = [
    "COLUMNS",
    "Execution",
    "beside_paper",
    "beside_paper_table",
    "evaluate",
    "evaluate_networks",
    "execute_freely",
    "free_drivers",
    "per_seed",
    "summary",
    "summary_table",
]
