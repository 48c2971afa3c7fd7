"""Free-running evaluation of networks on test graphs, as tidy tables."""

from algotransfer.evaluation.evaluate import evaluate
from algotransfer.evaluation.evaluate_networks import COLUMNS, evaluate_networks
from algotransfer.evaluation.harness import Execution, FreeRun
from algotransfer.evaluation.result_tables import beside_paper_table, summary_table
from algotransfer.evaluation.summary import beside_paper, per_seed, summary

__all__ = [
    "COLUMNS",
    "Execution",
    "FreeRun",
    "beside_paper",
    "beside_paper_table",
    "evaluate",
    "evaluate_networks",
    "per_seed",
    "summary",
    "summary_table",
]
