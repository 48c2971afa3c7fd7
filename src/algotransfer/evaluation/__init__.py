"""Free-running evaluation of networks on test graphs, as tidy tables."""

from typing import TYPE_CHECKING

from algotransfer.lazy import make_lazy

if TYPE_CHECKING:
    from algotransfer.evaluation.by_step import evaluate_by_step as evaluate_by_step
    from algotransfer.evaluation.evaluate import COLUMNS as COLUMNS
    from algotransfer.evaluation.evaluate import evaluate as evaluate
    from algotransfer.evaluation.harness import Execution as Execution
    from algotransfer.evaluation.harness import FreeRun as FreeRun
    from algotransfer.evaluation.registry import HALTING_RULES as HALTING_RULES
    from algotransfer.evaluation.result_tables import beside_paper_table as beside_paper_table
    from algotransfer.evaluation.result_tables import summary_table as summary_table
    from algotransfer.evaluation.summary import beside_paper as beside_paper
    from algotransfer.evaluation.summary import per_seed as per_seed
    from algotransfer.evaluation.summary import summary as summary

make_lazy(__name__)
