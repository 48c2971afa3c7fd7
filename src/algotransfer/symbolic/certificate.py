"""`certify`: prove that a step is that of its target on graphs of every size."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from algotransfer.algorithms import get_algorithm
from algotransfer.errors import UserError
from algotransfer.files import write_atomically
from algotransfer.symbolic.exact import Counterexample, find_counterexample
from algotransfer.symbolic.expressions import to_json
from algotransfer.symbolic.program import StepProgram
from algotransfer.symbolic.proofs import (
    STATEMENTS,
    Claim,
    Domain,
    find_scale,
    prove_equal,
    prove_infinity,
    prove_laws,
    target_step,
)
from algotransfer.symbolic.rounding import Row, rounding_table

FORMAT = "algotransfer certificate 1"
TRAINING_WEIGHTS = (0.2, 1.0)
LARGEST_WEIGHT = 1e30


@dataclass(frozen=True)
class Certificate:
    """The result of `certify`.

    **Arguments:**

    - `certified`: whether executions are those of the target on every graph.
    - `reason`: why, or why not.
    - `scale`: factor of all keys.
    - `claims`: what was proven, and what was not.
    - `rounding`: differences between candidates from which on float32 keeps pointers exact, if
        certified.
    - `counterexample`: a graph with another answer, if one was found.
    """

    program: StepProgram
    certified: bool
    reason: str
    scale: Fraction
    claims: list[Claim]
    weights: tuple[float, float]
    rounding: list[Row]
    counterexample: Counterexample | None

    def to_json(self) -> dict[str, Any]:
        """Return the content of a certificate file."""
        algorithm = get_algorithm(self.program.target)
        domain = Domain.of(algorithm)
        example = self.counterexample
        return {
            "format": FORMAT,
            "certified": self.certified,
            "reason": self.reason,
            "program": self.program.to_json(),
            "target": {
                "step": to_json(target_step(algorithm)),
                "framework": algorithm.framework.name,
                "smaller_is_better": domain.smaller_is_better,
                "source_key": str(domain.source_key),
                "unreached_key": str(domain.unreached_key),
                "weights": [str(end) for end in domain.weights],
            },
            "scale": str(self.scale),
            "proven": [claim.name for claim in self.claims if claim.proven],
            "refuted": {claim.name: claim.refuted_by for claim in self.claims if not claim.proven},
            "rounding": {
                "weights": list(self.weights),
                "rows": [row._asdict() for row in self.rounding],
            },
            "counterexample": None if example is None else example.to_json(),
        }

    def save(self, path: str | Path) -> None:
        """Write the certificate as JSON."""
        write_atomically(path, (json.dumps(self.to_json(), indent=2) + "\n").encode())


def certify(program: StepProgram, weights: tuple[float, float] = TRAINING_WEIGHTS) -> Certificate:
    """Prove that a program gives the answers of its target on all graphs, or say why not.

    **Arguments:**

    - `weights`: the interval of weights for which rounding errors are bounded; everything else is
        proven for all weights that the target takes.
    """
    algorithm = get_algorithm(program.target)
    domain, target = Domain.of(algorithm), target_step(algorithm)
    low, high = weights
    inside = domain.weights[0] <= low and high <= min(domain.weights[1], LARGEST_WEIGHT)
    if not (0 < low <= high and inside):
        raise UserError(
            f"weights from {low} to {high}; expected 0 < low <= high, inside of what "
            f"{program.target} takes ({domain.weights[0]:g} to {domain.weights[1]:g}) and at most "
            f"{LARGEST_WEIGHT:g}"
        )
    scale = find_scale(program.step, target, domain)
    claims = [
        *prove_laws(program.step, domain, program.smaller_is_better),
        Claim("direction", program.smaller_is_better == domain.smaller_is_better, {}),
        prove_equal(program.step, target, domain, scale),
    ]
    if domain.source_key == float("inf"):
        claims.append(prove_infinity(program.step, target, domain, scale))
    proven = {claim.name for claim in claims if claim.proven}
    reason = _refusal(program, claims)
    example, rounding = None, []
    if reason is None:
        rounding = rounding_table(program.step, domain.source_key, weights)
        if not {"monotone", "no gain"} <= proven and any(row.gap != 0 for row in rounding):
            rounding = []  # rounding changes the order of visits, and so any predecessor
    else:
        example = find_counterexample(program, target, algorithm.framework.name, domain)
    return Certificate(
        program=program,
        certified=reason is None,
        reason=reason or _confirmation(program, scale),
        scale=scale,
        claims=claims,
        weights=weights,
        rounding=rounding,
        counterexample=example,
    )


def _refusal(program: StepProgram, claims: list[Claim]) -> str | None:
    """Return why a program cannot be certified, or None."""
    refuted = {claim.name: claim.refuted_by for claim in claims if not claim.proven}
    for name in ("direction", "defined", "closed", "equal", "infinity"):
        if name in refuted:
            values = ", ".join(f"{k} = {v}" for k, v in refuted[name].items())
            return f"not proven: {STATEMENTS[name]}" + (f" ({values})" if values else "")
    if program.replace_if == "not worse" and "strict" in refuted:
        return "equal candidates replace a key, and candidates may equal the key they come from"
    return None


def _confirmation(program: StepProgram, scale: Fraction) -> str:
    keys = "" if scale == 1 else f", with all keys times {float(scale):.9g}"
    if program.replace_if == "not worse":
        kept = f"the keys of {program.target} and equally good predecessors"
    else:
        kept = f"the keys and predecessors of {program.target}"
    return f"{kept} on every graph, in exact arithmetic{keys}"
