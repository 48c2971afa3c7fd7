"""Learn the steps of algorithms from answers alone, as `studies/learned_steps.md` says.

    python studies/learned_steps.py distractors few all_terms unseen gradient mlp

Every part adds its rows to `results/learned-steps.csv`; rows that the file has are not measured
again.
"""

from __future__ import annotations

import argparse
import dataclasses
import time
from pathlib import Path

import numpy as np
import pandas
from learned_steps_controls import fit_by_gradient, fit_perceptrons
from unseen_relaxations import unseen_relaxations

from algotransfer.algorithms import Algorithm, get_algorithm, run
from algotransfer.datasets import Dataset, make_dataset
from algotransfer.datasets.presets import PAPER_FAMILIES
from algotransfer.errors import UserError
from algotransfer.evaluation.paths import follow, worse_predecessors
from algotransfer.symbolic.answers import collect_answers, fixed_point_equations
from algotransfer.symbolic.expressions import (
    as_text,
    evaluate,
    relax_function,
    variables,
)
from algotransfer.symbolic.grammar import grammar
from algotransfer.symbolic.learn import learn_step
from algotransfer.symbolic.numpy_frameworks import execute_step
from algotransfer.symbolic.proofs import target_step

NEEDED = {
    "bellman_ford": ("key", "weight"),
    "dijkstra": ("key", "weight"),
    "reliable_par": (("mul", "key", "weight"),),
    "reliable_seq": (("mul", "key", "weight"),),
}
NAMES = (
    *("bfs", "bellman_ford", "widest_par", "reliable_par", "prim", "dijkstra", "dfs"),
    *("widest_seq", "reliable_seq", "minimax_par"),
)
DISTRACTORS = (5, 20, 60, 200)
SEEDS = 10
TEST = {20: 100, 100: 100, 400: 20}  # graphs of each family by number of nodes
PERCEPTRON_TEST = (20, 100)  # numbers of nodes; executions of 400 take too long in NumPy
OUT = Path("results/learned-steps.csv")
KEYS = ["part", "target", "distractors", "num_graphs", "seed"]


