"""Relaxation algorithms drawn at random from the grammar, with an oracle of their own."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator

import numpy as np

from algotransfer.algorithms import ALGORITHMS, PARALLEL, SEQUENTIAL, Algorithm, get_algorithm, run
from algotransfer.datasets import make_dataset
from algotransfer.datasets.presets import PAPER_FAMILIES
from algotransfer.errors import UserError
from algotransfer.symbolic.expressions import (
    Expression,
    as_text,
    evaluate,
    linear_combination,
    relax_function,
    variables,
)
from algotransfer.symbolic.grammar import grammar
from algotransfer.symbolic.proofs import target_step

PROBES = {"key": np.linspace(0.05, 3, 40), "weight": np.linspace(1, 0.2, 40) ** 2}


def unseen_relaxations(seed: int, count: int) -> Iterator[tuple[Algorithm, Expression]]:
    """Yield algorithms that pass all checks, with their steps."""
    generator = np.random.default_rng(seed)
    graphs = make_dataset(PAPER_FAMILIES, 10, 20, split="validation").graphs
    known = {_values(target_step(get_algorithm(name))) for name in ALGORITHMS if name != "dfs"}
    found = 0
    while found < count:
        step = _draw_step(generator)
        algorithm = _draw_algorithm(generator, step, f"unseen_{found:02d}")
        values = _values(step)
        if values is None or values in known or not _is_algorithm(algorithm, step, graphs):
            continue
        known.add(values)
        found += 1
        yield algorithm, step


def _values(step: Expression) -> bytes | None:
    """Return the values of a step at some points, to tell steps apart; None if one is undefined."""
    with np.errstate(all="ignore"):
        values = np.broadcast_to(evaluate(step, PROBES), 40)
    return np.round(values, 6).tobytes() if np.isfinite(values).all() else None


def _draw_step(generator: np.random.Generator) -> Expression:
    """Draw one term of depth 2 or a sum of two of depth 1; half of the coefficients are 1."""
    num_terms = int(generator.integers(1, 3))
    library = [t for t in grammar(3 - num_terms) if "own" not in variables(t)]
    while True:
        chosen = generator.choice(len(library), num_terms, replace=False)
        terms = [library[index] for index in chosen]
        numbers = np.where(
            generator.uniform(size=num_terms) < 0.5,
            1.0,
            np.round(generator.uniform(0.2, 2, num_terms), 2),
        )
        step = linear_combination(numbers.tolist(), terms)
        if variables(step) == {"key", "weight"}:
            return step


def _draw_algorithm(generator: np.random.Generator, step: Expression, name: str) -> Algorithm:
    smaller = bool(generator.integers(2))
    start = float(generator.integers(2)) if smaller else 1.0
    return Algorithm(
        name=name,
        title=as_text(step),
        framework=(PARALLEL, SEQUENTIAL)[int(generator.integers(2))],
        relax=relax_function(step),
        source_key=lambda num_nodes: start,
        unreached_key=math.inf if smaller else 0.0,
        smaller_is_better=smaller,
    )


def _is_algorithm(algorithm: Algorithm, step: Expression, graphs) -> bool:
    """Whether executions end, the source keeps its key, and the oracle has the same keys."""
    if not _is_superior(algorithm, step):
        return False  # a quick check at some points; the oracle decides
    try:
        key = np.asarray(run(algorithm, graphs, "final").final_key)
    except UserError:
        return False  # it does not end, or keys leave the range of float32
    source = np.asarray(graphs.source)
    kept = key[np.arange(len(key)), source] == algorithm.source_key(graphs.num_nodes)
    if not kept.all() or len(np.unique(np.round(key, 4))) < 0.2 * key.size:
        return False
    wanted = np.stack([_oracle(algorithm, step, graphs[index]) for index in range(len(key))])
    return np.allclose(key, wanted, rtol=1e-4, atol=1e-6)


def _is_superior(algorithm: Algorithm, step: Expression) -> bool:
    """Whether candidates grow with the key and are no better than it, on a grid of points."""
    start = algorithm.source_key(20)
    low, high = (start, start + 5) if algorithm.smaller_is_better else (0.01, start)
    keys = np.linspace(low, high, 30)
    key, weight = np.meshgrid(keys, np.linspace(0.2, 1, 20), indexing="ij")
    with np.errstate(all="ignore"):
        value = np.broadcast_to(evaluate(step, {"key": key, "weight": weight}), key.shape)
    if not np.isfinite(value).all() or (np.diff(value, axis=0) < 0).any():
        return False
    return bool((value >= key).all() if algorithm.smaller_is_better else (value <= key).all())


def _oracle(algorithm: Algorithm, step: Expression, graph) -> np.ndarray:
    """Return the best keys by a search with a heap, in double precision."""
    mask = np.asarray(graph.edge_mask())
    edges: list[list[tuple[int, float]]] = [[] for _ in range(graph.num_nodes)]
    for u, v, w in zip(
        np.asarray(graph.senders)[mask],
        np.asarray(graph.receivers)[mask],
        np.asarray(graph.weights)[mask],
        strict=True,
    ):
        edges[u].append((v, float(w)))
    sign = 1 if algorithm.smaller_is_better else -1
    best = np.full(graph.num_nodes, algorithm.unreached_key)
    heap = [(sign * algorithm.source_key(graph.num_nodes), int(graph.source))]
    done: set[int] = set()
    while heap:
        cost, u = heapq.heappop(heap)
        if u in done:
            continue
        done.add(u)
        best[u] = sign * cost
        for v, weight in edges[u]:
            candidate = float(evaluate(step, {"key": best[u], "weight": weight}))
            if v not in done and sign * candidate < sign * algorithm.unreached_key:
                heapq.heappush(heap, (sign * candidate, v))
    return best
