"""Certify all learned steps, and refuse planted mutants of them.

    python studies/certificates.py --out results/certificates.csv

Rows are the steps of the committed `relax` networks, one per seed, the steps that
`studies/learned_steps.py` has learned with 60 distractors, and mutants of the steps of four
targets. Every certificate is checked by `check_certificate.py`, which shares no code with
`certify`.
"""

from __future__ import annotations

import argparse
import ast
import json
import time
from collections.abc import Iterator
from pathlib import Path

import pandas

from algotransfer.algorithms import get_algorithm
from algotransfer.symbolic import StepProgram, certify, network_programs
from algotransfer.symbolic.check_certificate import check
from algotransfer.symbolic.expressions import as_text
from algotransfer.symbolic.proofs import target_step
from algotransfer.trained_models import list_models
from algotransfer.training import load_model

TARGETS = ("bellman_ford", "dijkstra", "reliable_par", "reliable_seq")
EXTRA_TERMS = (
    *(1.0, "key", "weight", ("mul", "key", "key"), ("mul", "weight", "weight")),
    *(("mul", "key", "weight"), ("min", "key", "weight"), ("max", "key", "weight")),
)
OPERATIONS = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.Pow: "pow"}


def mutants(target: str) -> Iterator[tuple[str, StepProgram]]:
    """Yield 25 changes of a target's step."""
    algorithm = get_algorithm(target)
    step, smaller = target_step(algorithm), algorithm.smaller_is_better
    operation, key, weight = step
    for factor in (0.99, 1.01):
        yield "coefficient", StepProgram((operation, ("mul", factor, key), weight), smaller, target)
        changed = (operation, key, ("mul", factor, weight))
        yield "coefficient", StepProgram(changed, smaller, target)
    for wrong in ((operation, key, ("mul", -1.0, weight)), (operation, ("mul", -1.0, key), weight)):
        yield "sign", StepProgram(wrong, smaller, target)
    for size in (1e-3, 1e-5):
        for term in EXTRA_TERMS:
            yield "extra term", StepProgram(("add", step, ("mul", size, term)), smaller, target)
    yield "extra term", StepProgram(("sub", step, 1e-3), smaller, target)
    yield "direction", StepProgram(step, not smaller, target)
    yield "tie rule", StepProgram(step, smaller, target, "not worse")


def parse(text: str):
    """Inverse of `as_text`."""

    def convert(node):
        if isinstance(node, ast.BinOp):
            return (OPERATIONS[type(node.op)], convert(node.left), convert(node.right))
        if isinstance(node, ast.Call):
            return (node.func.id, *map(convert, node.args))
        return float(node.value) if isinstance(node, ast.Constant) else node.id

    return convert(ast.parse(text, mode="eval").body)


def programs(learned: Path) -> Iterator[tuple[str, str, object, StepProgram]]:
    """Yield all programs with their kind, name and seed."""
    for model in list_models():
        if model.experiment.model == "relax":
            for seed, program in network_programs(load_model(model.path)).items():
                yield "network", model.name, seed, program
    table = pandas.read_csv(learned)
    chosen = (table["part"] == "distractors") & (table["distractors"] == 60)
    for row in table[chosen & (table["num_graphs"] == 1_000)].to_dict("records"):
        program = StepProgram(parse(row["step"]), row["smaller_is_better"], row["target"])
        yield "learned", f"learned-{row['target']}", row["seed"], program
    for target in TARGETS:
        for number, (kind, program) in enumerate(mutants(target)):
            yield "mutant", f"{target}: {kind}", number, program


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--learned", type=Path, default=Path("results/learned-steps.csv"))
    parser.add_argument("--out", type=Path, default=Path("results/certificates.csv"))
    arguments = parser.parse_args()
    rows = []
    for kind, name, seed, program in programs(arguments.learned):
        began = time.perf_counter()
        certificate = certify(program)
        middle = time.perf_counter()
        wrong = check(json.loads(json.dumps(certificate.to_json())))
        rows.append(
            {
                "kind": kind,
                "name": name,
                "seed": seed,
                "step": as_text(program.step),
                "certified": certificate.certified,
                "reason": certificate.reason,
                "counterexample": certificate.counterexample is not None,
                "checker_agrees": not wrong,
                "seconds": round(middle - began, 2),
                "check_seconds": round(time.perf_counter() - middle, 2),
            }
        )
        print(name, seed, certificate.certified, certificate.reason, *wrong, flush=True)
    table = pandas.DataFrame(rows)
    table.to_csv(arguments.out, index=False)
    counts = ["certified", "counterexample", "checker_agrees"]
    print(table.groupby("kind")[counts].agg(["sum", "size"]).to_string())
    print(f"wrote {arguments.out}")


if __name__ == "__main__":
    main()