def training_answers(algorithm: Algorithm, num_graphs: int, seed: int):
    """Return inputs and outputs on training graphs of 20 nodes, a third of each family."""
    each = -(-num_graphs // len(PAPER_FAMILIES))
    graphs = make_dataset(PAPER_FAMILIES, each, 20, seed).graphs
    order = np.random.default_rng(seed).permutation(len(graphs))[:num_graphs]
    return collect_answers(algorithm, graphs[order])


def draw_terms(target: str, count: int, seed: int, own: bool = True) -> list:
    """Return the terms that a target needs, and distractors."""
    library = [term for term in grammar(2) if term not in NEEDED[target]]
    drawn = np.random.default_rng(seed).choice(len(library), count, replace=False)
    terms = [*NEEDED[target], *(library[index] for index in drawn)]
    return terms if own else [term for term in terms if "own" not in variables(term)]


def is_exact(step, smaller: bool, algorithm: Algorithm, truth) -> bool:
    """Whether a step equals that of an algorithm at random points of its domain."""
    generator = np.random.default_rng(0)
    start = algorithm.source_key(20)
    low, high = (start, start + 10) if algorithm.smaller_is_better else (0.01, min(start, 10.0))
    values = {"key": generator.uniform(low, high, 1000), "weight": generator.uniform(0.01, 1, 1000)}
    equal = np.allclose(evaluate(step, values), evaluate(truth, values), rtol=1e-9, atol=0)
    return equal and smaller == algorithm.smaller_is_better


_test_sets: dict[int, Dataset] = {}


def test_set(num_nodes: int) -> Dataset:
    if num_nodes not in _test_sets:
        _test_sets[num_nodes] = make_dataset(
            PAPER_FAMILIES, TEST[num_nodes], num_nodes, split="test"
        )
    return _test_sets[num_nodes]


_scores: dict[tuple, dict] = {}


def score(step, smaller: bool, algorithm: Algorithm) -> dict:
    """Return the shares of other and of worse predecessors on test graphs."""
    name = (algorithm.name, step, smaller)
    if name not in _scores:
        learned = dataclasses.replace(
            algorithm, relax=relax_function(step), smaller_is_better=smaller
        )
        scores: dict = {}
        for size in TEST:
            graphs = test_set(size).graphs
            scores |= compare(algorithm, size, run(learned, graphs, "final").final_pred)
        _scores[name] = scores
    return _scores[name]


def try_to_score(step, smaller: bool, algorithm: Algorithm) -> dict:
    """Score a step, or return why it cannot be executed: it does not end, or keys overflow."""
    try:
        return score(step, smaller, algorithm)
    except UserError as error:
        return {"not_scored": str(error)[:200]}


def compare(algorithm: Algorithm, size: int, pred) -> dict:
    graphs = test_set(size).graphs
    true = run(algorithm, graphs, "final")
    key, wanted = np.asarray(true.final_key), np.asarray(true.final_pred)
    pred, reached = np.asarray(pred), wanted >= 0
    nodes = np.arange(size)
    pointers = np.where(pred >= 0, pred, nodes)  # without a predecessor: itself
    paths = follow(algorithm, graphs, pointers)
    worse = worse_predecessors(algorithm, paths, pointers, key, wanted)
    return {
        f"other_{size}": float(np.mean((pred != wanted)[reached])),
        f"worse_{size}": float(np.mean(worse[reached])),
    }


def learn(algorithm: Algorithm, num_graphs: int, terms, seed: int, truth=None) -> dict:
    """Learn one step by search; return a row of the table."""
    truth = target_step(algorithm) if truth is None else truth
    try:
        answers = training_answers(algorithm, num_graphs, seed)
        began = time.perf_counter()
        found = learn_step(answers, terms)
    except UserError as error:
        return {"step": f"none ({error})"[:200], "exact": False}
    seconds = time.perf_counter() - began
    row = {"step": as_text(found.step), "smaller_is_better": found.smaller_is_better}
    row |= {"exact": is_exact(found.step, found.smaller_is_better, algorithm, truth)}
    row |= {"num_tried": found.num_tried, "seconds": round(seconds, 3)}
    return row | try_to_score(found.step, found.smaller_is_better, algorithm)


def distractors(done):
    for target in NEEDED:
        for num_graphs in (100, 1_000, 15_000):
            for count in DISTRACTORS:
                for seed in range(SEEDS):
                    at = {"target": target, "distractors": count, "num_graphs": num_graphs}
                    if done(**at, seed=seed):
                        continue
                    terms = draw_terms(target, count, seed)
                    row = learn(get_algorithm(target), num_graphs, terms, seed)
                    yield {**at, "seed": seed, **row}


def few(done):
    for target in NEEDED:
        for num_graphs in (1, 3, 10, 30):
            for seed in range(SEEDS):
                at = {"target": target, "distractors": 60, "num_graphs": num_graphs, "seed": seed}
                if not done(**at):
                    terms = draw_terms(target, 60, seed)
                    yield {**at, **learn(get_algorithm(target), num_graphs, terms, seed)}


def all_terms(done):
    for target in NAMES:
        terms = grammar(1 if target == "dfs" else 2)
        at = {"target": target, "distractors": len(terms), "num_graphs": 1_000, "seed": 0}
        if not done(**at):
            yield {**at, **learn(get_algorithm(target), 1_000, terms, 0)}


def unseen(done):
    for algorithm, step in unseen_relaxations(seed=0, count=20):
        at = {"target": algorithm.name, "distractors": len(grammar(2)), "num_graphs": 1_000}
        if not done(**at, seed=0):
            row = learn(algorithm, 1_000, grammar(2), 0, step)
            yield {**at, "seed": 0, "truth": as_text(step), **row}


def gradient(done):
    for target in NEEDED:
        for count in DISTRACTORS:
            at = {"target": target, "distractors": count, "num_graphs": 1_000}
            if done(**at, seed=0):
                continue
            algorithm = get_algorithm(target)
            equations, terms = [], []
            for seed in range(SEEDS):
                equations.append(fixed_point_equations(training_answers(algorithm, 1_000, seed)))
                terms.append(draw_terms(target, count, seed, own=False))
            for seed, step in enumerate(fit_by_gradient(equations, terms)):
                smaller = algorithm.smaller_is_better  # given here, learned by the search
                row = {
                    "step": as_text(step)[:200],
                    "exact": is_exact(step, smaller, algorithm, target_step(algorithm)),
                }
                yield {**at, "seed": seed, **row, **try_to_score(step, smaller, algorithm)}


def mlp(done):
    for target in NEEDED:
        at = {"target": target, "distractors": 0, "num_graphs": 1_000}
        if done(**at, seed=0):
            continue
        algorithm = get_algorithm(target)
        answers = [training_answers(algorithm, 1_000, seed) for seed in range(SEEDS)]
        for seed, step in enumerate(fit_perceptrons(answers, algorithm.smaller_is_better)):
            row = {"step": "perceptron", "exact": False}
            for size in PERCEPTRON_TEST:
                inputs = collect_answers(algorithm, test_set(size).graphs)
                preds = [
                    execute_step(step, algorithm.smaller_is_better, inputs[at : at + 10])[1]
                    for at in range(0, len(inputs), 10)
                ]
                row |= compare(algorithm, size, np.concatenate(preds))
            yield {**at, "seed": seed, **row}


PARTS = {part.__name__: part for part in (distractors, few, all_terms, unseen, gradient, mlp)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", nargs="+", choices=PARTS)
    parser.add_argument("--out", type=Path, default=OUT)
    arguments = parser.parse_args()
    rows = pandas.read_csv(arguments.out).to_dict("records") if arguments.out.exists() else []
    for part in arguments.part:
        known = {tuple(row[key] for key in KEYS) for row in rows}

        def done(part=part, known=known, **at) -> bool:
            return (part, *(at[key] for key in KEYS[1:])) in known

        for count, row in enumerate(PARTS[part](done)):
            rows.append({"part": part, **row})
            if count % 10 == 9:  # controls yield ten seeds at once
                pandas.DataFrame(rows).to_csv(arguments.out, index=False)
            print(*(str(value)[:60] for value in rows[-1].values()), flush=True)
        pandas.DataFrame(rows).to_csv(arguments.out, index=False)
    print(f"wrote {arguments.out}")


if __name__ == "__main__":
    main()
