"""Execute a step with rational numbers on a small graph, and find graphs that refute it."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from algotransfer.symbolic.expressions import Expression, Number, exact_value
from algotransfer.symbolic.program import StepProgram
from algotransfer.symbolic.proofs import Domain, is_weight, load_z3, to_z3

Edges = dict[tuple[int, int], Fraction]  # weights of undirected edges

PATHS = ((1, 2), (2, 1), (2, 2), (2, 3), (3, 2))  # lengths of two paths between the same nodes
RANDOM_GRAPHS = 400
TIMEOUT = 5_000  # milliseconds


@dataclass(frozen=True)
class Counterexample:
    """A graph on which a step and the target end with different predecessors of a node."""

    edges: Edges
    node: int
    pred: int | None
    target_pred: int | None

    def to_json(self) -> dict:
        """Return the graph with weights as fractions; node 0 is the source."""
        edges = [[u, v, str(weight)] for (u, v), weight in self.edges.items()]
        return {
            "edges": edges,
            "node": self.node,
            "pred": self.pred,
            "target_pred": self.target_pred,
        }


def execute_exactly(
    step: Expression,
    smaller: bool,
    replace_if: str,
    framework: str,
    domain: Domain,
    edges: Edges,
) -> dict[int, int]:
    """Return the predecessors after at most n steps from node 0; reached nodes have one."""
    neighbours: dict[int, list[tuple[int, Fraction]]] = {}
    for (u, v), weight in edges.items():
        neighbours.setdefault(u, []).append((v, weight))
        neighbours.setdefault(v, []).append((u, weight))
    nodes = sorted(neighbours)
    sign = 1 if smaller else -1
    start = domain.source_key
    keys: dict[int, Number] = dict.fromkeys(nodes, domain.unreached_key)
    keys[0] = Fraction(start) if math.isfinite(start) else start
    pred = {0: 0}

    def relax(u: int, key: Number, open_nodes: set[int]) -> None:
        for v, weight in neighbours[u]:
            candidate = exact_value(step, key, weight)
            better = candidate < keys[v] if smaller else candidate > keys[v]
            equal = replace_if == "not worse" and candidate == keys[v]
            if v in open_nodes and (better or equal):
                keys[v], pred[v] = candidate, u

    if framework == "sequential":
        queue = set(nodes)
        while waiting := sorted(queue & pred.keys()):
            u = min(waiting, key=lambda node: sign * keys[node])
            queue.remove(u)
            relax(u, keys[u], queue)
    else:
        for _ in nodes:
            before = dict(keys)
            for u in [u for u in nodes if u in pred]:
                relax(u, before[u], set(nodes))
    return pred


def find_counterexample(
    program: StepProgram, target: Expression, framework: str, domain: Domain
) -> Counterexample | None:
    """Return a small graph on which a program and its target differ, if one is found."""
    for edges in _graphs(program, target, domain):
        ours = execute_exactly(
            program.step, program.smaller_is_better, program.replace_if, framework, domain, edges
        )
        theirs = execute_exactly(
            target, domain.smaller_is_better, "better", framework, domain, edges
        )
        for node in sorted({n for edge in edges for n in edge}):
            if ours.get(node) != theirs.get(node):
                return Counterexample(edges, node, ours.get(node), theirs.get(node))
    return None


def _graphs(program: StepProgram, target: Expression, domain: Domain) -> Iterator[Edges]:
    """Yield an edge, triangles of equal weights, graphs from the solver, and random graphs."""
    low, high = domain.weights
    one = Fraction(1)
    yield {(0, 1): one}
    yield {(0, 1): one, (0, 2): one, (1, 2): one}
    yield {(0, 1): one, (0, 2): one, (1, 3): one, (2, 3): one}
    for lengths in PATHS:
        if (edges := _two_paths(program, target, domain, lengths)) is not None:
            yield edges
    generator = random.Random(0)
    smallest, largest = max(low, 0.05), min(high, 3.0)
    for _ in range(RANDOM_GRAPHS):
        size = generator.randint(3, 6)
        pairs = [(u, v) for u in range(size) for v in range(u + 1, size)]
        tree = {(generator.randrange(v), v) for v in range(1, size)}
        chosen = tree | {pair for pair in pairs if generator.random() < 0.5}
        yield {
            pair: Fraction(f"{generator.uniform(smallest, largest):.3f}") for pair in sorted(chosen)
        }


def _two_paths(
    program: StepProgram, target: Expression, domain: Domain, lengths: tuple[int, int]
) -> Edges | None:
    """Return two disjoint paths that the program and the target rank differently."""
    z3 = load_z3()
    if not math.isfinite(domain.source_key):
        return None
    weights = [
        [z3.Real(f"w{path}{at}") for at in range(length)] for path, length in enumerate(lengths)
    ]
    solver = z3.Solver()
    solver.set("timeout", TIMEOUT)
    ends = []
    for step in (program.step, target):
        values = []
        for path in weights:
            value = z3.RealVal(str(Fraction(domain.source_key)))
            for weight in path:
                value = to_z3(step, value, weight)
            values.append(value)
        ends.append(values)
    for path in weights:
        solver.add(*(is_weight(domain, weight) for weight in path))
    signs = [
        1 if smaller else -1 for smaller in (program.smaller_is_better, domain.smaller_is_better)
    ]
    (first, second), (true_first, true_second) = ends
    solver.add(signs[0] * first > signs[0] * second, signs[1] * true_first < signs[1] * true_second)
    if solver.check() != z3.sat:
        return None
    model = solver.model()
    edges: Edges = {}
    end = sum(lengths) - 1  # the node where the paths meet; inner nodes are numbered from 1
    inner = iter(range(1, end))
    for path in weights:
        nodes = [0, *(next(inner) for _ in path[1:]), end]
        for (u, v), weight in zip(pairwise(nodes), path, strict=True):
            value = model.eval(weight, model_completion=True)
            if not z3.is_rational_value(value):
                value = value.approx(20)
            edges[min(u, v), max(u, v)] = Fraction(
                value.numerator_as_long(), value.denominator_as_long()
            )
    return edges
