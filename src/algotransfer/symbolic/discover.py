"""`discover`: learn the step of an algorithm from its answers on graphs."""

from __future__ import annotations

from collections.abc import Sequence

from algotransfer.algorithms import get_algorithm
from algotransfer.datasets.dataset import Dataset
from algotransfer.datasets.from_graphs import from_graphs
from algotransfer.errors import UserError
from algotransfer.graphs import Graph, GraphLike
from algotransfer.symbolic.answers import collect_answers
from algotransfer.symbolic.expressions import Expression, from_json
from algotransfer.symbolic.grammar import grammar
from algotransfer.symbolic.learn import learn_step
from algotransfer.symbolic.program import StepProgram

MAX_TERMS = 10_000


def discover(
    target: str,
    graphs: Graph | Dataset | Sequence[GraphLike],
    terms: Sequence[Expression] | None = None,
) -> StepProgram:
    """Learn the step of an algorithm from inputs and outputs alone.

    The target's framework and initial keys are given; its step is not read, only its final keys
    and predecessors.

    **Arguments:**

    - `target`: name of the algorithm whose answers are learned from.
    - `graphs`: a batch of graphs, a dataset, or a list of graphs with equal numbers of nodes, as
        `from_graphs` takes them; a hundred of 20 nodes are enough.
    - `terms`: the terms to look in, such as `["key", ("mul", "weight", "weight")]`, by default all
        5,708 of `grammar(2)`.
    """
    if not isinstance(graphs, Graph):
        graphs = (graphs if isinstance(graphs, Dataset) else from_graphs(graphs)).graphs
    if not graphs.batch_shape:
        raise UserError("discover needs a batch of graphs, but this is one graph; give several")
    if terms is not None and len(terms) > MAX_TERMS:
        raise UserError(f"{len(terms):,} terms to look in; expected at most {MAX_TERMS:,}")
    library = grammar(2) if terms is None else [from_json(term) for term in terms]
    if not library:
        raise UserError("no terms to look in; give some, or leave them out for all of grammar(2)")
    found = learn_step(collect_answers(get_algorithm(target), graphs), library)
    return StepProgram(found.step, found.smaller_is_better, target)
